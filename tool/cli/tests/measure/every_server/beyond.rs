//! What TLS 1.3 has beyond resumption as everyone does it. Most of it a server must be told to do.

use std::collections::HashMap;

use reprise_lab::Identity;
use reprise_model::document::{MeasureDocument, Observed};
use reprise_model::{Kind, Version};
use reprise_servers::Account;

use super::COUNT;
use super::column::{NOT_OFFERED, cell};
use super::subjects::Subject;
use reprise_harness::{Lab, assert_account_for};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    /// A ticket, where psk_ke alone is offered.
    PskKe,
    /// An external PSK.
    Psk,
    /// The request as early data.
    Early,
    /// The hybrid group, which many offer by themselves.
    X25519MlKem768,
    /// As many tickets as are asked for (RFC 9149).
    TicketRequest,
}

/// The external PSK that servers are told of, where they can be.
pub(super) const PSK: (&str, &str) = ("lab", "5f0d3c8e1b7a49626c81d2e3f4a5b607");

impl Beyond {
    pub(super) const ALL: [Self; 5] = [Self::PskKe, Self::Psk, Self::Early, Self::X25519MlKem768, Self::TicketRequest];

    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::PskKe => "1.3 `ticket`, psk_ke alone",
            Self::Psk => "1.3 `psk`",
            Self::Early => "1.3 `early`",
            Self::X25519MlKem768 => "X25519MLKEM768",
            Self::TicketRequest => "RFC 9149",
        }
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::PskKe => &["--psk-mode", "psk_ke"],
            Self::Psk => &["--psk-identity", PSK.0, "--psk-key", PSK.1],
            Self::Early => &[],
            Self::X25519MlKem768 => &["--groups", "X25519MLKEM768"],
            Self::TicketRequest => &["--ticket-requests", "5,3"],
        }
    }

    /// Measures a server as it is started for this, or with its cache and its tickets on; holds it against the server's own
    /// account; and says what became of it.
    pub(super) fn measure(self, lab: &Lab, identity: &Identity, subject: &Subject) -> String {
        let told = subject.beyond.iter().find_map(|(beyond, start)| (*beyond == self).then_some(start));
        let usual = subject.settings.last().map(|setting| &setting.start);
        let Some(start) = told.or(usual.filter(|_| self != Self::Psk)) else { return NOT_OFFERED.to_owned() };
        let case = format!("{} {self:?}", subject.name);
        let mut server = start(identity);
        let outcome = lab.measure(server.address()).count(COUNT).args(["--tls", "1.3"]).args(self.flags()).run();
        if self == Self::X25519MlKem768 && outcome.code == 3 {
            outcome.says(&["alert"]);
            // What it logged may be of the connection on which the program found out why.
            let spoken = server.accounts().unwrap().into_iter().any(|account| account.group.as_deref() == Some(HYBRID));
            assert!(!spoken, "{case}");
            return NOT_OFFERED.to_owned();
        }
        let document = outcome.exits(0).document();
        assert_account_for(&mut *server, &document, &case);
        self.hold_against(&document, &server.accounts().unwrap(), &case);
        self.cell(&document)
    }

    /// What servers tell of besides resumption: nginx and HAProxy of early data that they read before the client's Finished
    /// came, which is most of it; rustls of all; rustls and Go of the group.
    fn hold_against(self, document: &MeasureDocument, accounts: &[Account], case: &str) {
        let by_port: HashMap<u16, &Account> = accounts.iter().map(|account| (account.client_port, account)).collect();
        for sample in &document.samples {
            let account = by_port[&sample.local_port];
            let agrees = account.early_data.is_none_or(|told| told == (sample.kind == Kind::Early));
            assert!(agrees, "{case}: {sample:?}, and {account:?}");
        }
        if self == Self::X25519MlKem768 {
            let told: Vec<&str> = accounts.iter().filter_map(|account| account.group.as_deref()).collect();
            assert!(told.iter().all(|group| *group == HYBRID), "{case}: {told:?}");
        }
    }

    fn cell(self, document: &MeasureDocument) -> String {
        let run = |kind| document.run(Version::Tls13, kind);
        match self {
            Self::PskKe => cell(run(Kind::Ticket)),
            Self::Psk => cell(run(Kind::Psk)),
            Self::Early => cell(run(Kind::Early)),
            Self::X25519MlKem768 => {
                let full = run(Kind::Full).filter(|run| run.observed.group.as_deref() == Some(HYBRID));
                cell(full)
            }
            Self::TicketRequest => requested(&run(Kind::Full).unwrap().observed),
        }
    }
}

/// The server says how many tickets it gives, and gives them; one that says nothing gives its own number.
fn requested(full: &Observed) -> String {
    match full.tickets_promised {
        Some(REQUESTED) if full.tickets_received == u64::from(COUNT) * u64::from(REQUESTED) => "yes".to_owned(),
        Some(promised) => format!("{promised} of {REQUESTED}"),
        None => NOT_OFFERED.to_owned(),
    }
}

/// Tickets that are asked for on a full handshake.
const REQUESTED: u8 = 5;

const HYBRID: &str = "X25519MLKEM768";
