//! The phases that `measure` prints, against the packets that passed meanwhile.

use std::io::{self, Write};

use reprise_lab::KeyKind;
use reprise_model::Phase;
use reprise_model::document::SampleRecord;
use reprise_servers::{Nginx, NginxConfig, RealServer};

use crate::clock::packets::{Capture, Packets};
use reprise_harness::{Lab, not_run};

const COUNT: u32 = 50;

/// The clock that stamps packets may be slewed against ours, by no more than 500 parts in a million.
const SLEW: f64 = 500e-6;

#[test]
fn every_phase_holds_its_packets_and_ends_before_the_next() {
    reprise_servers::require!("nginx", "dumpcap", "tshark");
    let lab = Lab::new();
    let server = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let port = server.address().port();
    let Some(capture) = Capture::start(lab.directory(), port) else { return not_run("leave to capture on loopback") };

    let key_log = lab.path("keys.log");
    let target = format!("{}/64k", server.address());
    let outcome = lab.measure(target).count(COUNT).env("SSLKEYLOGFILE", &key_log).run().exits(0);
    let samples = outcome.document().samples;
    let clients: Vec<u16> = samples.iter().map(|sample| sample.local_port).collect();
    let packets = capture.finish(&key_log, port, &clients);

    let mut comparisons: Vec<Comparison> = SPANS.iter().map(Comparison::new).collect();
    for sample in &samples {
        // Of a port that served twice it cannot be said which connection is the sample's.
        if let [packets] = packets.get(&sample.local_port).unwrap().as_slice() {
            comparisons.iter_mut().for_each(|comparison| comparison.take(sample, packets));
        }
    }
    assert!(comparisons.iter().all(|comparison| comparison.ours.len() > samples.len() * 9 / 10));
    report(&comparisons);
    comparisons.iter().for_each(Comparison::judge);
}

/// A stretch of phases, between the packets that it must hold and the packets that must lie outside.
struct Span {
    name: &'static str,
    phases: &'static [Phase],
    /// From the first packet that must lie within to the last.
    inner: fn(&Packets) -> (u64, u64),
    /// From the packet with which it begins to the one that the client sends next.
    outer: fn(&Packets) -> (u64, u64),
}

const SPANS: [Span; 5] = [
    Span {
        name: "connect",
        phases: &[Phase::Connect],
        inner: |it| (it.syn, it.syn_ack),
        outer: |it| (it.syn, it.client_hello),
    },
    Span {
        name: "tls",
        phases: &[Phase::Tls],
        inner: |it| (it.client_hello, it.last_of_handshake),
        outer: |it| (it.client_hello, it.request.unwrap()),
    },
    Span {
        name: "wait",
        phases: &[Phase::Wait],
        inner: |it| (it.request.unwrap(), it.first_of_response.unwrap()),
        outer: |it| (it.request.unwrap(), it.closing.unwrap()),
    },
    Span {
        name: "wait + receive",
        phases: &[Phase::Wait, Phase::Receive],
        inner: |it| (it.request.unwrap(), it.last_of_response),
        outer: |it| (it.request.unwrap(), it.closing.unwrap()),
    },
    Span {
        name: "total",
        phases: &[Phase::Total],
        inner: |it| (it.syn, it.last_of_response),
        outer: |it| (it.syn, it.closing.unwrap()),
    },
];

/// One span over all samples, in nanoseconds.
struct Comparison {
    span: &'static Span,
    ours: Vec<f64>,
    inner: Vec<f64>,
    outer: Vec<f64>,
}

impl Comparison {
    fn new(span: &'static Span) -> Self {
        Self { span, ours: Vec::new(), inner: Vec::new(), outer: Vec::new() }
    }

    fn take(&mut self, sample: &SampleRecord, packets: &Packets) {
        let ours: u64 = self.span.phases.iter().map(|&phase| sample.phases.of(phase).unwrap().0).sum();
        self.ours.push(ours as f64);
        for (times, span) in [(&mut self.inner, self.span.inner), (&mut self.outer, self.span.outer)] {
            let (from, to) = span(packets);
            times.push(to.checked_sub(from).unwrap_or_else(|| panic!("out of order: {packets:?}")) as f64);
        }
    }

    /// How much longer ours are than those of the packets.
    fn offsets(&self, packets: &[f64]) -> Vec<f64> {
        self.ours.iter().zip(packets).map(|(ours, packets)| ours - packets).collect()
    }

    /// We read the clock before we send and after we have received, so no packet of a phase can lie outside it. And it must
    /// be over before the next packet leaves: what we are late by at its beginning is little beside it.
    fn judge(&self) {
        let name = self.span.name;
        for (ours, inner) in self.ours.iter().zip(&self.inner) {
            assert!(*ours >= inner * (1.0 - SLEW), "{name}: {ours} ns, and its packets took {inner}");
        }
        let excess = quantile(self.offsets(&self.outer), 0.5);
        let outer = quantile(self.outer.clone(), 0.5);
        assert!(excess < outer / 4.0, "{name}: {excess} ns longer than from its first packet to the next phase's, {outer}");
    }
}

/// Offset and spread of each span.
fn report(comparisons: &[Comparison]) {
    let mut page = format!(
        "\n{:<15} {:>5} {:>10} {:>10} {:>10} {:>17}\n",
        "µs, medians", "n", "packets", "measured", "offset", "offset p10 to p90"
    );
    for it in comparisons {
        let micros = |values: Vec<f64>, q| quantile(values, q) / 1e3;
        let offset = |q| micros(it.offsets(&it.inner), q);
        page += &format!(
            "{:<15} {:>5} {:>10.1} {:>10.1} {:>10.1} {:>8.1} {:>8.1}\n",
            it.span.name,
            it.ours.len(),
            micros(it.inner.clone(), 0.5),
            micros(it.ours.clone(), 0.5),
            offset(0.5),
            offset(0.1),
            offset(0.9)
        );
    }
    let _ = io::stderr().write_all(page.as_bytes());
}

fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * q).round() as usize]
}
