//! A thread that keeps a pool of key pairs full.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::KeySharePool;

/// How long it waits before it asks a group again that has failed to make a pair.
const PAUSE: Duration = Duration::from_secs(1);

/// A thread that fills a [`KeySharePool`] whenever less than half of it is left; see [`KeySharePool::keep_full`]. It ends with this value.
#[derive(Debug)]
#[must_use = "the thread ends when this is dropped"]
pub struct KeyShareFiller {
    pool: &'static KeySharePool,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl KeySharePool {
    /// Starts a thread that fills the pool, and fills it again whenever less than half of it is left, until the value is dropped.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn keep_full(&'static self) -> io::Result<KeyShareFiller> {
        let ends = Arc::new(AtomicBool::new(false));
        let of_thread = Arc::clone(&ends);
        let work = move || {
            while !of_thread.load(Ordering::Acquire) {
                match self.fill(self.capacity()) {
                    Ok(_) => self.wait_until_half_empty(&of_thread),
                    // Handshakes make their own pairs meanwhile, or fail as they would without a pool.
                    Err(_) => std::thread::park_timeout(PAUSE),
                }
            }
        };
        let thread = std::thread::Builder::new().name("key-share-filler".to_owned()).spawn(work)?;
        Ok(KeyShareFiller { pool: self, ends, thread: Some(thread) })
    }
}

impl Drop for KeyShareFiller {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        self.pool.wake();
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the group's code was that thread's.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rustls::crypto::SupportedKxGroup;
    use rustls::crypto::aws_lc_rs::kx_group::X25519;

    use super::*;

    fn pool_of(capacity: usize) -> &'static KeySharePool {
        Box::leak(Box::new(KeySharePool::new(X25519, capacity)))
    }

    /// Whether it comes true within a time that is long even where the machine is busy.
    fn comes_true(condition: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if condition() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    #[test]
    fn it_fills_at_once_and_again_when_half_is_taken() {
        let pool = pool_of(8);
        let filler = pool.keep_full().unwrap();
        assert!(comes_true(|| pool.statistics().ready == 8));
        for _ in 0..4 {
            pool.start().unwrap();
        }
        assert_eq!(pool.statistics().made, 8, "half is left");
        pool.start().unwrap();
        assert!(comes_true(|| pool.statistics().ready == 8), "{:?}", pool.statistics());
        assert_eq!((pool.statistics().made, pool.statistics().missed), (13, 0));
        drop(filler);
        for _ in 0..8 {
            pool.start().unwrap();
        }
        assert_eq!((pool.statistics().ready, pool.statistics().made), (0, 13), "nobody fills it any more");
    }

    #[test]
    fn it_ends_while_it_waits_and_with_an_empty_pool() {
        drop(pool_of(4).keep_full().unwrap());
        drop(pool_of(0).keep_full().unwrap());
    }
}
