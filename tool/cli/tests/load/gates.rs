//! Loads that are held against conditions, and side by side.

use reprise_harness::{Lab, Outcome, Reprise};
use reprise_lab::EmbeddedResumption;

use crate::load::harness::document;

fn load(lab: &Lab, arguments: &[&str]) -> Outcome {
    let server = lab.server(EmbeddedResumption::Ticket);
    Reprise::load(server.address()).flags("-c 4 -n 60 --quiet").args(arguments).run()
}

#[test]
fn a_condition_that_is_met_fails_the_load_and_says_why() {
    let lab = Lab::new();
    let junit = lab.path("junit.xml");
    let conditions = ["--fail-if", "failed > 0", "--fail-if", "latency.p99 > 1ns", "--fail-if", "status.200 < 100%"];
    let outcome = load(&lab, &[&conditions[..], &["--junit", junit.to_str().unwrap()]].concat());
    let outcome = outcome.exits(1).says(&["--fail-if 'latency.p99 > 1ns' is met", "full latency p99 is"]);
    let document = document(&outcome);
    let outcomes: Vec<&str> =
        document["conditions"].as_array().unwrap().iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["not_met", "met", "not_met"]);
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("tests=\"4\" skipped=\"0\" failures=\"1\" errors=\"0\"") || junit.contains("failures=\"1\""),
        "{junit}"
    );
    assert!(junit.contains("name=\"reached\"") && junit.contains("latency.p99 &gt; 1ns"), "{junit}");
}

#[test]
fn a_load_that_holds_ends_well() {
    let conditions = ["--fail-if", "failed > 0", "--fail-if", "full.tls.p50 > 60s", "--fail-if", "rate < 0.001/s"];
    document(&load(&Lab::new(), &conditions).exits(0).silently());
}

#[test]
fn two_loads_stand_side_by_side_and_other_results_are_refused() {
    let lab = Lab::new();
    let result = |name, flags: &[&str]| {
        let outcome = load(&lab, flags);
        document(&outcome);
        lab.file(name, outcome.json.unwrap())
    };
    let (before, after) = (result("before.json", &[]), result("after.json", &["--requests", "2"]));
    let side_by_side = |other| Reprise::new(["report"]).arg(&before).arg(other);
    let shown = side_by_side(&after).keeping_its_document().run().exits(0);
    let shown = shown.shows(&["before against after", "tls p50", "client cpu", "requests", "ratio"]);
    let document = shown.json_of("reprise.side-by-side/1");
    let named: Vec<&str> =
        document["differences"].as_array().unwrap().iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert!(named.contains(&"requests") && named.contains(&"port") && !named.contains(&"groups"), "{named:?}");
    let rows = document["rows"].as_array().unwrap();
    let median = rows.iter().find(|it| it["phase"] == "tls" && it["figure"] == "p50").unwrap();
    let values = median["values"].as_array().unwrap();
    let of = |place: usize| values[place]["value"].as_f64().unwrap();
    assert!((values[1]["ratio"].as_f64().unwrap() - of(1) / of(0)).abs() < 1e-9, "{median}");
    assert!(values[1]["ratio_ci95"].is_array() && values[0]["ratio"].is_null(), "{median}");
    // It is a result as well.
    let side = lab.file("side.json", shown.json.unwrap());
    let again = Reprise::line("report --csv -").arg(&side).run();
    assert!(again.page.starts_with("tls,kind,phase,figure,unit,result,value,"), "{}", again.page);

    let open = result("open.json", &["--rate", "400"]);
    side_by_side(&open).run().exits(2).says(&["a closed loop"]);
    let other = result("other.json", &["--tls", "1.2"]);
    side_by_side(&other).run().says(&["has 1.3 full"]);
    side_by_side(&side).run().says(&["only results of one command"]);
}
