//! Writes, beside the handshakes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_session::metrics::StoreOperation;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::budget::within;
use crate::connection::Connection;
use crate::queue::{Queued, Write};
use crate::shared::Shared;

/// How many are written at a time.
const BATCH: usize = 256;
/// How long a batch may take. It keeps nobody waiting that long, only its place in the queue.
const PATIENCE: Duration = Duration::from_millis(500);

/// Writes what is queued, until the runtime ends. What cannot be written is dropped: its client makes a full handshake. A store
/// that refuses writes is still read.
pub(crate) async fn run(shared: Arc<Shared>, mut queue: UnboundedReceiver<Queued>) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let batch = std::mem::take(&mut batch);
        match shared.connection() {
            Some(connection) => drop(tokio::spawn(write(Arc::clone(&shared), connection, batch))),
            None => shared.metrics.store(StoreOperation::Put, Duration::ZERO, false),
        }
    }
}

/// Their part of the queue is free when they are written, and whoever waits does so within the budget.
async fn write(shared: Arc<Shared>, mut connection: Connection, mut batch: Vec<Queued>) {
    let started = Instant::now();
    let command = |Queued { write: Write { key, entry, lifetime }, .. }: &Queued| {
        let millis = u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX).max(1);
        redis::cmd("SET").arg(key).arg(entry).arg("PX").arg(millis).to_owned()
    };
    let mut writing = std::pin::pin!(connection.ask_all::<()>(batch.iter().map(command).collect()));
    let mut written = within(shared.budget, &mut writing).await;
    batch.iter_mut().for_each(|queued| queued.waiter = None);
    if written.is_none() {
        shared.silent();
        written = within(PATIENCE, writing).await;
    }
    let is_written = written.is_some_and(|written| shared.note(StoreOperation::Put, "SET", written).is_some());
    shared.metrics.store(StoreOperation::Put, started.elapsed(), is_written);
}
