//! Conditions as they are written, judged, and refused.

mod nothing_given;

use proptest::prelude::*;
use reprise_model::document::{CompareCase, CompareOver, MeasureDocument, ServerCpu};
use reprise_model::{KeyPairs, Kind, ServerChain, Version};

use super::*;
use crate::{EarlierResult, Scope, compare};
use reprise_diagnosis::example::Example;

#[track_caller]
fn read(text: &str, of: ConditionSubject<'_>) -> Condition {
    Condition::read(text, &of).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn condition(text: &str) -> Condition {
    read(text, ConditionSubject::Measurement)
}

/// Asserts that an error points at this column, from 1, and says what was expected there.
#[track_caller]
fn assert_refused(of: ConditionSubject<'_>, cases: &[(&str, usize, &str)]) {
    for (text, column, expected) in cases {
        let error = Condition::read(text, &of).unwrap_err().to_string();
        assert!(error.starts_with(&format!("column {column}: expected ")), "{text}: {error}");
        assert!(error.contains(expected), "{text}: {error}");
        let (line, caret) = error.rsplit_once('\n').unwrap();
        assert!(line.ends_with(text) && caret.find('^') == Some(column + 1), "{error}");
    }
}

/// What is read is shown in one order of words, and read again it is the same.
#[track_caller]
fn assert_named(of: ConditionSubject<'_>, cases: &[(&str, &str)]) {
    for (text, name) in cases {
        let Figure::Words(words) = read(text, of).figure else { panic!("{text}") };
        assert_eq!(words.to_string(), *name, "{text}");
    }
}

fn case(tls: Version, kind: Kind) -> CompareCase {
    CompareCase {
        tls,
        kind,
        key: "p-256".to_owned(),
        group: "x25519".to_owned(),
        cipher: "TLS_AES_128_GCM_SHA256".to_owned(),
        mutual: false,
        psk_mode: None,
        request: 0,
        bulk: None,
        key_pairs: KeyPairs::Fresh,
        chain: ServerChain::One,
        retried: false,
        max_fragment: None,
        releases_buffers: false,
        hybrid_share: false,
    }
}

fn with_comparison<T>(work: impl FnOnce(ConditionSubject<'_>) -> T) -> T {
    let stacks = ["openssl-3", "openssl-3.5", "mine", "full"].map(str::to_owned);
    let cases = [case(Version::Tls12, Kind::Id), case(Version::Tls13, Kind::Full)];
    work(ConditionSubject::Comparison { stacks: &stacks, cases: &cases })
}

/// TLS 1.2 resumes by ID in 400 µs, TLS 1.3 by ticket in 500 µs, a full handshake takes 1000 µs.
fn measured() -> MeasureDocument {
    let example = Example::new().run("1.2", Kind::Full, 1000).run("1.2", Kind::Id, 400);
    let mut document = example.run("1.3", Kind::Full, 1000).run("1.3", Kind::Ticket, 500).document();
    document.all_connections.full = 200;
    document
}

#[track_caller]
fn judged(text: &str, document: &MeasureDocument) -> ConditionJudgement {
    condition(text).judge(document)
}

#[track_caller]
fn assert_met(text: &str, document: &MeasureDocument, of: &[&str]) {
    let ConditionJudgement::Met(found) = judged(text, document) else { panic!("{text}: {:?}", judged(text, document)) };
    assert_eq!(found.iter().map(|it| it.of.as_str()).collect::<Vec<_>>(), of, "{text}");
}

#[test]
fn a_reader_guesses_right() {
    let document = measured();
    for (met, not_met) in [
        ("tls.resumed.ratio < 2.6", "tls.resumed.ratio < 1.5"),
        ("1.3.ticket.tls.p99 >= 0.5ms", "1.3.ticket.tls.p99 > 20ms"),
        ("kinds.ticket >= 100%", "kinds.ticket < 100%"),
        ("failed == 0", "failed > 0"),
        ("tls.full > 999us", "tls.full > 1001us"),
        ("1.2.full.tls.median > 0.9 ms", "full.1.2.median.tls < 900µs"),
        ("n < 101", "n<100"),
        ("tls.resumed.saved < 600us", "tls.resumed.saved < -1ns"),
        ("tls.id.ratio.low < 2.5x", "tls.id.ratio.high < 2.4×"),
        ("kinds.id > 99n", "1.2.kinds.id != 100 n"),
    ] {
        assert!(matches!(judged(met, &document), ConditionJudgement::Met(_)), "{met}: {:?}", judged(met, &document));
        assert_eq!(judged(not_met, &document), ConditionJudgement::NotMet, "{not_met}");
    }
}

#[test]
fn each_that_meets_it_is_named_with_its_figure() {
    let document = measured();
    assert_met("resumed.tls < 450us", &document, &["localhost: 1.2 id tls median"]);
    assert_met("resumed.tls < 1ms", &document, &["localhost: 1.2 id tls median", "localhost: 1.3 ticket tls median"]);
    let ConditionJudgement::Met(found) = judged("tls.id.ratio > 1", &document) else { panic!() };
    assert_eq!(found[0].shown, "2.50 (2.38 to 2.62), n = 100");
}

#[test]
fn what_is_not_there_is_never_good() {
    let refused = Example::new().run("1.3", Kind::Full, 1000).refused("1.3", Kind::Ticket, 100).document();
    for text in ["1.3.ticket.tls.p99 > 20ms", "tls.resumed.ratio < 1.5", "1.2.failed > 0", "resumed.sent > 1B", "psk.n < 1"]
    {
        assert!(matches!(judged(text, &refused), ConditionJudgement::Unknown(_)), "{text}: {:?}", judged(text, &refused));
    }
    assert_met("kinds.ticket < 100%", &refused, &["localhost: 1.3 ticket kinds"]);
    let mut few = measured();
    few.ratios.iter_mut().for_each(|ratio| ratio.ci95 = None);
    let ConditionJudgement::Unknown(why) = judged("tls.id.ratio.low < 1", &few) else { panic!() };
    assert_eq!(why, ["localhost: 1.2 id tls ratio has no interval"]);
}

#[test]
fn one_that_is_met_outweighs_one_that_is_unknown() {
    let document = Example::new().run("1.3", Kind::Full, 1000).refused("1.2", Kind::Full, 0).document();
    assert_met("tls.full > 1us", &document, &["localhost: 1.3 full tls median"]);
}

#[test]
fn failures_count_alone_and_as_a_share() {
    let mut document = measured();
    document.all_connections.full = 195;
    document.all_connections.failed = 5;
    document.runs[0].failed = 5;
    assert_met("failed > 0", &document, &["localhost: failed"]);
    assert_met("failed > 2%", &document, &["localhost: failed"]);
    assert_eq!(judged("failed > 3%", &document), ConditionJudgement::NotMet);
    assert_met("1.2.failed > 0", &document, &["localhost: 1.2 full failed"]);
}

#[test]
fn the_baseline_is_judged_too() {
    let mut now = measured();
    let earlier = Example::new().run("1.2", Kind::Full, 800).run("1.2", Kind::Id, 400).document();
    let earlier = [EarlierResult { result: &earlier, file: "earlier.json" }];
    now.baseline = compare(&now, &earlier, &Scope::default(), 1).map(Box::new);
    assert_met("baseline.1.2.full.tls.change > 10%", &now, &["localhost: 1.2 full tls change"]);
    assert_met("baseline.1.2.tls.full > 24%", &now, &["localhost: 1.2 full tls change"]);
    assert_eq!(judged("baseline.1.2.tls.id.change > 10%", &now), ConditionJudgement::NotMet);
    assert!(
        matches!(judged("baseline.1.3.tls.change > 10%", &now), ConditionJudgement::Unknown(_)),
        "the baseline has none"
    );
    let ConditionJudgement::Met(found) = judged("baseline.tls.slower > 0", &now) else { panic!() };
    assert_eq!(found[0].shown, "1: 1.2 full tls");
    assert_eq!(judged("baseline.faster > 0", &now), ConditionJudgement::NotMet);
    let ConditionJudgement::Met(found) = judged("baseline.differences > 0", &now) else { panic!() };
    assert_eq!(found[0].shown, "2: 1.3 full measured, 1.3 ticket measured");
    assert!(matches!(judged("baseline.slower > 0", &measured()), ConditionJudgement::Unknown(_)));
    assert_met("baseline.1.2.tls.full.raw_change > 24%", &now, &["localhost: 1.2 full tls raw_change"]);
    assert_met("baseline.tls.id.ratio > 24%", &now, &["localhost: 1.2 id tls ratio"]);
    assert_eq!(judged("baseline.tls.id.ratio < 0%", &now), ConditionJudgement::NotMet);
    let ConditionJudgement::Met(found) = judged("baseline.tls.id.ratio.low > 10%", &now) else { panic!() };
    assert!(found[0].shown.starts_with("+25.0 % (+"), "{found:?}");
}

#[test]
fn server_cpu_is_judged_alone_and_against_a_baseline() {
    let with_cpu = |per_connection_ns| {
        let mut document = measured();
        document.server_cpu = Some(ServerCpu { connections: 404, per_connection_ns });
        document
    };
    let mut now = with_cpu(240_000);
    let before = [195_000, 200_000, 205_000, 200_000].map(with_cpu);
    let earlier = before.each_ref().map(|result| EarlierResult { result, file: "earlier.json" });
    now.baseline = compare(&now, &earlier[1..2], &Scope::default(), 1).map(Box::new);
    assert_met("server_cpu > 239us", &now, &["localhost: server_cpu"]);
    assert_eq!(judged("server_cpu > 241us", &now), ConditionJudgement::NotMet);
    assert_met("baseline.server_cpu > 10%", &now, &["localhost: baseline.server_cpu"]);
    assert!(
        matches!(judged("baseline.server_cpu.low > 1%", &now), ConditionJudgement::Unknown(_)),
        "one baseline has no spread"
    );
    now.baseline = compare(&now, &earlier, &Scope::default(), 1).map(Box::new);
    assert_met("baseline.server_cpu.low > 10%", &now, &["localhost: baseline.server_cpu"]);
    assert!(matches!(judged("server_cpu > 1us", &measured()), ConditionJudgement::Unknown(_)));
}

#[test]
fn an_error_points_at_the_place() {
    assert_refused(
        ConditionSubject::Measurement,
        &[
            ("", 1, "a version"),
            ("tls.resumd.ratio < 1.5", 5, "a kind (full, id, ticket, psk, early, resumed)"),
            ("tls..full < 1ms", 5, "a phase"),
            ("tls.full 5ms", 10, "one of < <="),
            ("tls.full =< 5ms", 10, "one of < <="),
            ("tls.full < 5", 13, "a unit: ns, us, µs, ms, s"),
            ("tls.full < 5 min", 14, "a unit: ns"),
            ("tls.full < fast", 12, "a number, '20ms'"),
            ("tls.full < 1.2.3ms", 12, "a number"),
            ("tls.full < .5ms", 12, "a number"),
            ("tls.full < 5ms or failed > 0", 16, "the end"),
            ("kinds.ticket < 100%%", 19, "a unit: %, n"),
            ("kinds.ticket < 100", 19, "'100n' or '100%': a count or a share?"),
            ("failed >= 1 ", 13, "'1n' or '1%': a count or a share?"),
            ("failed > 0 or n < 1", 12, "the end"),
            ("failed > 0ms", 11, "a unit: %, n"),
            ("n > 5%", 6, "no unit: n is a number"),
            ("full > 5", 5, "a phase or a figure"),
            ("full.p99 > 5ms", 1, "a phase with p99"),
            ("tls.connect > 5ms", 5, "one of each at most"),
            ("tls.full.ratio < 2", 1, "a resumed kind"),
            ("tls.p99.low < 2ms", 1, "low and high after median"),
            ("full.server_cpu > 1ms", 1, "without a version or a kind"),
            ("tls.server_cpu > 1ms", 1, "server_cpu without 'tls'"),
            ("tls.failed > 0", 1, "failed without 'tls'"),
            ("kinds < 100%", 1, "a kind"),
            ("1.3.id.tls < 1ms", 1, "TLS 1.3 has no session IDs"),
            ("tls.change > 10%", 1, "'baseline.' in front"),
            (
                "baseline.tls.p99 > 10ms",
                1,
                "one of ratio, server_cpu, change, raw_change, slower, faster, differences of the baseline, not p99",
            ),
            ("tls.baseline > 10%", 5, "baseline first"),
            ("bytes.failed > 10", 1, "bytes.sent or bytes.received"),
        ],
    );
}

#[test]
fn bytes_are_known_by_their_place_in_the_document_too() {
    assert_eq!(condition("full.bytes.received > 6kB").threshold, 6000.0);
    assert_eq!(condition("received.full > 6KiB").figure, condition("full.bytes.received > 6kB").figure);
}

#[test]
fn what_a_measurement_cannot_have_is_known_before() {
    let baseline = [Example::new().run("1.3", Kind::Full, 1000).document()];
    let all = Planned {
        scope: Scope::default(),
        count: 100,
        requests: true,
        resolves: true,
        proxy: true,
        starttls: true,
        server_cpu: true,
        baseline: Some(&baseline),
    };
    for text in [
        "tls.resumed.ratio < 1.5",
        "resolve.full > 1ms",
        "starttls.ticket > 1ms",
        "proxy.full > 1ms",
        "baseline.tls.change > 10%",
        "psk.failed > 0",
    ] {
        assert_eq!(Condition::read(text, &all).err(), None, "{text}");
    }
    let only = |versions: &[Version], kinds: &[Kind]| {
        let scope = Scope { versions: versions.to_vec(), kinds: kinds.to_vec() };
        Planned { scope, ..all.clone() }
    };
    for (text, planned, why) in [
        ("1.3.tls.p99 > 1s", only(&[Version::Tls12], &[]), "--tls and --kinds"),
        ("ticket.tls.p99 > 1s", only(&[], &[Kind::Full]), "--tls and --kinds"),
        ("id.tls > 1s", only(&[Version::Tls13], &[]), "--tls and --kinds"),
        ("tls.ratio < 1.5", only(&[], &[Kind::Ticket]), "add full to --kinds"),
        ("wait.full > 1s", Planned { requests: false, ..all.clone() }, "--no-request"),
        ("resolve.full > 1s", Planned { resolves: false, ..all.clone() }, "nothing is resolved"),
        ("proxy.full > 1s", Planned { proxy: false, ..all.clone() }, "--proxy"),
        ("starttls.full > 1s", Planned { starttls: false, ..all.clone() }, "--starttls"),
        ("tls.full.high > 1s", Planned { count: 5, ..all.clone() }, "raise --count"),
        ("baseline.slower > 0", Planned { baseline: None, ..all.clone() }, "--baseline FILE"),
        ("server_cpu > 1ms", Planned { server_cpu: false, ..all.clone() }, "--server-pid"),
        ("baseline.server_cpu > 1%", all.clone(), "the baseline has no such figure"),
        ("baseline.ticket.tls.change > 1%", all.clone(), "the baseline has no such figure"),
        ("baseline.resolve.change > 1%", all.clone(), "the baseline has no such figure"),
    ] {
        let found = Condition::read(text, &planned).unwrap_err().to_string();
        assert!(found.contains(why), "{text}: {found}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,60}") {
        for of in [ConditionSubject::Measurement, ConditionSubject::Diagnosis, ConditionSubject::Load, ConditionSubject::Other] {
            let _ = Condition::read(&text, &of);
        }
        with_comparison(|of| drop(Condition::read(&text, &of)));
    }

    /// Texts that come near: of the language's own words.
    #[test]
    fn any_words_are_read_or_refused_and_judged(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "1.2", "1.3", "0", "tls", "wait", "full", "ticket", "resumed", "ratio", "p99", "saved", "change", "baseline",
                "slower", "kinds", "failed", "low", "n", ".", ".", ".", " ", "<", ">=", "!=", "5", "-1.5", "ms", "%", "x", "µs", "B",
                "load", "latency", "rate", "status", "5xx", "server", "wall", "mine", "openssl-3.5", "mutual", "p-256", "[", "]",
                "\"", "runs", "phases", "p99_ns",
            ]),
            0..12,
        ),
    ) {
        let text = words.concat();
        let reread = |of: ConditionSubject<'_>| {
            let read = Condition::read(&text, &of);
            if let Ok(condition) = &read {
                assert_eq!(Condition::read(&condition.to_string(), &of).as_ref(), Ok(condition));
            }
            read
        };
        if let Ok(condition) = reread(ConditionSubject::Measurement) {
            let _ = condition.judge(&measured());
        }
        let _ = reread(ConditionSubject::Load);
        let _ = with_comparison(reread);
    }
}

#[test]
fn findings_are_counted_by_severity_confidence_and_name() {
    use reprise_model::document::{Confidence, Finding, Severity};
    let mut document = measured();
    document.findings = vec![
        Finding::new("id-never-accepted", Severity::Fault, Confidence::Likely, ""),
        Finding::new("little-to-save", Severity::Note, Confidence::Certain, ""),
    ];
    for met in [
        "findings.fault > 0",
        "findings.fault",
        "finding.id-never-accepted",
        "findings.fault.likely >= 1",
        "findings == 2",
        "findings.note.little-to-save",
    ] {
        assert!(matches!(judged(met, &document), ConditionJudgement::Met(_)), "{met}: {:?}", judged(met, &document));
    }
    for not_met in ["findings.risk", "finding.not-offered", "findings.fault.certain", "findings > 2"] {
        assert_eq!(judged(not_met, &document), ConditionJudgement::NotMet, "{not_met}");
    }
    let ConditionJudgement::Met(found) = judged("findings.fault", &document) else { panic!() };
    assert_eq!((&*found[0].of, &*found[0].shown), ("localhost: findings.fault", "1: id-never-accepted (fault)"));
    document.runs.clear();
    assert!(matches!(judged("findings.fault", &document), ConditionJudgement::Unknown(_)), "of nothing, nothing is found");
}

#[test]
fn a_finding_that_nothing_makes_is_refused() {
    for (text, words) in [
        ("finding.no-such-cause", "the name of a finding"),
        ("1.3.findings > 0", "findings without a version or a kind"),
        ("fault > 0", "'findings.' in front"),
        ("tls.fault > 1ms", "'findings.' in front"),
        ("findings.fault.risk", "one of each at most"),
        ("failed", "one of < <= > >= == !="),
    ] {
        let error = Condition::read(text, &ConditionSubject::Measurement).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn p50_is_the_median_and_p95_lies_between_p90_and_p99() {
    let document = measured();
    for met in ["1.3.full.tls.p50 == 1ms", "1.3.full.tls.p95 > 1.05ms", "1.3.full.tls.p95 < 1.1ms"] {
        assert!(matches!(judged(met, &document), ConditionJudgement::Met(_)), "{met}: {:?}", judged(met, &document));
    }
    let mut earlier = measured();
    earlier.runs.iter_mut().flat_map(|run| run.phases.values_mut()).for_each(|statistics| statistics.p95_ns = None);
    assert!(
        matches!(judged("1.3.full.tls.p95 > 1ms", &earlier), ConditionJudgement::Unknown(_)),
        "an earlier version's result"
    );
}

#[test]
fn words_of_a_load_are_read_in_any_order() {
    assert_named(
        ConditionSubject::Load,
        &[
            ("rate < 5000", "rate"),
            ("load.rate<5000/s", "rate"),
            ("ticket.rate >= 10", "ticket.rate"),
            ("latency.p99 > 20ms", "latency.p99"),
            ("load.latency.p999 > 1 s", "latency.p999"),
            ("p95.full.tls > 900us", "full.tls.p95"),
            ("resumed.latency > 1ms", "resumed.latency.median"),
            ("status.5xx > 0.1%", "status.5xx"),
            ("status.200 < 100%", "status.200"),
            ("server_cpu > 300us", "server_cpu"),
            ("kinds.ticket < 90%", "ticket.kinds"),
            ("client_busy > 90%", "client_busy"),
        ],
    );
    assert_refused(
        ConditionSubject::Load,
        &[
            ("p99 > 1ms", 1, "latency or a phase with p99"),
            ("full.failed > 0", 1, "failed without a version or a kind"),
            ("latency.rate > 1", 1, "rate without 'latency'"),
            ("status > 0", 1, "'status.200' or 'status.5xx'"),
            ("status.7xx > 0", 8, "after status '200' or '5xx'"),
            ("latency.p99 > 20", 17, "a unit: ns, us"),
            ("rate.rate > 1", 6, "one of each at most"),
            ("kinds > 1", 1, "a kind, 'kinds.ticket'"),
            ("findings > 0", 1, "or a figure (median"),
            ("latency.low > 1ms", 9, "or a figure (median"),
            ("", 1, "or a figure (median"),
        ],
    );
}

#[test]
fn a_load_that_cannot_have_the_figure_is_refused() {
    let planned = LoadPlanned { kinds: &[Kind::Full], requests: 0, http: true, server_cpu: false, open: false };
    for text in ["server_cpu > 1us", "ticket.rate < 1", "status.200 < 1n", "full.wait > 1s", "not_started > 0"] {
        let error = Condition::read(text, &planned).unwrap_err().to_string();
        assert!(error.starts_with(&format!("'{text}' cannot be evaluated: ")), "{error}");
    }
    for text in ["client_cpu > 1us", "full.rate < 1", "latency.p99 > 1s", "failed > 0", ".bottleneck.client_busy > 0.9"] {
        assert_eq!(Condition::read(text, &planned).err(), None, "{text}");
    }
}

#[test]
fn a_stack_is_known_by_its_whole_name() {
    with_comparison(|of| {
        assert_named(
            of,
            &[
                ("server.openssl-3.5.1.3.full > 1ms", "server.openssl-3.5.1.3.full.median"),
                ("server.openssl-3.1.3 > 1ms", "server.openssl-3.1.3.median"),
                ("mine.openssl-3.p99 > 1ms", "mine.openssl-3.p99"),
                ("baseline.x25519.change.1.3.low.p-256.mine.server > 5%", "baseline.server.mine.1.3.p-256.x25519.change"),
                ("baseline.wall.mine > 5%", "baseline.wall.mine.change"),
                ("baseline.instructions > 2%", "baseline.instructions"),
            ],
        );
        assert_refused(
            of,
            &[
                ("", 1, "a side or clock"),
                ("server.mime > 1ms", 8, "a stack (openssl-3, openssl-3.5, mine, full)"),
                ("mine.mine.mine > 1ms", 11, "two stacks"),
                ("server.baseline > 5%", 8, "baseline first"),
                ("server.change > 5%", 1, "'baseline.' in front"),
                ("baseline.median > 5ms", 1, "of the baseline, not median"),
                ("n.low > 5", 1, "n has no interval"),
                ("instructions > 5ms", 17, "no unit"),
                ("server.mine", 12, "one of < <="),
            ],
        );
    });
}

#[test]
fn a_comparison_that_cannot_have_the_figure_is_refused() {
    let (stacks, cases) = (["mine".to_owned()], [case(Version::Tls13, Kind::Full)]);
    let over = CompareOver::Memory;
    let planned = ComparePlanned { stacks: &stacks, cases: &cases, over, samples: 3, instructions: false, baseline: false };
    for (text, why) in [
        ("1.2 > 1ms", "this scenario with these flags excludes it"),
        ("ratio < 2", "this scenario with these flags excludes it"),
        ("wall > 1ms", "--over loopback"),
        ("instructions > 1", "--instructions"),
        ("median.low > 1ms", "raise --samples"),
        ("baseline.change > 1%", "--baseline FILE"),
    ] {
        let error = Condition::read(text, &planned).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
    assert_eq!(Condition::read("server.mine.1.3.full > 1ms", &planned).err(), None);
}

#[test]
fn a_path_names_any_figure_of_a_document() {
    let document = measured();
    for (met, not_met) in [
        (".runs[0].phases.tls.median_ns > 0.9ms", ".runs[0].phases.tls.median_ns > 1.1ms"),
        (".runs[].n >= 100", ".runs[].n < 100"),
        (".all_connections.full == 200", ".all_connections.full < 199"),
        (".interrupted == 0", ".interrupted == 1"),
        (".\"all_connections\".full > 1", ".all_connections.failed > 0"),
    ] {
        assert!(matches!(judged(met, &document), ConditionJudgement::Met(_)), "{met}: {:?}", judged(met, &document));
        assert_eq!(judged(not_met, &document), ConditionJudgement::NotMet, "{not_met}");
    }
    assert_met(
        ".runs[].phases.tls.p99_ns > 1us",
        &document,
        &[
            ".runs[0].phases.tls.p99_ns",
            ".runs[1].phases.tls.p99_ns",
            ".runs[2].phases.tls.p99_ns",
            ".runs[3].phases.tls.p99_ns",
        ],
    );
    let unknown = |text: &str| match judged(text, &document) {
        ConditionJudgement::Unknown(why) => why.join("; "),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(unknown(".no.such > 1"), "'.no.such' is not in the document");
    assert_eq!(unknown(".label > 1"), ".label is not a number");
    assert_refused(
        ConditionSubject::Other,
        &[
            ("", 1, "the place of a figure"),
            ("seconds > 1", 1, "the place of a figure"),
            (". > 1", 2, "a key of the document"),
            (".a[x] > 1", 4, "']'"),
            (".a[99999999999999999999] > 1", 3, "the place of an element"),
            (".\"a > 1", 8, "'\"'"),
            (".a_ns > 5", 10, "a unit: ns, us"),
            (".a > 5ms", 7, "% or no unit"),
        ],
    );
    assert_refused(ConditionSubject::Other, &[(&format!("{} > 1", ".a".repeat(40)), 65, "fewer keys")]);
}

#[test]
fn of_a_fleet_the_shared_part_is_judged() {
    let of = ConditionSubject::Diagnosis;
    assert_named(of, &[("fleet.shared < 100%", "fleet.shared"), ("shared.fleet >= 50%", "fleet.shared")]);
    assert_refused(
        of,
        &[
            ("fleet < 100%", 1, "'fleet.shared'"),
            ("shared < 100%", 7, "a phase or a figure"),
            ("fleet.shared < 1", 17, "a unit: %"),
            ("1.3.fleet.shared < 100%", 1, "without a version or a kind"),
            ("findings.shared > 0", 1, "'fleet.shared'"),
        ],
    );
}

#[test]
fn answers_that_differ_are_counted() {
    use reprise_diagnosis::example::another_status;
    use reprise_model::document::Confidence;
    let of_kind = |kind| another_status("1.3", kind, 496, Confidence::Certain);
    let mut document = measured();
    assert_eq!(judged("answers.differ > 0", &document), ConditionJudgement::NotMet);
    document.answers_differ = vec![of_kind(Kind::Ticket)];
    assert_met("answers.differ > 0", &document, &["localhost: answers.differ"]);
    assert_met("1.3.ticket.answers.differ >= 1", &document, &["localhost: 1.3.ticket.answers.differ"]);
    assert_eq!(judged("1.2.answers.differ > 0", &document), ConditionJudgement::NotMet);
    document.runs.retain(|run| run.asked.kind == Kind::Full);
    assert!(matches!(judged("answers.differ > 0", &document), ConditionJudgement::Unknown(_)));
    assert_refused(ConditionSubject::Measurement, &[("answers > 0", 1, "'answers.differ'"), ("differ > 0", 1, "a version")]);
    assert_named(ConditionSubject::Load, &[("answers.differ > 0", "answers.differ")]);
    assert_named(ConditionSubject::Diagnosis, &[("1.3.answers.differ > 0", "1.3.answers.differ")]);
}
