//! Results of several generators make one, exactly.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, ServerSpec};
use reprise_load::{LoadEnd, LoadOptions, NoLoadObserver, run};
use reprise_model::document::{
    LoadCpuLimit, LoadDocument, LoadStage, LoadStep, LoadSweep, LoadWindow, Provenance, Target, Verdict,
};
use reprise_model::{DescriptorShortage, FaultName, Kind, LoadNotice, Nanos, Phase, RefusalCause};
use reprise_results::{MergeError, about_queue, load_warning, merge};

fn documents(counts: &[u64]) -> Vec<LoadDocument> {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig::new(identity)).unwrap();
    let address = server.address();
    let (host, path) = (address.ip().to_string(), Some("/".to_owned()));
    let target = Target { host, port: address.port(), path, ..Target::default() };
    let together = LoadWindow { from_unix_ns: 0, to_unix_ns: 1_000_000_000 };
    let one = |&count: &u64| {
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec();
        let options = LoadOptions { end: LoadEnd::Count(count), ..LoadOptions::new(address, request) };
        let outcome = run(&options, &|| false, &NoLoadObserver).unwrap();
        let document = outcome.document(&options, target.clone(), false, Provenance::default());
        // As if they had run at one time.
        LoadDocument { window: Some(together), ..document }
    };
    counts.iter().map(one).collect()
}

#[test]
fn counts_and_histograms_add_up_and_order_does_not_matter() {
    let documents = documents(&[30, 50, 20]);
    let merged = merge(&documents).unwrap();
    assert_eq!((merged.completed[&Kind::Full], merged.generators), (100, 3));
    assert_eq!(merged.rate.per_second.iter().sum::<u64>(), 100);
    assert!((merged.rate.mean_by_kind[&Kind::Full] / merged.rate.mean - 1.0).abs() < 1e-9, "{:?}", merged.rate);
    let largest = |document: &LoadDocument| document.latency_ns[&Kind::Full][&Phase::Total].max;
    assert_eq!(largest(&merged), documents.iter().map(largest).max().unwrap());

    let reversed: Vec<LoadDocument> = documents.iter().rev().cloned().collect();
    assert_eq!(merge(&reversed).unwrap().latency_ns, merged.latency_ns);
    // Merging by steps is merging at once: the histograms of a merged result can be merged again.
    let first_two = merge(&documents[..2]).unwrap();
    let by_steps = merge(&[first_two, documents[2].clone()]).unwrap();
    assert_eq!((by_steps.latency_ns, by_steps.completed), (merged.latency_ns.clone(), merged.completed.clone()));
    assert_eq!(by_steps.histograms, merged.histograms);
    assert_eq!(merge(&documents[..1]).unwrap().latency_ns, documents[0].latency_ns);
}

#[test]
fn stages_add_up_where_they_last_as_long() {
    let mut documents = documents(&[3, 4]);
    let stage = |rate, full, ticket| LoadStage {
        rate,
        duration_ns: 1_000_000_000,
        seconds: 1.0,
        offered: full + ticket + 1,
        completed: [(Kind::Full, full), (Kind::Ticket, ticket)].into(),
        failed: 1,
        not_started: 0,
        resumed: None,
        latency_from_intended_ns: None,
        server_cpu_ns: Some(full),
    };
    (documents[0].stages, documents[1].stages) = (vec![stage(5.0, 3, 1)], vec![stage(6.0, 1, 3)]);
    let merged = &merge(&documents).unwrap().stages[0];
    assert_eq!((merged.rate, merged.offered, merged.failed), (11.0, 10, 2));
    assert_eq!((merged.resumed, merged.server_cpu_ns), (Some(0.5), Some(3)), "both saw one server");
    documents[0].sweep = Some(LoadSweep::default());
    assert_eq!(merge(&documents), Err(MergeError::Sweep));
    documents[1].stages[0].duration_ns = 1;
    assert_eq!(merge(&documents), Err(MergeError::Different("stages")));
}

#[test]
fn counts_that_no_load_has_do_not_overflow() {
    let mut documents = documents(&[3, 3]);
    for document in &mut documents {
        document.completed.insert(Kind::Ticket, u64::MAX);
        (document.primed, document.warmup_completed, document.generators) = (u64::MAX, u64::MAX, u64::MAX);
        document.client_cpu_ns.user = u64::MAX;
        document.rate.per_second.fill(u64::MAX);
        (document.asked.threads, document.asked.connections) = (u64::MAX, Some(u64::MAX));
    }
    let merged = merge(&documents).unwrap();
    assert_eq!((merged.completed[&Kind::Ticket], merged.total_completed()), (u64::MAX, u64::MAX));
}

#[test]
fn what_failed_in_the_warm_up_adds_up_apart() {
    let mut documents = documents(&[3, 3]);
    documents[0].warmup_errors.insert("timeout".to_owned(), 2);
    for (document, count) in documents.iter_mut().zip([1, u64::MAX]) {
        document.warmup_errors.insert("connection_refused".to_owned(), count);
    }
    let merged = merge(&documents).unwrap();
    let expected = [("connection_refused".to_owned(), u64::MAX), ("timeout".to_owned(), 2)];
    assert_eq!((merged.warmup_errors, merged.errors.len()), (expected.into(), 0));
}

#[test]
fn which_group_was_wanted_does_not_depend_on_who_comes_first() {
    let mut documents = documents(&[3, 3]);
    for (document, group) in documents.iter_mut().zip(["secp384r1", "secp256r1"]) {
        document.wanted_group = Some(group.to_owned());
        document.wanted_groups = [("a.example".to_owned(), group.to_owned())].into();
    }
    let merged = merge(&documents).unwrap();
    documents.reverse();
    let reversed = merge(&documents).unwrap();
    assert_eq!((&merged.wanted_group, &merged.wanted_groups), (&reversed.wanted_group, &reversed.wanted_groups));
    assert_eq!(merged.wanted_groups["a.example"], "secp256r1");
}

#[test]
fn the_limit_that_held_a_generator_back_most_is_kept() {
    let mut documents = documents(&[3, 3, 3]);
    let limit = |throttled_periods: u64| LoadCpuLimit {
        group: throttled_periods.to_string(),
        processors: 2.0,
        period_ns: 100_000_000,
        periods: 30,
        throttled_periods,
        throttled_ns: 1,
    };
    for (document, throttled) in documents.iter_mut().zip([Some(0), Some(12), None]) {
        document.bottleneck.client_limit = throttled.map(limit);
        document.bottleneck.server_limit = None;
    }
    let merged = merge(&documents).unwrap().bottleneck;
    assert_eq!((merged.client_limit, merged.server_limit), (Some(limit(12)), None));
}

#[test]
fn loads_of_different_times_add_up_to_nothing() {
    let mut documents = documents(&[3, 3, 3]);
    let seconds = |from: f64, to: f64| Some(LoadWindow { from_unix_ns: (from * 1e9) as u64, to_unix_ns: (to * 1e9) as u64 });
    let merged = |documents: &mut [LoadDocument], windows: [Option<LoadWindow>; 3]| {
        documents.iter_mut().zip(windows).for_each(|(document, window)| document.window = window);
        merge(documents)
    };
    // One after the other, a tenth and a bit apart, one within the other, and the third apart from the second alone.
    for (windows, places) in [
        ([seconds(0.0, 10.0), seconds(10.0, 20.0), seconds(0.0, 10.0)], (1, 2)),
        ([seconds(0.0, 10.0), seconds(1.1, 11.1), seconds(0.0, 10.0)], (1, 2)),
        ([seconds(0.0, 10.0), seconds(0.0, 8.9), seconds(0.0, 10.0)], (1, 2)),
        ([seconds(0.0, 10.0), seconds(0.9, 10.9), seconds(0.0, 9.5)], (2, 3)),
    ] {
        let refused = merged(&mut documents, windows).unwrap_err();
        assert!(matches!(refused, MergeError::Apart { places: apart, .. } if apart == places), "{windows:?}: {refused}");
        assert!(refused.to_string().contains("--start-at"), "{refused}");
    }
    let refused = merged(&mut documents, [seconds(0.0, 10.0), None, seconds(0.0, 10.0)]).unwrap_err();
    assert_eq!(refused, MergeError::Timeless { place: 2 });
    let all = merged(&mut documents, [seconds(5.0, 15.0), seconds(5.9, 15.9), seconds(5.5, 15.5)]).unwrap();
    assert_eq!((all.window, all.generators), (seconds(5.0, 15.9), 3));
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let documents = documents(&[3, 3]);
    assert_eq!(merge(&[]).unwrap_err(), MergeError::Nothing);
    let mut other = documents[1].clone();
    other.target.port ^= 1;
    assert_eq!(merge(&[documents[0].clone(), other]).unwrap_err(), MergeError::Different("targets"));
    let mut key_shares = documents[1].clone();
    key_shares.asked.key_shares = "fresh".to_owned();
    let mut path = documents[1].clone();
    path.target.path = Some("/other".to_owned());
    let mut close = documents[1].clone();
    close.asked.close = "fin".to_owned();
    let mut verify = documents[1].clone();
    verify.asked.verify = true;
    let mut groups = documents[1].clone();
    groups.asked.groups.reverse();
    let mut suites = documents[1].clone();
    suites.asked.cipher_suites.pop().unwrap();
    for (other, what) in [
        (key_shares, "key shares"),
        (path, "paths"),
        (close, "endings"),
        (verify, "verification"),
        (groups, "groups"),
        (suites, "cipher suites"),
    ] {
        assert_eq!(merge(&[documents[0].clone(), other]).unwrap_err(), MergeError::Different(what));
    }
    assert_eq!(merge(&[documents[0].clone(), documents[0].clone()]).unwrap_err(), MergeError::Twice);
    let mut searched = documents[1].clone();
    searched.steps.push(LoadStep {
        rate: 1.0,
        held: 1.0,
        latency_ns: 1,
        samples: 1,
        errors: 0,
        not_started: 0,
        passed: true,
    });
    assert_eq!(merge(&[documents[0].clone(), searched]).unwrap_err(), MergeError::Search);
    let mut broken = documents[1].clone();
    broken.histograms[0].hdr_v2.truncate(20);
    assert_eq!(merge(&[documents[0].clone(), broken]).unwrap_err(), MergeError::Histogram { kind: Kind::Full });
}

#[test]
fn each_warning_gives_its_figures_and_what_to_do() {
    let mut document = documents(&[3]).remove(0);
    document.warmup_errors.insert("closed_early".to_owned(), 4);
    document.http_status = [(200, 12), (429, 6)].into();
    document.errors.insert("bad_certificate".to_owned(), 3);
    document.error_reasons.insert("bad_certificate".to_owned(), "it is a CA's own".to_owned());
    document.wanted_group = Some("secp384r1".to_owned());
    document.hello_retries = 2;
    document.wanted_groups.insert("one.example".to_owned(), "secp384r1".to_owned());
    let retries = LoadNotice::Failures { fault: FaultName::HelloRetryRequest, count: 2 };
    let cases = [
        (retries.clone(), "2 × hello_retry_request: the server requests secp384r1"),
        (retries.clone(), "first starts each handshake again, full or resumed: a round trip more"),
        (
            LoadNotice::HelloRetries,
            "2 of 3 connections were retried (HelloRetryRequest): the server requests secp384r1. A client",
        ),
        (
            LoadNotice::SomeSlow { phase: Phase::Tls, slow: 7, of: 21, step: Nanos(1_000_000_000) },
            "7 of 21 connections take 1.00 s longer in the handshake: ",
        ),
        (LoadNotice::WarmupFailures, "4 of 4 connections of the warm-up failed (4 × closed_early)"),
        (LoadNotice::ErrorResponses, "6 of 18 responses have an HTTP status of 400 or above (429)"),
        (LoadNotice::Crowded { waited: 0.5 }, "other programs used the processors 50 % of the time"),
        (LoadNotice::UnevenSeconds { least: 1, most: 9 }, "the rate varies from 1 to 9"),
        (LoadNotice::NotStarted { count: 7 }, "7 due connections were not started"),
        (LoadNotice::Reasoned(FaultName::BadCertificate), "3 × bad_certificate: it is a CA's own"),
        (
            LoadNotice::FewerConnections(DescriptorShortage { wanted: 30_000, room: 19_980, limit: 20_000 }),
            "19980 concurrent connections, not 30000: the limit is 20000 open descriptors",
        ),
        (LoadNotice::SessionsRefused(Some(RefusalCause::TicketsReused)), "remove --reuse-tickets"),
        (LoadNotice::SessionsRefused(Some(RefusalCause::ConnectionsReset)), "--close notify"),
    ];
    for (notice, says) in cases {
        let said = load_warning(&notice, &document);
        assert!(said.contains(says), "{notice:?}: {said}");
    }
    document.wanted_groups.insert("other.example".to_owned(), "secp256r1".to_owned());
    let said = load_warning(&retries, &document);
    assert!(said.contains("secp384r1 for 'one.example', secp256r1 for 'other.example'"), "{said}");
}

#[test]
fn the_latency_of_a_closed_loop_is_called_the_queues() {
    let mut document = documents(&[3]).remove(0);
    (document.asked.connections, document.rate.mean) = (Some(64), 1_143.0);
    document.bottleneck.verdict = Verdict::Server;
    let unsteady = about_queue(&document).unwrap();
    assert!(unsteady.contains("--rate") && !unsteady.contains("ms each"), "of three connections: {unsteady}");
    document.completed.insert(Kind::Full, 2_286);
    let said = about_queue(&document).unwrap();
    assert!(said.contains("64 concurrent / 1143 per second = 56.0 ms each") && said.contains("--rate"), "{said}");
    assert!(said.contains("connections wait for one another"), "{said}");
    // On the way to a server that is idle, they wait for something else.
    document.bottleneck.verdict = Verdict::Network;
    assert!(about_queue(&document).unwrap().contains("may wait"));
    for (connections, mean) in [(None, 1_143.0), (Some(1), 1_143.0), (Some(64), 0.0)] {
        (document.asked.connections, document.rate.mean) = (connections, mean);
        assert_eq!(about_queue(&document), None);
    }
}
