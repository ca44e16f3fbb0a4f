//! What was asked for against what was negotiated.

use reprise_model::{Kind, PskMode, Version};
use reprise_stack::{KeptBy, StackAccount};
use reprise_wire::CipherSuite;

use crate::case::Case;
use crate::failed::{Failed, FailureKind};
use crate::witness::WireFacts;

/// Holds what was asked for against the wire, and what the libraries say against it as well.
///
/// # Errors
/// What differs.
pub fn check(case: Case, seen: WireFacts, accounts: [Option<StackAccount>; 2], resumes: bool) -> Result<(), Failed> {
    let other = |what: &str, seen: String, asked: String| {
        Err(Failed::because(format!("{what} {seen} was negotiated where only {asked} was allowed")))
    };
    if seen.version != case.version {
        return other("the version", seen.version.to_string(), case.version.to_string());
    }
    if seen.suite != case.suite() {
        // BoringSSL prefers it then, and has no call that chooses the suites of TLS 1.3.
        let is_preferred = seen.suite == CipherSuite::TLS_CHACHA20_POLY1305_SHA256;
        if is_preferred && case.bulk.is_some_and(|bulk| !bulk.hardware) {
            return Err(Failed::unsupported(format!("without the AES instructions of this CPU it takes {}", seen.suite)));
        }
        return other("the suite", seen.suite.to_string(), case.suite().to_string());
    }
    if let Some(group) = seen.group.filter(|group| *group != case.group()) {
        return other("the group", group.to_string(), case.group_name());
    }
    match (case.retried, seen.retried) {
        (true, false) => {
            return Err(Failed::unsupported("the client sends shares of both groups at once: nothing is retried"));
        }
        (false, true) => return Err(Failed::because("a HelloRetryRequest was observed where none was asked for")),
        _ => {}
    }
    if case.hybrid_share && !seen.shares_hybrid {
        return Err(Failed::unsupported("the client sends no key share of X25519MLKEM768 beside the other"));
    }
    if let Some(most) = case.max_fragment {
        check_max_fragment(most, seen)?;
    }
    if seen.kind != Kind::Full && seen.psk_mode != case.psk_mode() {
        let name = |mode: Option<PskMode>| mode.map_or("none", PskMode::name).to_owned();
        return other("the PSK mode", name(seen.psk_mode), name(case.psk_mode()));
    }
    for (side, account) in ["the client", "the server"].into_iter().zip(accounts) {
        let Some(account) = account else { continue };
        let contradicts = |what: &str, said: &dyn std::fmt::Display, seen: &dyn std::fmt::Display| {
            Err(Failed::new(FailureKind::Contradicted, format!("{side} says {what} {said}, the wire {seen}")))
        };
        let was_resumed = seen.kind.is_resumption();
        // An external PSK of TLS 1.3 is a resumption to some libraries, and none to others.
        let may_be_either = seen.kind == Kind::Psk && seen.version == Version::Tls13;
        if let Some(resumed) = account.resumed.filter(|resumed| *resumed != was_resumed && !may_be_either) {
            return contradicts("resumed:", &resumed, &was_resumed);
        }
        let kept_by = match seen.kind {
            Kind::Id => Some(KeptBy::Cache),
            Kind::Ticket | Kind::Early => Some(KeptBy::Ticket),
            _ => None,
        };
        let early = seen.kind == Kind::Early;
        if let Some(said) = account.early_data.filter(|said| *said != early) {
            return contradicts("early data accepted:", &said, &early);
        }
        if let (Some(said), Some(seen)) = (account.resumed_by, kept_by)
            && said != seen
        {
            return contradicts("resumed by", &said, &seen);
        }
        if account.suite != seen.suite.0 {
            return contradicts("suite", &format!("{:#06x}", account.suite), &seen.suite);
        }
        // A resumed TLS 1.2 connection has no group on the wire; libraries may remember the session's.
        if let (Some(said), Some(seen)) = (account.group, seen.group)
            && said != seen.0
        {
            return contradicts("group", &reprise_wire::NamedGroup(said), &seen);
        }
        if side == "the server"
            && !resumes
            && let Some(certificate) = account.client_certificate.filter(|it| *it != case.mutual)
        {
            return contradicts("client certificate:", &certificate, &case.mutual);
        }
    }
    Ok(())
}

/// Whether the client has asked for such records. Where the ServerHello is in the clear, it has no other limit; a server whose own buffers
/// are as small may say nothing (BearSSL's does not), and keeps to it: records of data are looked at.
fn check_max_fragment(most: u16, seen: WireFacts) -> Result<(), Failed> {
    let said = [("ClientHello", seen.client_max_fragment), ("ServerHello", seen.server_max_fragment.or(Some(most)))];
    let other = said.into_iter().find(|(_, said)| *said != Some(most));
    other.map_or(Ok(()), |(hello, said)| {
        let said = said.map_or_else(|| "no limit".to_owned(), |said| format!("a limit of {said} bytes"));
        Err(Failed::because(format!("the {hello} has {said} where records of at most {most} were asked for")))
    })
}
