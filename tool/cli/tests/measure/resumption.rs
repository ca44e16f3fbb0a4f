//! What is said where nothing resumes, or not as it was asked for; and what a resumed handshake saves. Every server with its cache and
//! tickets on and off stands in `every_server`.

use reprise_lab::{EmbeddedResumption, KeyKind, Versions};
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache};

use reprise_harness::Lab;

fn nginx(lab: &Lab, key: KeyKind, session_tickets: bool, session_cache: SessionCache) -> Nginx {
    Nginx::start(NginxConfig { session_tickets, session_cache, ..NginxConfig::new(vec![lab.identity(key)]) }).unwrap()
}

/// What the README shows of a page is what is printed; `…` stands for what it leaves out.
#[test]
fn the_readme_shows_lines_that_are_printed() {
    reprise_servers::require!("nginx");
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    // An archive of this crate alone has none.
    let Ok(readme) = std::fs::read_to_string(readme) else { return };
    let lab = Lab::new();
    let nginx = nginx(&lab, KeyKind::P256, false, SessionCache::Off);
    let page = lab.measure(nginx.address()).count(100).run().exits(0).page;
    let is_there = |parts: &[&str], line: &str| {
        parts.iter().try_fold(line, |rest, part| rest.split_once(part).map(|(_, rest)| rest)).is_some()
    };
    let mut shown = 0;
    for block in readme.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let parts: Vec<&str> = line.split('…').map(str::trim_end).collect();
            assert!(page.lines().any(|printed| is_there(&parts, printed)), "'{line}' is not in\n{page}");
            shown += 1;
        }
    }
    assert!(shown > 3, "{shown} lines");
}

#[test]
fn a_kind_of_no_supported_version_is_an_error_if_named() {
    let lab = Lab::new();
    for (versions, kinds, missed) in
        [(Versions::Tls13, "id", "id"), (Versions::Tls13, "full,id", "id"), (Versions::Tls12, "early", "early")]
    {
        let server = lab.server_with(|config| (config.resumption, config.versions) = (EmbeddedResumption::Ticket, versions));
        let outcome = lab.measure(server.address()).count(2).args(["--kinds", kinds]).run().exits(1);
        outcome.says(&[&format!("{missed} was not observed: no version that supports it could be measured")]);
    }
    // Only versions that have the kind are measured.
    let server = lab.server(EmbeddedResumption::Id);
    let named = lab.measure(server.address()).count(3).args(["--kinds", "id"]).run().exits(0).document();
    assert_eq!(named.runs.iter().map(|run| (run.asked.tls, run.n)).collect::<Vec<_>>(), [(Version::Tls12, 3)]);
}

#[test]
fn a_resumed_handshake_skips_what_it_is_said_to_skip() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = nginx(&lab, KeyKind::Rsa2048, true, SessionCache::Off);
    let outcome = lab.measure(nginx.address()).count(8).run().exits(0);
    // On a busy machine, by the network too: `tool/diagnosis/src/bound.rs` tests which it is.
    let bound = ["Bound by ", "the two sides: 2 round trips of "];
    let outcome = outcome.shows(&bound);
    for (tls, round_trips) in [(Version::Tls12, [2, 1]), (Version::Tls13, [1, 1])] {
        let [full, ticket] = [Kind::Full, Kind::Ticket].map(|kind| outcome.measured(tls, kind));
        assert_eq!([full.round_trips, ticket.round_trips], round_trips.map(Some), "{tls}");
        assert_eq!(full.observed.peer_key.as_deref(), Some("rsa-2048"), "{tls}");
        assert_eq!((&ticket.observed.peer_key, &ticket.observed.signature), (&None, &None), "{tls}");
        assert!(full.bytes.unwrap().received > ticket.bytes.unwrap().received, "{tls}: the certificate is saved");
    }
    assert_eq!(outcome.measured(Version::Tls12, Kind::Ticket).observed.group, None);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).observed.group.as_deref(), Some("x25519"));
}
