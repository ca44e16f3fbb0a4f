//! Writes, beside the handshakes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use super::action::Action;
use super::backend::{StoreConnection, Write};
use super::budget::within;
use super::queue::{Place, Queued};
use super::state::State;
use crate::metrics::StoreOperation;

/// How many are written at a time.
const BATCH: usize = 256;
/// How long a batch may take. It keeps nobody waiting that long, only its place in the queue.
const PATIENCE: Duration = Duration::from_millis(500);

/// Writes what is queued, until the runtime ends. What cannot be written is dropped: its client makes a full handshake. A store
/// that refuses writes is still read.
pub(crate) async fn run<C: StoreConnection>(state: Arc<State<C>>, mut queue: UnboundedReceiver<Queued>) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let batch = std::mem::take(&mut batch);
        match state.connection() {
            Some(connection) => drop(tokio::spawn(write(Arc::clone(&state), connection, batch))),
            None => state.metrics.store(StoreOperation::Put, Duration::ZERO, false),
        }
    }
}

/// Their part of the queue is free when they are written, and whoever waits does so within the budget.
async fn write<C: StoreConnection>(state: Arc<State<C>>, mut connection: C, batch: Vec<Queued>) {
    let started = Instant::now();
    let (writes, mut places): (Vec<Write>, Vec<Place>) =
        batch.into_iter().map(|queued| (queued.write, queued.place)).unzip();
    let mut writing = std::pin::pin!(connection.write(&writes));
    let mut written = within(state.budget, &mut writing).await;
    places.iter_mut().for_each(|place| place.waiter = None);
    if written.is_none() {
        state.silent();
        written = within(PATIENCE, writing).await;
    }
    let is_written = written.is_some_and(|written| state.note(StoreOperation::Put, Action::Write, written).is_some());
    state.metrics.store(StoreOperation::Put, started.elapsed(), is_written);
}
