//! The server's own account, held against ours.

use std::collections::HashMap;

use reprise_model::document::MeasureDocument;
use reprise_model::{Kind, Version};
use reprise_servers::{Account, RealServer};

use super::DEADLINE;

/// Fetches the server's account of every connection that the document claims, and holds each against the other.
#[track_caller]
pub fn assert_account_for(server: &mut (impl RealServer + ?Sized), document: &MeasureDocument, case: &str) {
    let all = document.all_connections;
    assert_eq!(all.failed, 0, "{case}: {:?}", document.failures);
    let claimed = [all.full, all.id, all.ticket, all.psk, all.early].iter().sum::<u64>();
    let accounts = server.accounts_when(usize::try_from(claimed).unwrap(), DEADLINE).unwrap();
    assert_agree(document, &accounts, case);
}

/// Every sample is what the server says of the connection from that port, and all connections together are as many as
/// the server saw, resumed or not: primings are no samples, and are still told.
#[track_caller]
pub fn assert_agree(document: &MeasureDocument, accounts: &[Account], case: &str) {
    // A port may be given out again: each account is of one connection from it.
    let mut by_port: HashMap<u16, Vec<&Account>> = HashMap::new();
    for account in accounts {
        by_port.entry(account.client_port).or_default().push(account);
    }
    for sample in &document.samples {
        let from_there = by_port.entry(sample.local_port).or_default();
        let is_it = |account: &&Account| {
            account.resumed == (sample.kind != Kind::Full) && account.version == protocol(sample.asked.tls)
        };
        let place = from_there.iter().position(is_it);
        let place = place.unwrap_or_else(|| panic!("{case}: {sample:?}, and the server knows {from_there:?}"));
        from_there.remove(place);
    }
    let all = document.all_connections;
    let resumed = accounts.iter().filter(|account| account.resumed).count() as u64;
    let without_certificate = all.id + all.ticket + all.psk + all.early;
    assert_eq!((all.full, without_certificate), (accounts.len() as u64 - resumed, resumed), "{case}: in all");
}

/// The version as OpenSSL calls it.
fn protocol(version: Version) -> &'static str {
    match version {
        Version::Tls12 => "TLSv1.2",
        Version::Tls13 => "TLSv1.3",
    }
}
