//! What is to be written: bounded, so that a slow store costs sessions and no memory.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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
