//! A session that the server keeps: how large it is, and how many of them a cache holds.

use reprise_model::{ClientAuthentication, Observation};

use crate::series::MeasuredCase;

/// A session as OpenSSL writes it into a cache, without a name and a client certificate: ID, secret, times, context.
const BARE: usize = 150;

/// What one session takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredSession {
    /// Bytes of the client's certificate, which stands in it; 0 for none.
    pub(super) certificate: usize,
}

impl StoredSession {
    /// Of a client with this certificate, where the server takes one.
    pub(crate) fn of(case: &MeasuredCase<'_>, certificate: Option<usize>) -> Self {
        let mut facts = case.observations.iter().filter_map(Observation::facts);
        let is_sent = facts.any(|facts| facts.client_authentication == ClientAuthentication::Sent);
        Self { certificate: certificate.filter(|_| is_sent).unwrap_or_default() }
    }

    fn bytes(self) -> usize {
        BARE + self.certificate
    }

    /// How many a megabyte of nginx's shared cache holds: a slab of 256 pages, three of which are its own; chunks of powers of two up to
    /// half a page, and whole pages above; beside each session a node of 128 bytes.
    fn in_a_megabyte_of_nginx(self) -> usize {
        const PAGE: usize = 4096;
        const PAGES: usize = 253;
        let chunk = match self.bytes() {
            bytes if bytes > PAGE / 2 => bytes.next_multiple_of(PAGE),
            bytes => bytes.next_power_of_two(),
        };
        PAGES * PAGE / (chunk + 128)
    }

    /// "A session takes about 4.1 kB here, …: 1 MB of nginx's shared cache holds about 240".
    pub(crate) fn size(self) -> String {
        let of_certificate = match self.certificate {
            0 => String::new(),
            bytes => format!(", {} of it the client's certificate", kilobytes(bytes)),
        };
        let held = self.in_a_megabyte_of_nginx() / 10 * 10;
        let bytes = kilobytes(self.bytes());
        format!("A session takes about {bytes} here{of_certificate}: 1 MB of nginx's shared cache holds about {held}")
    }
}

fn kilobytes(bytes: usize) -> String {
    format!("{:.1} kB", bytes as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of nginx 1.22: `shared:SSL:1m` keeps a session while 220 others are made, and not while 260 are, where each has a certificate of
    /// 3.9 kB.
    #[test]
    fn a_client_certificate_makes_a_cache_small() {
        let held = |certificate| StoredSession { certificate }.in_a_megabyte_of_nginx();
        assert!((220..260).contains(&held(3_900)), "{}", held(3_900));
        assert!((2_500..4_000).contains(&held(0)), "{}", held(0));
        assert!(StoredSession { certificate: 3_824 }.size().contains("4.0 kB here, 3.8 kB of it the client's certificate"));
    }
}
