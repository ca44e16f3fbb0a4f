//! Who is told how a schedule proceeds.

/// Is told how a measurement proceeds.
pub trait Observer {
    /// `done` of `planned` connections have been made.
    fn proceeded(&self, done: u64, planned: u64);

    /// Another counted connection completed, the `nth` that did.
    fn completed(&self, _nth: u64) {}
}

/// Watches nothing.
pub struct NoObserver;

impl Observer for NoObserver {
    fn proceeded(&self, _done: u64, _planned: u64) {}
}
