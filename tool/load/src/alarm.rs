//! Waking up in time: the event loop's own timeout is in whole milliseconds, and a connection that is due in between would
//! begin late by as much.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

/// A timer of the kernel's that wakes an event loop.
pub(crate) struct Alarm(TimerFd);

impl Alarm {
    /// The token of its events, which is no connection's.
    const TOKEN: Token = Token(usize::MAX);

    pub(crate) fn new(registry: &Registry) -> io::Result<Self> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        registry.register(&mut SourceFd(&timer.as_fd().as_raw_fd()), Self::TOKEN, Interest::READABLE)?;
        Ok(Self(timer))
    }

    /// Wakes the loop once, this long from now. Setting it anew forgets what it was set to.
    pub(crate) fn set(&self, after: Duration) -> io::Result<()> {
        // Zero would switch it off.
        let after = TimeSpec::from_duration(after.max(Duration::from_nanos(1)));
        Ok(self.0.set(Expiration::OneShot(after), TimerSetTimeFlags::empty())?)
    }
}
