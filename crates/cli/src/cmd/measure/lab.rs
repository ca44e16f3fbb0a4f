//! Without a target: an embedded lab on loopback. For each key, a server with resumption off, by session ID, by ticket.

use anyhow::Context;
use reprise_attempt::Target;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, Identity, KeyKind, Resumption, ServerSpec};
use reprise_probe::Interrupt;
use reprise_trace::Failure;
use reprise_trace::document::{LabDocument, Provenance};

use super::target::{self, Measured, Trust};
use super::{MeasureArgs, was_interrupted};
use crate::progress::Progress;

const KEYS: [KeyKind; 2] = [KeyKind::Rsa2048, KeyKind::P256];
const CONFIGURATIONS: [(&str, Resumption); 3] =
    [("off", Resumption::Off), ("id", Resumption::Id), ("ticket", Resumption::Ticket)];

pub(super) fn measure(
    arguments: &MeasureArgs,
    provenance: Provenance,
    progress: &Progress,
    interrupt: &Interrupt,
) -> anyhow::Result<(LabDocument, Option<Failure>)> {
    let mut results = Vec::new();
    let mut failure = None;
    let mut remaining = (KEYS.len() * CONFIGURATIONS.len()) as u64;
    'lab: for key in KEYS {
        // As in the field, the authority's key is of the same kind as the server's.
        let authority = Authority::with_key(key).context("cannot make a certificate authority")?;
        let identity = authority.server(&ServerSpec::new(key)).context("cannot make a certificate")?;
        for (name, resumption) in CONFIGURATIONS {
            remaining -= 1;
            let label = format!("{}/{name}", key.label());
            progress.begin(&label, remaining);
            let server = start(identity.clone(), resumption)?;
            let target = Target::at(server.address());
            let options = arguments.clone().into_options(Trust::Authority(authority.certificate().clone()))?;
            let Measured { mut document, failure: ended, .. } =
                target::measure(&target, &options, provenance.clone(), progress, interrupt);
            document.label = label;
            results.push(document);
            if was_interrupted(ended.as_ref()) {
                failure = ended;
                break 'lab;
            }
            failure = failure.or(ended);
        }
    }
    Ok((LabDocument { schema: LabDocument::SCHEMA.to_owned(), results, conditions: Vec::new(), provenance }, failure))
}

fn start(identity: Identity, resumption: Resumption) -> anyhow::Result<EmbeddedServer> {
    EmbeddedServer::start(EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity) })
        .context("cannot start an embedded server")
}
