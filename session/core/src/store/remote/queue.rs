//! What is to be written: bounded, so that a slow store costs sessions and no memory.

use std::sync::Arc;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::backend::Write;

/// Bounded by entries and by bytes, those that are being written included.
pub(crate) struct Queue {
    queued: UnboundedSender<Queued>,
    entries: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
}

/// A write in its place.
pub(crate) struct Queued {
    pub(crate) write: Write,
    pub(crate) place: Place,
}

/// What a write takes of the queue, and who waits for it.
pub(crate) struct Place {
    /// Dropped when the store has it, or it is not to be waited for.
    pub(crate) waiter: Option<oneshot::Sender<()>>,
    /// What it takes of both bounds is free again when it is gone.
    _room: [OwnedSemaphorePermit; 2],
}

impl Queue {
    pub(crate) fn new(length: usize, bytes: u32) -> (Self, UnboundedReceiver<Queued>) {
        let (queued, receiver) = mpsc::unbounded_channel();
        let [entries, bytes] =
            [length.max(1), bytes as usize].map(|bound| Arc::new(Semaphore::new(bound.min(Semaphore::MAX_PERMITS))));
        (Self { queued, entries, bytes }, receiver)
    }

    /// What is to be waited for; `None` if there was no room.
    pub(crate) fn push(&self, write: Write) -> Option<oneshot::Receiver<()>> {
        let size = u32::try_from(write.key.len().saturating_add(write.entry.len())).ok()?;
        let entry = Arc::clone(&self.entries).try_acquire_owned().ok()?;
        let bytes = Arc::clone(&self.bytes).try_acquire_many_owned(size).ok()?;
        let (waiter, written) = oneshot::channel();
        self.queued.send(Queued { write, place: Place { waiter: Some(waiter), _room: [entry, bytes] } }).ok()?;
        Some(written)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn write(bytes: usize) -> Write {
        Write { key: vec![0; 40], entry: vec![0; bytes - 40], lifetime: Duration::from_secs(1) }
    }

    #[test]
    fn a_queue_is_bounded_by_entries_and_by_bytes() {
        let (queue, mut queued) = Queue::new(3, 1000);
        let push = |bytes| queue.push(write(bytes)).is_some();
        assert!(!push(1001), "longer than everything");
        assert!(push(600) && !push(401), "bytes");
        assert!(push(200) && push(100) && !push(100), "entries");
        // What is taken out but not yet written counts still.
        let being_written = [(); 2].map(|()| queued.try_recv().unwrap());
        assert!(!push(100), "entries");
        drop(being_written);
        assert!(!push(901) && push(800));
    }
}
