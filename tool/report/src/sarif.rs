//! A diagnosis as SARIF 2.1.0, the format of code scanning: a run, a rule for each cause that was found, a result for each
//! finding. A fault is an `error`, a risk a `warning`, a note a `note`. A target that was not reached is a notification of the
//! invocation, and its run is not successful.

use reprise_diagnosis::cause;
use reprise_model::document::{DiagnoseDocument, Diagnosis, Finding, Severity};
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::Document;
use crate::format::Format;

/// `--sarif`.
pub static FORMAT: Format = Format {
    name: "sarif",
    help: "Write the findings as SARIF 2.1.0, for code scanning",
    schemas: &[DiagnoseDocument::SCHEMA],
    write: |report, out| match report.document {
        Document::Diagnose(document) => crate::json::write(&log(document), out),
        _ => Ok(()),
    },
};

fn log(document: &DiagnoseDocument) -> Value {
    let rules = rules(document);
    let of_target = |target: &Diagnosis| {
        let results = target.findings.iter().map(|finding| result(target, finding, &rules));
        results.collect::<Vec<_>>()
    };
    let results: Vec<Value> = document.subjects().flat_map(|target| of_target(&target)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "reprise",
                "semanticVersion": document.provenance.version,
                "informationUri": REPOSITORY,
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": document.subjects().all(|target| !target.has_failed()),
                "toolExecutionNotifications": document.subjects().flat_map(|target| notifications(&target)).collect::<Vec<_>>(),
            }],
            "results": results,
        }],
    })
}

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// A reportingDescriptor (SARIF §3.49).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_description: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Value>,
}

/// A multiformatMessageString, as plain text and where it has one as Markdown.
#[derive(Serialize)]
struct Text {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
}

/// Each cause that was found, once, in the order of its first finding.
fn rules(document: &DiagnoseDocument) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for (_, finding) in document.findings() {
        if rules.iter().all(|rule| rule.id != finding.id) {
            rules.push(rule(finding));
        }
    }
    rules
}

/// What is known of the cause; of one that a later version knows, no more than the finding says.
fn rule(finding: &Finding) -> Rule {
    let plain = |text: &str| Text { text: text.to_owned(), markdown: None };
    let known = cause(&finding.id);
    Rule {
        id: finding.id.clone(),
        short_description: plain(known.map_or(&finding.title, |cause| cause.page.title)),
        full_description: known.map(|cause| plain(cause.page.happens)),
        help: known.map(|cause| Text {
            text: cause.page.seen.to_owned(),
            markdown: Some(crate::cause_page::markdown::page(cause)),
        }),
        help_uri: known.map(|cause| format!("{REPOSITORY}/blob/main/docs/causes/{}.md", cause.slug)),
        // By these, code scanning shows it among the security results, and how grave it is.
        properties: known
            .and_then(|cause| cause.security_severity)
            .map(|severity| json!({ "security-severity": severity, "tags": ["security"] })),
    }
}

fn result(target: &Diagnosis, finding: &Finding, rules: &[Rule]) -> Value {
    let level = match finding.severity {
        Severity::Fault => "error",
        Severity::Risk => "warning",
        Severity::Note => "note",
    };
    let text: Vec<String> = [format!("{}: {}", target.target, finding.title)]
        .into_iter()
        .chain(finding.evidence.iter().cloned())
        .chain(finding.steps(None).into_iter().map(|step| format!("→ {step}")))
        .collect();
    json!({
        "ruleId": finding.id,
        "ruleIndex": rules.iter().position(|rule| rule.id == finding.id),
        "level": level,
        "message": { "text": text.join("\n") },
        "locations": [{
            // Code scanning asks for a file; this is what stands in its place.
            "physicalLocation": { "artifactLocation": { "uri": uri(&target.target) } },
            "logicalLocations": [{ "fullyQualifiedName": target.target, "kind": "resource" }],
        }],
        "partialFingerprints": { "targetAndCause/v1": format!("{} {}", target.target, finding.id) },
        "properties": {
            "severity": finding.severity,
            "confidence": finding.confidence,
            "address": target.address,
            "software": target.software,
            "evidence": finding.evidence,
            "cost_ns": finding.cost_ns,
            "cost_cpu": finding.cost_cpu,
            "remedies": finding.remedies,
        },
    })
}

/// What a reader of the results alone would miss: targets that were not reached, and what was not tried.
fn notifications(target: &Diagnosis) -> Vec<Value> {
    let notification =
        |level: &str, text: &str| json!({ "level": level, "message": { "text": format!("{}: {text}", target.target) } });
    let unreached = (!target.reached && target.failure.is_none()).then(|| notification("error", &target.verdict));
    let failure = target.failure.iter().map(|failure| notification("error", &failure.to_string()));
    unreached.into_iter().chain(failure).chain(target.warnings.iter().map(|text| notification("warning", text))).collect()
}

/// The target as a URI, whatever is in its name (RFC 3986 §2.1).
fn uri(target: &str) -> String {
    let mut uri = "tls://".to_owned();
    for byte in target.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' | b'/' => uri.push(char::from(byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_uri() {
        assert_eq!(uri("example.org:443/a b?\"\u{1b}"), "tls://example.org:443/a%20b%3F%22%1B");
        assert_eq!(uri("[::1]:443"), "tls://%5B::1%5D:443");
    }
}
