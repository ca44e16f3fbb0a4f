//! `not-offered`: the server gives nothing to resume with, or gives tickets that it never accepts.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};
use reprise_model::{Asked, Kind, Version};

use super::{
    Cause, MeasuredRule, ResponsibleSide, Rule, certificate_renewed, client_psk_mode, context_per_connection,
    default_host_tickets_off, fix, lifetime_invalid, restart_lost_keys, services, session_too_large, shared::MORE_TICKETS,
    unclean_close_evicts, vhost_directives,
};
use crate::figures::connections;
use crate::series::{FEWEST, KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    slug: "not-offered",
    title: "The server offers no resumption, or tickets that it never accepts",
    happens: "\
Resumption is switched off. Under TLS 1.2 the server then gives neither a session ID (RFC 5246 §7.4.1.3) nor a ticket
(RFC 5077 §3.3). Under TLS 1.3 it should send no NewSessionTicket (RFC 9846 §4.7.1), but servers on OpenSSL send short ones
all the same: a ticket that only names a session in a cache which is switched off too, so that none is ever accepted.",
    seen: "\
Under TLS 1.2 the ServerHello has an empty session ID, and no NewSessionTicket follows. Under TLS 1.3 no NewSessionTicket
follows the handshake until a whole response has been read, or each ticket that is offered, at once and unchanged, ends in a
full handshake. Tickets that are accepted sometimes are `hidden-nodes`; session IDs alone that are refused are
`id-never-accepted`; no ticket under TLS 1.3 where TLS 1.2 resumes has remedies of its own (the number of tickets is 0); a client that offers psk_ke alone is given none, which is `client-psk-mode`.",
    confirm: "\
`s_client -reconnect` connects five times more with the session of the first connection, which must say `Reused` each time:

```sh
openssl s_client -connect HOST:443 -tls1_2 -reconnect < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```

Under TLS 1.3 the ticket comes after the handshake, so that a first connection must read before it saves its session:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "\
Every connection pays a full handshake: the server's signature, the certificates on the wire and their verification by the
client, and under TLS 1.2 one round trip more.",
    advice: "Switch on session tickets or a session cache; where the software has no setting for either, let clients keep their connections:",
    fixes: &[
        fix("nginx", "ssl_session_cache shared:SSL:10m;", "in the http block, or in the first server block of the listener"),
        fix(
            "nginx",
            "ssl_session_tickets on;",
            "its default; an off in the http block or the first server block of the listener needs to go",
        ),
        fix("Apache", "SSLSessionCache shmcb:logs/ssl_scache(512000)", "its default is none; needs mod_socache_shmcb"),
        fix("Apache", "SSLSessionTickets on", "its default; from 2.4.11"),
        fix("HAProxy", "tune.ssl.cachesize 20000", "in the global section, its default; 0 switches the cache off"),
        fix("HAProxy", "", "take no-tls-tickets out of the bind line and of ssl-default-bind-options"),
        fix("Envoy", "disable_stateless_session_resumption: false", "in the DownstreamTlsContext, its default"),
        fix("Caddy", "", "take session_tickets.disabled out of its JSON configuration (apps.tls)"),
        fix(
            "OpenSSL API",
            "SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);",
            "its default; or no SSL_OP_NO_TICKET, and SSL_CTX_set_num_tickets above 0",
        ),
        fix(
            "GnuTLS",
            "gnutls_session_ticket_enable_server(session, &key);",
            "with a key of gnutls_session_ticket_key_generate; without it a database serves TLS 1.2 alone",
        ),
        fix(
            "rustls",
            "config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;",
            "or a session_storage; and send_tls13_tickets above 0",
        ),
        fix("Go", "config.SessionTicketsDisabled = false", "its default"),
        fix("Node", "", "take SSL_OP_NO_TICKET out of secureOptions"),
        fix(
            "Java",
            "",
            "it gives sessions by itself: leave jdk.tls.server.enableSessionTicketExtension true, and the cache larger than 0",
        ),
        fix(".NET", "", "AllowTlsResume stays true in SslServerAuthenticationOptions, its default from .NET 8"),
        fix("stunnel", "options = -NO_TICKET", ""),
        fix(
            "Erlang",
            "{session_tickets,stateless}",
            "among the options of ssl:listen, for TLS 1.3, whose tickets are off by default; under TLS 1.2 it resumes by session ID",
        ),
        fix("RabbitMQ", "", "{session_tickets, stateless} among the ssl_options of advanced.config, which are those of Erlang's ssl"),
        fix("s2n-tls", "s2n_config_set_session_tickets_onoff(config, 1);", "with a key of s2n_config_add_ticket_crypto_key"),
    ],
    services: services::OF_TICKETS,
    explained_by: &[
        &vhost_directives::CAUSE,
        &default_host_tickets_off::CAUSE,
        &session_too_large::CAUSE,
        &lifetime_invalid::CAUSE,
        &restart_lost_keys::CAUSE,
        &client_psk_mode::CAUSE,
        &unclean_close_evicts::CAUSE,
    ],
    separated_by: &["resume", "no-sni-at-all", "no-certificate-at-all", "both-psk-modes"],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 2, find: MeasuredRule::EachVersion(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let is_of_version = |series: &KindSeries<'_>| series.asked.tls == version;
    let conclusive: Vec<KindSeries<'_>> = case.conclusive_series().into_iter().filter(is_of_version).collect();
    if conclusive.is_empty() || (version == Version::Tls13 && client_psk_mode::is_the_cause(case)) {
        return None;
    }
    let all: Vec<KindSeries<'_>> = case.every_series().into_iter().filter(is_of_version).collect();
    let is_refused = |series: &&KindSeries<'_>| {
        series.asked.kind == Kind::Ticket
            && series.is_never_accepted(case)
            && !context_per_connection::is_shown(case, series)
            && !certificate_renewed::is_shown(case, series.asked)
    };
    let refused = conclusive.iter().find(is_refused);
    let (title, evidence, confidence, kinds) = if let Some(refused) = refused {
        let title = format!("{version} tickets arrive and are never accepted");
        (title, evidence_of_refusal(case, refused), confidence(case, refused), [Kind::Ticket].as_slice())
    } else if all.iter().all(gives_nothing) {
        let (title, evidence) = (nothing_to_resume_with(version), vec![what_was_given(&all, version)]);
        (title, evidence, confidence_of_nothing(case, version), [Kind::Ticket, Kind::Id].as_slice())
    } else {
        return None;
    };
    // Where another kind of the same version resumes, most clients lose nothing now.
    let resumes = conclusive.iter().any(|series| series.asked.kind != Kind::Full && series.ever_resumes(case));
    let severity = if resumes { Severity::Risk } else { Severity::Fault };
    let mechanisms = kinds.iter().filter(|kind| kind.exists_under(version)).map(|kind| Asked { tls: version, kind: *kind });
    let finding = case.found(&CAUSE, severity, confidence, title).because(evidence).under(mechanisms);
    // Where TLS 1.2 does not resume either, more than the number of tickets is wrong.
    let (resumes, is_alone) = (resumes_tls12(case), !speaks_tls12(case));
    let has_no_tickets = version == Version::Tls13 && refused.is_none() && (resumes || is_alone);
    Some(if has_no_tickets { finding.fixed_by(some_tickets(resumes)) } else { finding })
}

/// Where the other version shows nodes that differ, a few connections may all have reached those that give nothing.
fn confidence_of_nothing(case: &MeasuredCase<'_>, version: Version) -> Confidence {
    let shows_nodes = case.judgements.iter().any(|judgement| judgement.of(Concluded::NotShared).is_some());
    let is_few = case.full_handshakes(version).len() < ENOUGH;
    if shows_nodes && is_few { Confidence::Possible } else { Confidence::Likely }
}

/// If half of the nodes gave something, so many connections would have met one but for one case in a hundred.
const ENOUGH: usize = 7;

fn speaks_tls12(case: &MeasuredCase<'_>) -> bool {
    case.observations.iter().any(|seen| seen.facts().is_some_and(|facts| facts.version == Version::Tls12))
}

fn resumes_tls12(case: &MeasuredCase<'_>) -> bool {
    let series = case.conclusive_series();
    let mut offering = series.iter().filter(|it| it.asked.tls == Version::Tls12 && it.asked.kind != Kind::Full);
    offering.any(|it| it.ever_resumes(case))
}

/// OpenSSL gives tickets of TLS 1.3 with its cache and its tickets off too, so what is 0 is their number; the same goes for all servers
/// that resume TLS 1.2, which have one of the two on.
fn some_tickets(resumes_tls12: bool) -> Vec<Remedy> {
    let general = Remedy::general(
        "The number of tickets for each TLS 1.3 handshake is 0 (NumTickets, num_tickets), or the library has no TLS 1.3 resumption: \
         remove that setting, or give some:",
    );
    let has_number = |software: &str| {
        ["nginx", "Apache", "OpenSSL API", "Python ssl"].contains(&software)
            || resumes_tls12 && ["rustls", "s2n-tls"].contains(&software)
    };
    let of_number = MORE_TICKETS.iter().filter(|fix| fix.side == ResponsibleSide::Server && has_number(fix.software));
    let of_others = CAUSE.fixes.iter().filter(|fix| !has_number(fix.software));
    std::iter::once(general).chain(of_number.chain(of_others).map(Remedy::from)).collect()
}

/// A server that gives nothing under TLS 1.2 has resumption off, and its TLS 1.3 tickets are those useless ones: nodes that do not
/// share their keys would give TLS 1.2 tickets too.
fn is_off_under_tls12(case: &MeasuredCase<'_>) -> bool {
    let tls12: Vec<KindSeries<'_>> = case.every_series().into_iter().filter(|it| it.asked.tls == Version::Tls12).collect();
    !tls12.is_empty() && tls12.iter().all(gives_nothing)
}

fn nothing_to_resume_with(version: Version) -> String {
    match version {
        Version::Tls12 => format!("{version} offers no resumption: neither a session ID nor a ticket arrives"),
        Version::Tls13 => format!("{version} offers no resumption: no ticket arrives"),
    }
}

/// Whether none of these connections was given anything to offer to the next.
fn gives_nothing(series: &KindSeries<'_>) -> bool {
    let gives = series.with(|facts| facts.tickets.count > 0 || facts.session_id_given || facts.session_offered);
    gives == 0 && series.with(|facts| facts.kind != Kind::Full) == 0
}

/// A TLS 1.3 ticket that is never accepted has one common reason. Under TLS 1.2 a server that has tickets switched off
/// sends none, so there it has other reasons too: keys that change, nodes that do not share them.
fn confidence(case: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Confidence {
    match refused.asked.tls {
        Version::Tls13 if is_off_under_tls12(case) => Confidence::Likely,
        // Connections that nobody chose may each have reached another node than the one before.
        Version::Tls13 if !case.judgements.is_empty() && !speaks_tls12(case) && names_sessions(refused) => {
            Confidence::Likely
        }
        Version::Tls12 if case.judgements.is_empty() => Confidence::Possible,
        _ => refused.confidence_of_refusal(case),
    }
}

/// Whether its tickets only name sessions, of which so many are refused that a cache of one or two is no likely reason.
fn names_sessions(tickets: &KindSeries<'_>) -> bool {
    let mut given = tickets.completed.iter().filter_map(|(_, facts)| facts.tickets.iter().next()).peekable();
    tickets.refusals() >= FEWEST && given.peek().is_some() && given.all(|ticket| !ticket.holds_its_session())
}

fn evidence_of_refusal(case: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Vec<String> {
    let mut evidence = vec![refused.refusal(case)];
    if refused.asked.tls == Version::Tls13 {
        evidence.push("OpenSSL servers send such tickets when both their cache and their tickets are off".to_owned());
    }
    evidence
}

fn what_was_given(all: &[KindSeries<'_>], version: Version) -> String {
    let all = connections(all.iter().map(KindSeries::count).sum());
    match version {
        Version::Tls12 => format!("{all}, and neither a session ID nor a ticket on any"),
        Version::Tls13 => format!("{all}, and a NewSessionTicket on none"),
    }
}
