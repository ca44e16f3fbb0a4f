//! `reprise compare --rtt`: handshakes over links that are not there.

use reprise_harness::Reprise;
use serde_json::Value;

const RESUMPTION: &str = "compare resumption --keys p-256 --groups secp256r1 --stacks rustls-aws-lc --quick";

/// Of one handshake of the server's own key exchange.
fn rows<'v>(document: &'v Value, tls: &str, kind: &str) -> Vec<&'v Value> {
    let is_it = |row: &&Value| row["case"]["tls"] == tls && row["case"]["kind"] == kind;
    document["links"]["rows"].as_array().unwrap().iter().filter(is_it).collect()
}

fn request(row: &Value, figure: &str) -> u64 {
    row["request"][figure].as_u64().unwrap()
}

#[test]
fn each_handshake_takes_as_many_round_trips_as_it_has() {
    let (document, outcome) = Reprise::without_plugins(&format!("{RESUMPTION} --rtt 20ms,40ms")).run_for_json();
    outcome.exits(0);
    // In halves: one of TCP, those of TLS, and the request's way.
    for (tls, kind, halves) in [
        ("1.2", "full", 7),
        ("1.2", "id", 5),
        ("1.2", "ticket", 5),
        ("1.3", "full", 5),
        ("1.3", "ticket", 5),
        ("1.3", "early", 3),
    ] {
        let rows = rows(&document, tls, kind);
        let [at_20, at_40] = rows[..] else { panic!("{tls} {kind}: {rows:#?}") };
        let more = request(at_40, "median_ns") - request(at_20, "median_ns");
        assert_eq!(more, halves * 10_000_000, "{tls} {kind}");
        // CPU time of both sides, of which a part overlaps.
        let computing = request(at_20, "median_ns") - halves * 10_000_000;
        let turns =
            document["links"]["recordings"].as_array().unwrap().iter().find(|it| it["case"] == at_20["case"]).unwrap();
        let cpu: u64 = turns["turns"].as_array().unwrap().iter().map(|turn| turn["cpu_ns"].as_u64().unwrap()).sum();
        assert!(computing > 0 && computing <= cpu, "{tls} {kind}: {computing} ns of {cpu}");
    }
}

#[test]
fn a_handshake_that_falls_behind_has_its_round_trip_time_named() {
    let (document, outcome) = Reprise::without_plugins(&format!("{RESUMPTION} --rtt 0..200ms")).run_for_json();
    outcome.exits(0);
    let links = &document["links"];
    let at = |case: &Value, rtt_ns: u64| {
        let is_it = |row: &&Value| row["case"] == *case && row["link"]["rtt_ns"] == rtt_ns;
        request(links["rows"].as_array().unwrap().iter().find(is_it).unwrap(), "median_ns")
    };
    let cases: Vec<&Value> = links["recordings"].as_array().unwrap().iter().map(|it| &it["case"]).collect();
    let mut behind = 0;
    for (place, one) in cases.iter().enumerate() {
        for other in &cases[place + 1..] {
            let is_ahead = [0, 200_000_000].map(|rtt| at(one, rtt) < at(other, rtt));
            let named = links["crossings"].as_array().unwrap().iter().find(|it| {
                (it["below"] == **one && it["above"] == **other) || (it["below"] == **other && it["above"] == **one)
            });
            assert_eq!(named.is_some(), is_ahead[0] != is_ahead[1], "{one:#} {other:#}");
            let Some(named) = named else { continue };
            assert_eq!(named["below"] == **one, is_ahead[0], "{named:#}");
            assert!((1..200_000_000).contains(&named["rtt_ns"].as_u64().unwrap()), "{named:#}");
            behind += 1;
        }
    }
    assert_eq!(behind, links["crossings"].as_array().unwrap().len());
}

#[test]
fn bandwidth_loss_and_window_take_their_time() {
    let line = "compare full --tls 1.3 --keys p-256 --groups x25519 --stacks rustls-aws-lc --quick --rtt 20ms";
    let of = |more: &str| {
        let (document, outcome) = Reprise::without_plugins(&format!("{line} {more}")).run_for_json();
        outcome.exits(0);
        rows(&document, "1.3", "full").into_iter().cloned().collect::<Vec<_>>()
    };
    let slow = &of("--bandwidth 100kbit")[0];
    // A flight of a kilobyte takes 80 ms.
    assert!(request(slow, "median_ns") > 120_000_000, "{slow:#}");
    let lost = &of("--loss 2%")[0];
    assert!(request(lost, "p99_ns") > 1_000_000_000, "a lost SYN takes a second: {lost:#}");
    assert!(request(lost, "median_ns") < 60_000_000 && request(lost, "mean_ns") > request(lost, "median_ns"), "{lost:#}");
    let chain = "compare full --tls 1.3 --keys ml-dsa-65-chain --groups x25519 --stacks rustls-aws-lc --quick --rtt 100ms";
    let (document, outcome) = Reprise::without_plugins(&format!("{chain} --initcwnd 3,40")).run_for_json();
    outcome.exits(0);
    let [small, large] = rows(&document, "1.3", "full")[..] else { panic!("{document:#}") };
    let more = request(small, "median_ns") - request(large, "median_ns");
    assert!((190_000_000..=200_000_000).contains(&more), "3 segments, 6, then the rest: {more} ns more");
}

#[test]
fn a_link_that_is_none_is_refused() {
    for (flags, words) in [
        ("full --rtt 10ms..1ms", "its end must be above its begin"),
        ("full --rtt 1ms --bandwidth 10", "use 64kbit, 10mbit or 1gbit"),
        ("full --rtt 1ms --loss 3", "use 1% or 0.5%"),
        ("full --loss 1%", "--rtt"),
        ("full --rtt 1ms --initcwnd 0", "1..=1000"),
        ("full --rtt 1ms --over loopback", "remove '--over loopback'"),
        ("memory --rtt 1ms", "measures no handshakes"),
        ("throughput --rtt 1ms", "measures no handshakes"),
    ] {
        Reprise::without_plugins(&format!("compare {flags}")).run().exits(2).says(&[words]);
    }
}
