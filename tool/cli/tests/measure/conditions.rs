//! `--fail-if`: exit 1 when it is met, and when it cannot be evaluated; 2 when that is known before.

use reprise_lab::EmbeddedResumption;
use reprise_model::document::ConditionOutcome;

use reprise_harness::{Lab, Reprise};

#[test]
fn a_condition_that_is_met_ends_with_1_and_says_by_what() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let outcome = lab
        .measure(server.address())
        .count(8)
        .args([
            "--fail-if",
            "1.3.ticket.tls.p99 > 1ns",
            "--fail-if",
            "tls.resumed.ratio.low < 1000",
            "--fail-if",
            "failed > 0",
        ])
        .run()
        .exits(1)
        .says(&["--fail-if '1.3.ticket.tls.p99 > 1ns' is met:", "1.3 ticket tls p99 is", ", n = 8"])
        .says(&["--fail-if 'tls.resumed.ratio.low < 1000' is met:", "1.2 ticket tls ratio is", " to "]);
    assert!(!outcome.stderr.contains("failed > 0"), "{}", outcome.stderr);
    assert_eq!(outcome.document().samples.len(), 32, "the result is written all the same");
}

#[test]
fn conditions_that_are_not_met_end_with_0() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let conditions = ["failed > 0", "kinds.ticket < 100%", "1.3.full.tls > 9s", "tls.resumed.ratio < 0.0001", "full.n != 2"];
    let arguments = conditions.iter().flat_map(|condition| ["--fail-if", condition]);
    lab.measure(server.address()).count(2).args(arguments).run().exits(0).silently();
}

#[test]
fn the_document_keeps_what_came_of_each() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let conditions = ["1.3.full.tls > 1ns", "failed > 0", "1.3.ticket.tls > 9s"];
    let arguments = conditions.iter().flat_map(|condition| ["--fail-if", condition]);
    let outcome = lab.measure(server.address()).count(2).args(arguments).run().exits(1);
    let kept = outcome.document().conditions;
    assert_eq!(kept.iter().map(|record| record.condition.as_str()).collect::<Vec<_>>(), conditions);
    let outcomes: Vec<_> = kept.iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [ConditionOutcome::Met, ConditionOutcome::NotMet, ConditionOutcome::Unknown]);
    assert!(kept[0].because[0].contains("1.3 full tls median is ") && kept[1].because.is_empty(), "{kept:?}");

    let saved = lab.file("saved.json", outcome.json.as_deref().unwrap());
    let shown = Reprise::new(["report"]).arg(saved).run().exits(0);
    shown
        .shows(&["met --fail-if '1.3.full.tls > 1ns'", "1.3 full tls median is ", "not met --fail-if 'failed > 0'"])
        .shows(&["unknown --fail-if '1.3.ticket.tls > 9s'", "'1.3.ticket.tls.median' was not measured"]);
    let without = lab.measure(server.address()).count(1).run().exits(0);
    assert!(!without.json.unwrap().contains("conditions"));
}

#[test]
fn a_change_against_a_baseline_fails_the_gate() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let mut earlier = lab.measure(server.address()).count(6).run().exits(0).document();
    // As if every handshake had taken a microsecond.
    for tls in earlier.runs.iter_mut().filter_map(|run| run.phases.get_mut(&reprise_model::Phase::Tls)) {
        (tls.median_ns, tls.ci95_ns) = (1_000, Some([1_000, 1_000]));
    }
    let file = lab.file("before.json", serde_json::to_string(&earlier).unwrap());
    let measure = |condition: &str| {
        lab.measure(server.address()).count(6).arg("--baseline").arg(&file).args(["--fail-if", condition]).run()
    };
    measure("baseline.tls.full.change.low > 10%").exits(1).says(&["full tls change is +", " to +"]);
    measure("baseline.tls.slower > 0").exits(1).says(&["1.3 full tls"]);
    measure("baseline.tls.faster > 0").exits(0);
}

#[test]
fn a_condition_on_what_is_not_measured_is_refused_at_once() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    for (arguments, words) in [
        (&["--fail-if", "baseline.tls.change > 10%"][..], "--baseline FILE"),
        (&["--fail-if", "wait.full > 1s", "--no-request"], "--no-request"),
        (&["--fail-if", "1.3.tls > 1s", "--tls", "1.2"], "--tls and --kinds exclude"),
        (&["--fail-if", "kinds.early < 100%", "--tls", "1.2"], "--tls and --kinds exclude"),
        (&["--fail-if", "tls.ratio < 2", "--kinds", "ticket"], "add full to --kinds"),
        (&["--fail-if", "resolve > 1s"], "nothing is resolved"),
        (&["--fail-if", "proxy > 1s"], "it needs --proxy"),
        (&["--fail-if", "starttls.full > 1s"], "it needs --starttls"),
        (&["--fail-if", "tls.high > 1s", "--count", "5"], "raise --count"),
    ] {
        lab.measure(server.address()).args(arguments).run().exits(2).says(&["cannot be evaluated", words]);
    }
    assert_eq!(server.completed(), 0);
}
