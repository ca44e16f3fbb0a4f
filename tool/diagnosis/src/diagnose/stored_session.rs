//! Sessions that the server keeps: how large one is, how many a cache holds, and after how many others one was offered.

use reprise_model::document::Finding;
use reprise_model::{Asked, ClientAuthentication, Kind, Observation};

use super::examined::{Examined, mechanism};
use crate::causes::cache_too_small;
use crate::figures::connections;
use crate::series::MeasuredCase;

/// A session as OpenSSL writes it into a cache, without a name and a client certificate: ID, secret, times, context.
const BARE: usize = 150;

/// What one session takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredSession {
    /// Bytes of the client's certificate, which stands in it; 0 for none.
    certificate: usize,
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
    fn size(self) -> String {
        let of_certificate = match self.certificate {
            0 => String::new(),
            bytes => format!(", {} of it the client's certificate", kilobytes(bytes)),
        };
        let held = self.in_a_megabyte_of_nginx() / 10 * 10;
        let bytes = kilobytes(self.bytes());
        format!("A session takes about {bytes} here{of_certificate}: 1 MB of nginx's shared cache holds about {held}")
    }

    /// The same finding with how large a session is, where it is about a cache that is too small.
    pub(super) fn sizing(self, finding: Finding) -> Finding {
        if !cache_too_small::is_its(&finding) {
            return finding;
        }
        let evidence: Vec<String> = std::iter::once(self.size()).chain(finding.evidence.iter().cloned()).collect();
        finding.because(evidence)
    }
}

fn kilobytes(bytes: usize) -> String {
    format!("{:.1} kB", bytes as f64 / 1e3)
}

/// Of each mechanism whose sessions resume from a cache, after how many connections that was tried: a few say nothing of a busy hour.
pub(super) fn sentences(examined: &Examined<'_>) -> Vec<String> {
    let runs = examined.runs("resume").map(|run| run.asked).filter(|asked| is_stored(examined, *asked));
    let untried =
        runs.filter(|asked| examined.always_resumes(*asked) && examined.runs("fill").all(|run| run.asked != *asked));
    let untried: Vec<Asked> = untried.collect();
    let offers = || untried.iter().filter_map(|asked| examined.case.judgements.iter().find(|it| it.asked == *asked));
    let farthest = offers().flat_map(|judgement| judgement.offers().filter_map(Observation::distance)).max();
    let Some(between) = farthest.map(|distance| u64::from(distance.saturating_sub(1))) else { return Vec::new() };
    let named: Vec<String> = untried.iter().map(|asked| mechanism(*asked)).collect();
    let session = examined.session;
    let size = if session.certificate > 0 { format!(" {}.", session.size()) } else { String::new() };
    vec![format!(
        "{}: the server keeps the session, and it was offered after {} at most.{size} Whether the cache holds more was not tried: --fill N \
         makes N full handshakes in between, as this client makes them",
        named.join(", "),
        connections(between)
    )]
}

/// IDs, and tickets that only name their session.
fn is_stored(examined: &Examined<'_>, asked: Asked) -> bool {
    let seen = examined.runs("resume").filter(|run| run.asked == asked).flat_map(|run| &run.seen);
    let mut tickets = seen.filter_map(|seen| seen.observation.facts()?.tickets.iter().next());
    asked.kind == Kind::Id || tickets.next().is_some_and(|ticket| !ticket.holds_its_session())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS12_ID};

    /// Of nginx 1.22: `shared:SSL:1m` keeps a session while 220 others are made, and not while 260 are, where each has a certificate of
    /// 3.9 kB.
    #[test]
    fn a_client_certificate_makes_a_cache_small() {
        let held = |certificate| StoredSession { certificate }.in_a_megabyte_of_nginx();
        assert!((220..260).contains(&held(3_900)), "{}", held(3_900));
        assert!((2_500..4_000).contains(&held(0)), "{}", held(0));
        assert!(StoredSession { certificate: 3_824 }.size().contains("4.0 kB here, 3.8 kB of it the client's certificate"));
    }

    #[test]
    fn what_was_not_tried_is_said() {
        let of = |scene: Scene| scene.with_examined(sentences);
        let judged = || Scene::resuming(TLS12_ID).judged_steady(TLS12_ID);
        let said = of(judged());
        assert!(
            said.iter().any(|it| it.contains("by session ID: the server keeps the session") && it.contains("--fill N")),
            "{said:?}"
        );
        let filled = [Kind::Full, Kind::Full, Kind::Full, Kind::Id];
        assert_eq!(of(judged().run("fill", TLS12_ID, &filled)), [""; 0]);
        assert_eq!(of(Scene::refusing(TLS12_ID).judged_steady(TLS12_ID)), [""; 0]);
    }
}
