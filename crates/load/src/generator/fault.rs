//! Why a connection did not complete, by name: small enough to be counted without an allocation.

use std::collections::BTreeMap;
use std::io;

use reprise_wire::AlertDescription;

/// What went wrong with one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Nothing listens there.
    ConnectionRefused,
    /// The connection could not be made for another reason.
    ConnectFailed,
    /// No SYN-ACK within the timeout.
    ConnectTimeout,
    /// No local port is left for this target (EADDRNOTAVAIL).
    PortsExhausted,
    /// The process may open no more descriptors (EMFILE, ENFILE).
    DescriptorLimit,
    /// The handshake or the response took longer than the timeout.
    Timeout,
    /// The server reset the connection.
    ConnectionReset,
    /// The server closed before it was done.
    ClosedEarly,
    /// What came is no TLS.
    NotTls,
    /// A message cannot be parsed.
    Malformed,
    /// A record does not decrypt.
    BadRecordMac,
    /// The server's Finished does not verify.
    BadFinished,
    /// The server sent what it may not.
    PeerMisbehaved,
    /// The server chose what is not spoken here.
    Unspoken,
    /// The server wants another group first. Those that follow begin with it, if it is among the groups.
    HelloRetryRequest,
    /// The server asks for a certificate that it was not given.
    CertificateRequired,
    /// The server's certificate does not verify.
    BadCertificate,
    /// A message or record is longer than is held here.
    TooLarge,
    /// What came is no HTTP response.
    BadResponse,
    /// The handshake was done at our side, and the server never showed that it was at its own.
    Unconfirmed,
    /// The crypto library refused.
    Crypto,
    /// It was to begin before the end, and no connection was free for it.
    NotStarted,
    /// Ctrl-C or the end of the run cut it off.
    CutOff,
    /// The server sent a fatal alert.
    Alert(AlertDescription),
}

/// How many connections failed, by fault.
#[derive(Clone, Debug)]
pub struct FaultCounts {
    named: [u64; NAMED.len()],
    alerts: [u64; 256],
}

impl Fault {
    /// The name in documents: that of the probe's failure where both know it.
    pub fn name(self) -> String {
        match NAMED.iter().find(|(fault, _)| *fault == self) {
            Some((_, name)) => (*name).to_owned(),
            None => match self {
                Self::Alert(description) => format!("alert_{description}"),
                _ => "unknown".to_owned(),
            },
        }
    }

    /// Whether the server, or the way there, is to blame; not this machine's limits, nor the end of the run.
    pub(crate) fn is_the_targets(self) -> bool {
        !matches!(self, Self::PortsExhausted | Self::DescriptorLimit | Self::NotStarted | Self::CutOff | Self::Crypto)
    }

    /// What a failure to begin a connection is.
    pub(crate) fn of_connecting(error: &io::Error) -> Self {
        use nix::errno::Errno;
        match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EADDRNOTAVAIL) => Self::PortsExhausted,
            Some(Errno::EMFILE | Errno::ENFILE) => Self::DescriptorLimit,
            Some(Errno::ECONNREFUSED) => Self::ConnectionRefused,
            Some(Errno::ETIMEDOUT) => Self::ConnectTimeout,
            _ => Self::ConnectFailed,
        }
    }

    /// What a failure to read or write is.
    pub(crate) fn of_transfer(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::ConnectionRefused,
            io::ErrorKind::TimedOut => Self::Timeout,
            _ => Self::ConnectionReset,
        }
    }
}

impl From<reprise_wire::Error> for Fault {
    fn from(error: reprise_wire::Error) -> Self {
        match error {
            reprise_wire::Error::UnknownContentType(_) | reprise_wire::Error::UnknownRecordVersion(_) => Self::NotTls,
            reprise_wire::Error::Oversized => Self::TooLarge,
            _ => Self::Malformed,
        }
    }
}

impl FaultCounts {
    /// One more.
    pub fn add(&mut self, fault: Fault) {
        self.add_many(fault, 1);
    }

    /// So many more.
    pub(crate) fn add_many(&mut self, fault: Fault, more: u64) {
        let place = match fault {
            Fault::Alert(AlertDescription(number)) => self.alerts.get_mut(usize::from(number)),
            named => NAMED.iter().position(|(known, _)| *known == named).and_then(|place| self.named.get_mut(place)),
        };
        if let Some(count) = place {
            *count += more;
        }
    }

    /// How many there were of this one.
    pub fn of(&self, fault: Fault) -> u64 {
        match fault {
            Fault::Alert(AlertDescription(number)) => self.alerts.get(usize::from(number)).copied().unwrap_or_default(),
            named => {
                let place = NAMED.iter().position(|(known, _)| *known == named);
                place.and_then(|place| self.named.get(place)).copied().unwrap_or_default()
            }
        }
    }

    /// Those that occurred.
    pub fn by_name(&self) -> BTreeMap<String, u64> {
        let named = NAMED.iter().zip(&self.named).map(|((_, name), count)| ((*name).to_owned(), *count));
        let alerts =
            (0..=u8::MAX).zip(&self.alerts).map(|(number, count)| (Fault::Alert(AlertDescription(number)).name(), *count));
        named.chain(alerts).filter(|(_, count)| *count > 0).collect()
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let ours = self.named.iter_mut().chain(&mut self.alerts);
        ours.zip(other.named.iter().chain(&other.alerts)).for_each(|(to, from)| *to += from);
    }
}

impl Default for FaultCounts {
    fn default() -> Self {
        Self { named: [0; NAMED.len()], alerts: [0; 256] }
    }
}

const NAMED: [(Fault, &str); 23] = [
    (Fault::ConnectionRefused, "connection_refused"),
    (Fault::ConnectFailed, "connect_failed"),
    (Fault::ConnectTimeout, "connect_timeout"),
    (Fault::PortsExhausted, "ports_exhausted"),
    (Fault::DescriptorLimit, "descriptor_limit"),
    (Fault::Timeout, "timeout"),
    (Fault::ConnectionReset, "connection_reset"),
    (Fault::ClosedEarly, "closed_early"),
    (Fault::NotTls, "not_tls"),
    (Fault::Malformed, "malformed"),
    (Fault::BadRecordMac, "bad_record_mac"),
    (Fault::BadFinished, "bad_finished"),
    (Fault::PeerMisbehaved, "peer_misbehaved"),
    (Fault::Unspoken, "unspoken"),
    (Fault::HelloRetryRequest, "hello_retry_request"),
    (Fault::CertificateRequired, "certificate_required"),
    (Fault::BadCertificate, "bad_certificate"),
    (Fault::TooLarge, "too_large"),
    (Fault::BadResponse, "bad_response"),
    (Fault::Unconfirmed, "unconfirmed"),
    (Fault::Crypto, "crypto"),
    (Fault::NotStarted, "not_started"),
    (Fault::CutOff, "cut_off"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_says_what_each_name_means() {
        let guide = include_str!("../../../../docs/guide/5-load.md");
        for (_, name) in NAMED {
            assert!(guide.contains(&format!("| `{name}` |")), "{name}");
        }
    }

    #[test]
    fn every_fault_is_counted_under_its_own_name() {
        let mut counts = FaultCounts::default();
        counts.add(Fault::Timeout);
        counts.add(Fault::Alert(AlertDescription::HANDSHAKE_FAILURE));
        let mut twice = counts.clone();
        twice.merge(&counts);
        let shown: Vec<_> = twice.by_name().into_iter().collect();
        assert_eq!(shown, [("alert_handshake_failure".to_owned(), 2), ("timeout".to_owned(), 2)]);
        assert_eq!(twice.of(Fault::Timeout), 2);
    }
}
