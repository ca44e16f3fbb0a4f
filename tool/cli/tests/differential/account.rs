//! What a client says of a handshake, in words that all of them share.

use std::fmt;

/// What came of the two connections.
pub(crate) struct Visits {
    pub(crate) first: Visit,
    /// `None` where the first failed, or left nothing to offer.
    pub(crate) second: Option<Visit>,
}

/// What came of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    Refused,
    Done(Account),
}

/// What a client says of a handshake that was completed; what it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) resumed: bool,
    /// `1.2`, `1.3`.
    pub(crate) version: Option<String>,
    /// IANA's name.
    pub(crate) cipher: Option<String>,
    /// IANA's name, or `none`.
    pub(crate) group: Option<String>,
    /// The protocol, or `none`.
    pub(crate) alpn: Option<String>,
    /// `yes` or `no`: RFC 7627, under TLS 1.2 alone.
    pub(crate) extended_master_secret: Option<String>,
    /// `yes` or `no`.
    pub(crate) certificate_requested: Option<String>,
    /// `yes` or `no`: whether early data was accepted, where it was sent.
    pub(crate) early_data_accepted: Option<String>,
}

/// Something on which two accounts are not one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Whether it is on the second connection.
    pub(crate) second: bool,
    pub(crate) what: &'static str,
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, ours, theirs, .. } = self;
        let which = if self.second { "second" } else { "first" };
        write!(f, "on the {which} connection {what} is {ours} to us and {theirs} to them")
    }
}

impl Visits {
    pub(crate) fn differences(&self, theirs: &Self) -> Vec<Difference> {
        let mut differences = differences_on(false, &self.first, &theirs.first);
        if let (Some(ours), Some(theirs)) = (&self.second, &theirs.second) {
            differences.extend(differences_on(true, ours, theirs));
        } else {
            // Who has nothing to offer cannot have resumed: that much can be compared.
            let resumed = |visits: &Self| matches!(&visits.second, Some(Visit::Done(Account { resumed: true, .. })));
            differences.extend(unequal(true, "resumption", &yes(resumed(self)), &yes(resumed(theirs))));
        }
        differences
    }
}

fn differences_on(second: bool, ours: &Visit, theirs: &Visit) -> Vec<Difference> {
    let (ours, theirs) = match (ours, theirs) {
        (Visit::Done(ours), Visit::Done(theirs)) => (ours, theirs),
        _ => {
            let word = |visit: &Visit| if *visit == Visit::Refused { "refused".to_owned() } else { "completed".to_owned() };
            return unequal(second, "the handshake", &word(ours), &word(theirs)).into_iter().collect();
        }
    };
    let said = [
        ("resumption", &Some(yes(ours.resumed)), &Some(yes(theirs.resumed))),
        ("the version", &ours.version, &theirs.version),
        ("the suite", &ours.cipher, &theirs.cipher),
        ("the group", &ours.group, &theirs.group),
        ("the protocol", &ours.alpn, &theirs.alpn),
        ("extended_master_secret", &ours.extended_master_secret, &theirs.extended_master_secret),
        ("whether a certificate was asked for", &ours.certificate_requested, &theirs.certificate_requested),
        ("whether early data was accepted", &ours.early_data_accepted, &theirs.early_data_accepted),
    ];
    let both = said.into_iter().filter_map(|(what, ours, theirs)| Some((what, ours.as_ref()?, theirs.as_ref()?)));
    both.filter_map(|(what, ours, theirs)| unequal(second, what, ours, theirs)).collect()
}

fn unequal(second: bool, what: &'static str, ours: &str, theirs: &str) -> Option<Difference> {
    (ours != theirs).then(|| Difference { second, what, ours: ours.to_owned(), theirs: theirs.to_owned() })
}

/// `yes` or `no`.
pub(crate) fn yes(is_so: bool) -> String {
    if is_so { "yes".to_owned() } else { "no".to_owned() }
}
