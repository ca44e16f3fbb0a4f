//! Our account of a handshake, held against those of OpenSSL's, GnuTLS's and rustls' clients, each given the same offer to
//! the same server.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod account;
mod combination;
mod gnutls;
mod openssl;
mod ours;
mod reasons;
mod rustls_client;
mod servers;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use account::{Account, Visit, Visits};
use combination::{Combination, combinations};
use reprise_harness::Lab;
use servers::Servers;

/// Makes the two connections of a combination, the second with what the first left behind; `None` if the client cannot make
/// this offer.
type Client = fn(&Lab, &Combination) -> Option<Visits>;

const PEERS: [(&str, Client); 3] =
    [("openssl", openssl::visit), ("gnutls", gnutls::visit), ("rustls", rustls_client::visit)];

#[test]
fn every_client_gives_the_same_account() {
    reprise_servers::require!("nginx", "openssl", "gnutls-serv", "gnutls-cli");
    let lab = Lab::new();
    lab.client("client");
    let servers = Servers::start(&lab);
    let combinations = combinations(&servers);
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(combination) = combinations.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ours = ours::visit(&lab, combination);
                    for (peer, client) in PEERS {
                        if let Some(theirs) = client(&lab, combination) {
                            tally.lock().unwrap().enter(peer, combination, &ours, &theirs);
                        }
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap().judge(combinations.len());
}

/// As many as a small machine has cores: clients of other makes are processes of their own.
const WORKERS: usize = 2;

/// How often one peer's account was ours.
#[derive(Default)]
struct Agreed {
    refused: u32,
    resumed: u32,
    full_alone: u32,
    /// Of the resumed ones: whose early data was accepted, by both accounts.
    early: u32,
}

#[derive(Default)]
struct Tally {
    agreed: BTreeMap<&'static str, Agreed>,
    reasoned: BTreeMap<&'static str, u32>,
    unexplained: Vec<String>,
}

impl Tally {
    fn enter(&mut self, peer: &'static str, combination: &Combination, ours: &Visits, theirs: &Visits) {
        let differences = ours.differences(theirs);
        let mut unexplained = Vec::new();
        for difference in &differences {
            match reasons::reason(peer, combination, difference) {
                Some(reason) => *self.reasoned.entry(reason).or_default() += 1,
                None => unexplained.push(difference.to_string()),
            }
        }
        if differences.is_empty() {
            let agreed = self.agreed.entry(peer).or_default();
            agreed.early += u32::from(accepts_early_data(ours) && accepts_early_data(theirs));
            match (&ours.first, &ours.second) {
                (Visit::Refused, _) => agreed.refused += 1,
                (_, Some(Visit::Done(Account { resumed: true, .. }))) => agreed.resumed += 1,
                _ => agreed.full_alone += 1,
            }
        } else if !unexplained.is_empty() {
            self.unexplained.push(format!("{peer}, {combination}: {}", unexplained.join("; ")));
        }
    }

    fn judge(self, combinations: usize) {
        let mut page =
            format!("\n{combinations} combinations, two connections each by every client that can make the offer\n");
        for (peer, agreed) in &self.agreed {
            let Agreed { refused, resumed, full_alone, early } = agreed;
            let all = refused + resumed + full_alone;
            page += &format!("{peer:<8} the same account {all} times: {resumed} resumed ({early} with early data), ");
            page += &format!("{full_alone} not, {refused} refused\n");
        }
        for (reason, count) in &self.reasoned {
            page += &format!("{count:>4} times: {reason}\n");
        }
        let _ = io::stderr().write_all(page.as_bytes());
        assert!(self.unexplained.is_empty(), "{}", self.unexplained.join("\n"));
        let seen = |agreed: &Agreed| agreed.refused > 0 && agreed.resumed > 0 && agreed.full_alone > 0;
        // gnutls-cli alone does not say what became of early data.
        assert_eq!(self.agreed.values().filter(|agreed| agreed.early > 0).count(), PEERS.len() - 1, "{page}");
        assert!(self.agreed.len() == PEERS.len() && self.agreed.values().all(seen), "{page}");
        // A reason that no longer occurs is no reason.
        for reason in reasons::ALL {
            assert!(self.reasoned.contains_key(reason), "no longer so: {reason}");
        }
    }
}

fn accepts_early_data(visits: &Visits) -> bool {
    let accepted = |account: &Account| account.early_data_accepted.as_deref() == Some("yes");
    matches!(&visits.second, Some(Visit::Done(account)) if accepted(account))
}
