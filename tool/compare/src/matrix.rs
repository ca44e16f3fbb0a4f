//! What works with what.

use std::collections::BTreeMap;

use reprise_model::document::CompareMatrixCell;
use reprise_model::{Kind, Version};
use reprise_pairs::{Audience, Case, Described, Job, Launcher, NO_GROUP, Prepare, Worker};

use crate::comparison::ComparisonPlan;

/// Every client with every server, one handshake of each version and kind: by the key and the group that most can.
pub(crate) fn matrix(
    comparison: &ComparisonPlan<'_>,
    stacks: &[&Described<'_>],
    launcher: &Launcher,
    audience: &mut dyn Audience,
) -> Vec<CompareMatrixCell> {
    let mut wanted: BTreeMap<(Version, Kind, bool), Case> = BTreeMap::new();
    for case in comparison
        .handshakes
        .cases
        .iter()
        .filter(|case| !case.mutual && !case.retried && !case.hybrid_share && case.request == (case.kind == Kind::Early))
    {
        let known = wanted.entry((case.version, case.kind, case.psk_ke)).or_insert(*case);
        // Finite fields, hybrids, and a PSK without a key exchange are what many lack.
        if known.group >= 256 && case.group < 256 && case.group() != NO_GROUP {
            *known = *case;
        }
    }
    let pairs = comparison.handshakes.pairs(stacks, true);
    let planned = (pairs.len() * wanted.len()) as u64;
    let mut cells = Vec::new();
    audience.begins("handshakes tried");
    for (client, server) in pairs {
        let mut worker = Worker::new(launcher);
        for (&(tls, kind, _), case) in &wanted {
            if audience.stops() {
                return cells;
            }
            audience.proceeded(cells.len() as u64, planned);
            let is_it = |it: &&CompareMatrixCell| {
                (&it.client, &it.server, it.tls, it.kind, it.psk_mode)
                    == (&client.found.name, &server.found.name, tls, kind, case.psk_mode())
            };
            if let Some(known) = comparison.earlier.and_then(|earlier| earlier.matrix.iter().find(is_it)) {
                cells.push(known.clone());
                continue;
            }
            let Some(certificates) = comparison.handshakes.keys.of(case.key, case.chain) else { continue };
            let job = Job::new(client.found, server.found, *case, certificates);
            let failed = worker.ask(&Prepare(job)).err();
            cells.push(CompareMatrixCell {
                client: client.found.name.clone(),
                server: server.found.name.clone(),
                tls,
                kind,
                psk_mode: case.psk_mode(),
                outcome: failed.as_ref().map_or("works", |failed| failed.outcome.name()).to_owned(),
                reason: failed.map(|failed| failed.reason),
            });
        }
    }
    cells
}
