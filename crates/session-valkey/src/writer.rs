//! Writes, behind the handshakes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_session::metrics::StoreOperation;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;

use crate::store::{Done, Inner};

/// One entry on its way.
pub(crate) struct Write {
    pub(crate) key: Vec<u8>,
    pub(crate) entry: Vec<u8>,
    pub(crate) lifetime: Duration,
}

pub(crate) struct Queue(Sender<Write>);

/// How many are written at a time.
const BATCH: usize = 64;
/// How long a batch may take. It keeps no handshake waiting, only the queue.
const PATIENCE: Duration = Duration::from_millis(500);

impl Queue {
    pub(crate) fn new(length: usize) -> (Self, Receiver<Write>) {
        let (sender, receiver) = mpsc::channel(length.max(1));
        (Self(sender), receiver)
    }

    /// Whether there was room.
    pub(crate) fn push(&self, write: Write) -> bool {
        self.0.try_send(write).is_ok()
    }
}

/// Writes what is queued, until the runtime ends. What cannot be written is dropped: its client makes a full handshake.
pub(crate) async fn run(inner: Arc<Inner>, mut queue: Receiver<Write>) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let started = Instant::now();
        let written = write(&inner, &mut batch).await;
        inner.metrics.store(StoreOperation::Put, started.elapsed(), written);
    }
}

async fn write(inner: &Inner, batch: &mut Vec<Write>) -> bool {
    let writes = std::mem::take(batch);
    let Some(connection) = inner.connection() else { return false };
    let mut sent = JoinSet::new();
    for Write { key, entry, lifetime } in writes {
        let mut command = redis::cmd("SET");
        command.arg(key).arg(entry).arg("PX").arg(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX).max(1));
        let mut connection = connection.clone();
        sent.spawn(async move {
            let done: Done = command.query_async(&mut connection).await;
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
