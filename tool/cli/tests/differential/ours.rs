//! Reprise's own account: `reprise trace --json`.

use std::fs;
use std::path::PathBuf;

use reprise_model::document::{TraceDocument, TracedConnection};
use reprise_model::{ClientAuthentication, EarlyData, Version};

use crate::differential::account::{Account, Visit, Visits, yes};
use crate::differential::combination::Combination;
use reprise_harness::{Lab, Reprise};

pub(crate) fn visit(lab: &Lab, combination: &Combination) -> Visits {
    let json = tempfile::NamedTempFile::new_in(lab.directory()).unwrap();
    let call = Reprise::new(["trace".to_owned(), format!("{}/", combination.address), "--count=0".to_owned()]);
    let call = call.arg("--ca").arg(lab.ca()).arg("--json").arg(json.path()).args(["--tls", combination.version.number()]);
    let call = call.args(["--ciphers", combination.suite.iana, "--groups", combination.group, "--sni", "localhost"]);
    let call = call.args(["--alpn", if combination.alpn { "http/1.1" } else { "" }]);
    let call = match certificate(lab, combination) {
        Some((certificate, key)) => call.arg("--cert").arg(certificate).arg("--key").arg(key),
        None => call,
    };
    let call = if combination.early_data { call.args(["--kind", "early"]) } else { call };
    let outcome = call.run();
    // 1: the kind was not observed, which is for the comparison to judge.
    assert!([0, 1, 3].contains(&outcome.code), "{combination}: {}", outcome.stderr);
    let document: Option<TraceDocument> =
        fs::read_to_string(json.path()).ok().and_then(|text| serde_json::from_str(&text).ok());
    match document.as_ref().and_then(|document| document.traces.first()) {
        Some(trace) => Visits {
            first: trace.full.as_ref().map_or(Visit::Refused, completed),
            second: trace.resumed.as_ref().map(completed),
        },
        None => Visits { first: Visit::Refused, second: None },
    }
}

/// The client's certificate and key for this combination, written where every client finds them.
pub(crate) fn certificate(lab: &Lab, combination: &Combination) -> Option<(PathBuf, PathBuf)> {
    combination.certificate.then(|| (lab.path("client-cert.pem"), lab.path("client-key.pem")))
}

fn completed(connection: &TracedConnection) -> Visit {
    let outcome = &connection.outcome;
    Visit::Done(Account {
        resumed: outcome.kind != reprise_model::Kind::Full,
        version: Some(outcome.version.number().to_owned()),
        cipher: Some(outcome.cipher.clone()),
        group: Some(outcome.group.clone().unwrap_or_else(|| "none".to_owned())),
        alpn: Some(outcome.alpn.clone().unwrap_or_else(|| "none".to_owned())),
        extended_master_secret: (outcome.version == Version::Tls12).then(|| yes(outcome.extended_master_secret)),
        certificate_requested: Some(yes(outcome.client_authentication != ClientAuthentication::NotRequested)),
        early_data_accepted: outcome.early_data.map(|early_data| yes(early_data == EarlyData::Accepted)),
    })
}
