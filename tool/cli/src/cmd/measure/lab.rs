//! Without a target: an embedded lab on loopback. For each key, a server with resumption off, by session ID, by ticket.

use anyhow::Context;
use reprise_connection::Target;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, Identity, KeyKind, ServerSpec};
use reprise_model::Failure;
use reprise_model::document::{LabDocument, Provenance};
use reprise_probe::{Interrupt, measure_in_turns};

use super::flags::MeasureArgs;
use super::measured::explained;
use super::was_interrupted;
use crate::progress::Progress;

const KEYS: [KeyKind; 2] = [KeyKind::Rsa2048, KeyKind::P256];
const CONFIGURATIONS: [(&str, EmbeddedResumption); 3] =
    [("off", EmbeddedResumption::Off), ("id", EmbeddedResumption::Id), ("ticket", EmbeddedResumption::Ticket)];

/// Of the order in which the servers take their turns.
const SEED: u64 = 0x6c61_6221;

pub(super) fn measure(
    arguments: &MeasureArgs,
    provenance: Provenance,
    progress: &Progress,
    interrupt: &Interrupt,
) -> anyhow::Result<(LabDocument, Option<Failure>)> {
    let (mut labels, mut servers, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    for key in KEYS {
        // As in the field, the authority's key is of the same kind as the server's.
        let authority = Authority::with_key(key).context("cannot create a certificate authority")?;
        let identity = authority.server(&ServerSpec::new(key)).context("cannot create a certificate")?;
        for (name, resumption) in CONFIGURATIONS {
            let server = start(identity.clone(), resumption)?;
            let options = arguments.clone().into_options(Some(authority.certificate().clone()))?;
            labels.push(format!("{}/{name}", key.label()));
            targets.push((Target::at(server.address()), options));
            servers.push(server);
        }
    }
    // The rows of a table are compared: what drifts must drift for all servers.
    let measurements = measure_in_turns(&targets, SEED, progress, interrupt);
    let (mut results, mut failure) = (Vec::new(), None);
    for ((label, (target, options)), measurement) in labels.into_iter().zip(&targets).zip(&measurements) {
        let (mut document, ended) = explained(target, options, measurement, provenance.clone());
        document.label = label;
        results.push(document);
        failure = match failure {
            Some(known) if !was_interrupted(ended.as_ref()) => Some(known),
            known => ended.or(known),
        };
    }
    Ok((LabDocument { schema: LabDocument::SCHEMA.to_owned(), results, conditions: Vec::new(), provenance }, failure))
}

fn start(identity: Identity, resumption: EmbeddedResumption) -> anyhow::Result<EmbeddedServer> {
    EmbeddedServer::start(EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity) })
        .context("cannot start an embedded server")
}
