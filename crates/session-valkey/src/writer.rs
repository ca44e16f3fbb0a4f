//! Writes, behind the handshakes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_session::metrics::StoreOperation;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;

use crate::queue::{Queued, Write};
use crate::shared::{Done, Shared};

/// How many are written at a time.
const BATCH: usize = 64;
/// How long a batch may take. It keeps no handshake waiting, only the queue.
const PATIENCE: Duration = Duration::from_millis(500);

/// Writes what is queued, until the runtime ends. What cannot be written is dropped: its client makes a full handshake.
pub(crate) async fn run(shared: Arc<Shared>, mut queue: Receiver<Queued>) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let started = Instant::now();
        let written = write(&shared, &mut batch).await;
        shared.metrics.store(StoreOperation::Put, started.elapsed(), written);
    }
}

async fn write(shared: &Shared, batch: &mut Vec<Queued>) -> bool {
    let writes = std::mem::take(batch);
    let Some(connection) = shared.connection() else { return false };
    let mut sent = JoinSet::new();
    for (Write { key, entry, lifetime }, permit) in writes {
        let mut command = redis::cmd("SET");
        command.arg(key).arg(entry).arg("PX").arg(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX).max(1));
        let mut connection = connection.clone();
        sent.spawn(async move {
            let done: Done = command.query_async(&mut connection).await;
            drop(permit);
            done
        });
    }
    let all = async {
        let mut written = true;
        while let Some(joined) = sent.join_next().await {
            written &= matches!(joined, Ok(Ok(())));
        }
        written
    };
    tokio::time::timeout(PATIENCE, all).await.unwrap_or(false)
}
