//! Writes, behind the handshakes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_session::metrics::StoreOperation;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::store::{Done, Inner};

/// One entry on its way.
pub(crate) struct Write {
    pub(crate) key: Vec<u8>,
    pub(crate) entry: Vec<u8>,
    pub(crate) lifetime: Duration,
}

/// Bounded by entries and by bytes, those that are being written included.
pub(crate) struct Queue {
    entries: Sender<Queued>,
    bytes: Arc<Semaphore>,
}

/// What it takes of the bound on bytes is free again when it is gone.
pub(crate) type Queued = (Write, OwnedSemaphorePermit);

/// How many are written at a time.
const BATCH: usize = 64;
/// How long a batch may take. It keeps no handshake waiting, only the queue.
const PATIENCE: Duration = Duration::from_millis(500);

impl Queue {
    pub(crate) fn new(length: usize, bytes: u32) -> (Self, Receiver<Queued>) {
        let (entries, queued) = mpsc::channel(length.max(1));
        let bytes = Arc::new(Semaphore::new((bytes as usize).min(Semaphore::MAX_PERMITS)));
        (Self { entries, bytes }, queued)
    }

    /// Whether there was room.
    pub(crate) fn push(&self, write: Write) -> bool {
        let Ok(size) = u32::try_from(write.key.len().saturating_add(write.entry.len())) else { return false };
        let Ok(permit) = Arc::clone(&self.bytes).try_acquire_many_owned(size) else { return false };
        self.entries.try_send((write, permit)).is_ok()
    }
}

/// Writes what is queued, until the runtime ends. What cannot be written is dropped: its client makes a full handshake.
pub(crate) async fn run(inner: Arc<Inner>, mut queue: Receiver<Queued>) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let started = Instant::now();
        let written = write(&inner, &mut batch).await;
        inner.metrics.store(StoreOperation::Put, started.elapsed(), written);
    }
}

async fn write(inner: &Inner, batch: &mut Vec<Queued>) -> bool {
    let writes = std::mem::take(batch);
    let Some(connection) = inner.connection() else { return false };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn write(bytes: usize) -> Write {
        Write { key: vec![0; 40], entry: vec![0; bytes - 40], lifetime: Duration::from_secs(1) }
    }

    #[test]
    fn a_queue_is_bounded_by_entries_and_by_bytes() {
        let (queue, mut queued) = Queue::new(3, 1000);
        assert!(!queue.push(write(1001)), "longer than everything");
        assert!(queue.push(write(600)) && !queue.push(write(401)), "bytes");
        assert!(queue.push(write(200)) && queue.push(write(100)) && !queue.push(write(100)), "entries");
        // What is taken out but not yet written counts still.
        let being_written = queued.try_recv().unwrap();
        assert!(!queue.push(write(101)) && queue.push(write(100)));
        drop((being_written, queued.try_recv().unwrap()));
        assert!(queue.push(write(800)));
    }
}
