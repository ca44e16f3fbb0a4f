//! Connections as an HTTP archive (HAR 1.2), which browsers' developer tools and other viewers open. Only what was observed: what is
//! not known is -1, as the format has it, or absent. A service that is not HTTP has entries with its timings alone.

use std::io;
use std::net::IpAddr;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use reprise_model::document::{
    ClientsDocument, LabDocument, MeasureDocument, Provenance, SampleRecord, Target, TraceDocument, TracedConnection,
};
use reprise_model::{Asked, Kind, Nanos, Phase, Phases};
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::document::{Document, Report};
use crate::format::Format;

/// `--har`: results that have single connections.
pub static FORMAT: Format = Format {
    name: "har",
    help: "Write each connection as an entry of an HTTP archive (HAR 1.2)",
    schemas: &[MeasureDocument::SCHEMA, LabDocument::SCHEMA, ClientsDocument::SCHEMA, TraceDocument::SCHEMA],
    write,
};

fn write(report: &Report<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    match report.document {
        Document::Measure(document) => archive(entries_of(document), failed(document), &document.provenance, out),
        Document::Lab(document) => several(&document.results, &document.provenance, out),
        Document::Clients(document) => several(&document.results, &document.provenance, out),
        Document::Trace(document) => archive(traced(document), document.failures.len() as u64, &document.provenance, out),
        _ => Ok(()),
    }
}

fn several(results: &[MeasureDocument], provenance: &Provenance, out: &mut Vec<u8>) -> io::Result<()> {
    let entries = results.iter().flat_map(entries_of).collect();
    archive(entries, results.iter().map(failed).fold(0, u64::saturating_add), provenance, out)
}

/// The two connections of each version.
fn traced(document: &TraceDocument) -> Vec<Value> {
    let connections = document.traces.iter().flat_map(|trace| {
        let asked = |kind| Asked { kind, ..trace.asked };
        let full = trace.full.iter().map(move |connection| (asked(Kind::Full), connection));
        full.chain(trace.resumed.iter().map(move |connection| (asked(trace.asked.kind), connection)))
    });
    // With a session of another process, the full handshake is the second.
    let mut connections: Vec<(Asked, &TracedConnection)> = connections.collect();
    connections.sort_by_key(|(_, connection)| connection.start_ns);
    connections.into_iter().map(|(asked, connection)| entry_of(document, asked, connection)).collect()
}

/// One connection with its request, whatever the result that it comes from.
struct Entry<'a> {
    started: String,
    target: &'a Target,
    asked: Asked,
    observed: Kind,
    alpn: Option<&'a str>,
    address: Option<&'a str>,
    local_port: u16,
    phases: &'a Phases,
    status: Option<u16>,
}

fn entries_of(document: &MeasureDocument) -> Vec<Value> {
    let mut samples: Vec<&SampleRecord> = document.samples.iter().collect();
    samples.sort_by_key(|sample| sample.start_ns);
    let entry = |sample: &&SampleRecord| {
        let run = document.run(sample.asked.tls, sample.asked.kind);
        Entry {
            started: started(&document.provenance, sample.start_ns),
            target: &document.target,
            asked: sample.asked,
            observed: sample.kind,
            alpn: run.and_then(|run| run.observed.alpn.as_deref()),
            address: sample.address.as_deref(),
            local_port: sample.local_port,
            phases: &sample.phases,
            status: sample.http_status,
        }
        .to_json()
    };
    samples.iter().map(entry).collect()
}

fn entry_of(document: &TraceDocument, asked: Asked, connection: &TracedConnection) -> Value {
    Entry {
        started: started(&document.provenance, connection.start_ns),
        target: &document.target,
        asked,
        observed: connection.outcome.kind,
        alpn: connection.outcome.alpn.as_deref(),
        address: document.target.address.as_deref(),
        local_port: connection.local_port,
        phases: &connection.phases,
        status: connection.http_status,
    }
    .to_json()
}

fn failed(document: &MeasureDocument) -> u64 {
    document.all_connections.failed
}

/// When a connection began. The document says to the second when the first one did.
fn started(provenance: &Provenance, after_ns: Option<u64>) -> String {
    let after = Duration::nanoseconds(after_ns.and_then(|ns| i64::try_from(ns).ok()).unwrap_or_default());
    let began = OffsetDateTime::parse(&provenance.time, &Rfc3339).ok();
    let began = began.unwrap_or(OffsetDateTime::UNIX_EPOCH).checked_add(after);
    began.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_else(|| provenance.time.clone())
}

impl Entry<'_> {
    fn to_json(&self) -> Value {
        let timings = timings(self.phases);
        let Self { target, asked, observed, .. } = self;
        let http_version = match (self.status, self.alpn) {
            (None, _) => "",
            (Some(_), Some("h2")) => "HTTP/2",
            (Some(_), _) => "HTTP/1.1",
        };
        let mut entry = json!({
            "startedDateTime": self.started,
            "time": sum(&timings),
            "request": {
                "method": self.status.and(target.method.as_deref()).unwrap_or_default(),
                "url": url(target),
                "httpVersion": http_version,
                "cookies": [], "headers": [], "queryString": [],
                "headersSize": -1, "bodySize": -1,
            },
            "response": {
                "status": self.status.unwrap_or_default(),
                "statusText": "",
                "httpVersion": http_version,
                "cookies": [], "headers": [],
                "content": { "size": -1, "mimeType": "" },
                "redirectURL": "",
                "headersSize": -1, "bodySize": -1,
            },
            "cache": {},
            "timings": { "blocked": -1 },
            "connection": self.local_port.to_string(),
            "comment": format!("{}, observed: {observed}, asked for: {}", asked.tls, asked.kind),
        });
        for (name, millis) in timings {
            entry["timings"][name] = millis.into();
        }
        // Behind a proxy, it is the proxy that was connected to.
        let is_address = |address: &&str| target.proxy.is_none() && address.parse::<IpAddr>().is_ok();
        if let Some(address) = self.address.filter(is_address) {
            entry["serverIPAddress"] = address.into();
        }
        entry
    }
}

/// The phases that HAR has, in milliseconds, -1 where there was no such phase.
fn timings(phases: &Phases) -> [(&'static str, f64); 6] {
    // HAR counts the handshake into `connect`, and has no name for what a proxy and STARTTLS take before it.
    let connecting = [Phase::Connect, Phase::Proxy, Phase::Starttls, Phase::Tls].map(|phase| phases.of(phase));
    let connect = connecting.into_iter().flatten().reduce(|sum, it| Nanos(sum.0.saturating_add(it.0)));
    let timings = [
        ("dns", phases.resolve),
        ("connect", connect),
        ("ssl", phases.tls),
        ("send", send(phases)),
        ("wait", phases.wait),
        ("receive", phases.receive),
    ];
    timings.map(|(name, time)| (name, time.map_or(-1.0, |Nanos(ns)| ns as f64 / 1e6)))
}

/// The whole is the sum of what is known, to the nanosecond; `ssl` is in `connect` already.
fn sum(timings: &[(&str, f64)]) -> f64 {
    let known = timings.iter().filter(|(name, millis)| *name != "ssl" && *millis > 0.0);
    (known.map(|(_, millis)| millis).sum::<f64>() * 1e6).round() / 1e6
}

/// The client's write of its request: what of the whole lies in no phase. Unknown where the request went with the first flight.
fn send(phases: &Phases) -> Option<Nanos> {
    let (total, _) = (phases.total?, phases.wait?);
    let parts = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Total).filter_map(|phase| phases.of(phase));
    let known = parts.fold(0_u64, |sum, part| sum.saturating_add(part.0));
    total.0.checked_sub(known).map(Nanos)
}

/// What a URL does not allow as it is: the mark in place of a query that was hidden.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'\\').add(b'{').add(b'}');

fn url(target: &Target) -> String {
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    let scheme = if target.path.is_some() { "https" } else { target.starttls.as_deref().unwrap_or("tls") };
    let path = target.path.as_deref().unwrap_or_default();
    utf8_percent_encode(&format!("{scheme}://{host}:{}{path}", target.port), ESCAPED).to_string()
}

fn archive(entries: Vec<Value>, failed: u64, provenance: &Provenance, out: &mut Vec<u8>) -> io::Result<()> {
    let mut comment =
        "Times are those that the client observed. Each entry is a connection of its own; `connection` is the \
                       client's port. Times of day are as exact as a second, distances between them are exact."
            .to_owned();
    if failed > 0 {
        comment.push_str(&format!(" {failed} connections failed and are not among the entries."));
    }
    let archive = json!({
        "log": {
            "version": "1.2",
            "creator": { "name": "reprise", "version": provenance.version },
            "entries": entries,
            "comment": comment,
        }
    });
    crate::json::write(&archive, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_no_phase_is_the_request_on_its_way() {
        let ns = |ns| Some(Nanos(ns));
        let phases =
            Phases { connect: ns(1), tls: ns(10), wait: ns(100), receive: ns(1000), total: ns(1115), ..Phases::default() };
        assert_eq!(send(&phases), Some(Nanos(4)));
        assert_eq!(send(&Phases { wait: None, ..phases }), None, "no request, no write");
        assert_eq!(send(&Phases { total: ns(900), ..phases }), None, "phases that overlap leave it unknown");
        assert_eq!(timings(&phases)[1], ("connect", 11e-6), "with the handshake, as HAR has it");
    }

    #[test]
    fn a_hidden_query_leaves_a_url() {
        let target =
            Target { host: "::1".to_owned(), port: 8443, path: Some("/a?<hidden>".to_owned()), ..Target::default() };
        assert_eq!(url(&target), "https://[::1]:8443/a?%3Chidden%3E");
    }
}
