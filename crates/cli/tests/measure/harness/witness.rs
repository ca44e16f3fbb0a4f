//! The server's own account, held against ours (CONTRACT: witnesses in tests).

use std::collections::HashMap;

use reprise_lab::servers::{Account, RealServer};
use reprise_trace::document::MeasureDocument;
use reprise_trace::{Kind, Version};

use super::DEADLINE;

/// Fetches the server's account of every connection that the document claims, and holds each against the other.
#[track_caller]
pub(crate) fn assert_account_for(server: &mut (impl RealServer + ?Sized), document: &MeasureDocument, case: &str) {
    let all = document.all_connections;
    assert_eq!(all.failed, 0, "{case}: {:?}", document.failures);
    let claimed = [all.full, all.id, all.ticket, all.psk, all.early].iter().sum::<u64>();
    let accounts = server.accounts_when(usize::try_from(claimed).unwrap(), DEADLINE).unwrap();
    assert_agree(document, &accounts, case);
}

/// Every sample is what the server says of the connection from that port, and all connections together are as many as
/// the server saw, resumed or not: primings are no samples, and are still told.
#[track_caller]
pub(crate) fn assert_agree(document: &MeasureDocument, accounts: &[Account], case: &str) {
    // Loopback ports are given out in turn, and a test makes far fewer connections than there are.
    let by_port: HashMap<u16, &Account> = accounts.iter().map(|account| (account.client_port, account)).collect();
    assert_eq!(by_port.len(), accounts.len(), "{case}: a port was used twice");
    for sample in &document.samples {
        let account = by_port.get(&sample.local_port);
        let account = account.unwrap_or_else(|| panic!("{case}: the server knows nothing of {sample:?}"));
        assert_eq!(sample.kind != Kind::Full, account.resumed, "{case}: {sample:?}, and {account:?}");
        assert_eq!(protocol(sample.asked.tls), account.version, "{case}: {sample:?}");
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
