//! What is kept of connections that have ended, to be resumed: in the client's hands, and in a server's cache.

use reprise_model::{Kind, Version};
use reprise_pairs::{Case, Cell, Failed, FailureKind, Job};
use reprise_stack::{Heap, Stack};

use super::connection::{Connection, bytes};
use super::{SAMPLES, WARM_UP};

/// A tenth of what caches have room for.
const SESSIONS_OF_SAMPLE: usize = 10;

/// Samples of the client's session and of the server's: by ID under TLS 1.2, which both keep, and by a ticket under TLS 1.3, which the server
/// does not. Empty where nothing is kept, or in memory that was there before.
pub(super) fn weigh_sessions(heap: Heap, [client, server]: [&dyn Stack; 2], job: &Job) -> Result<[Vec<u64>; 2], Failed> {
    let kind = if job.case.version == Version::Tls12 { Kind::Id } else { Kind::Ticket };
    if job.case.max_fragment.is_some() || job.case.releases_buffers {
        return Ok([Vec::new(), Vec::new()]);
    }
    let mut warm = match Cell::new(client, server, Case { kind, ..job.case }, &job.certificates) {
        Err(failed) if failed.outcome == FailureKind::Unsupported => return Ok([Vec::new(), Vec::new()]),
        made => made?,
    };
    for _ in 0..WARM_UP {
        warm.connect()?;
    }
    let [client, server] = warm.contexts.as_slice() else { return Err(Failed::broken("a cell has two contexts")) };
    let mut kept = Vec::new();
    let [mut of_client, mut of_server] = [Vec::new(), Vec::new()];
    for _ in 0..SAMPLES {
        let mut grown = [Vec::new(), Vec::new()];
        for _ in 0..SESSIONS_OF_SAMPLE {
            let mut connection = Connection::connect(heap, &**client, &**server)?;
            connection.end(heap)?;
            let session = connection.client.party.take_session();
            let session =
                session.ok_or_else(|| Failed::because("a full handshake leaves the client no session to resume"))?;
            grown[0].push(bytes(connection.client.growth.grown).saturating_sub(session.wrapping() as u64));
            grown[1].push(bytes(connection.server.growth.grown));
            kept.push(session);
        }
        let [client, server] = grown.map(median);
        of_client.push(client);
        of_server.push(server);
    }
    of_server.retain(|_| kind == Kind::Id);
    Ok([of_client, of_server].map(|samples| if samples.iter().any(|bytes| *bytes > 0) { samples } else { Vec::new() }))
}

/// Where a cache grows, or puts one session in place of another, its mean would say something else.
fn median(mut bytes: Vec<u64>) -> u64 {
    bytes.sort_unstable();
    bytes.get(bytes.len() / 2).copied().unwrap_or_default()
}
