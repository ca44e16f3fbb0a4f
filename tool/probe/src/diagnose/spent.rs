//! The processor time that one connection takes, of this client and of a server on this machine.

use reprise_model::Nanos;

/// Tells how much processor time the server's processes have used so far; `None` where they are not known.
pub type ServerClock<'a> = &'a dyn Fn() -> Option<Nanos>;

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Of the thread that made the connection; `None` where the system does not tell.
    pub client: Option<Nanos>,
    /// Of the server's processes, until the connection had ended here; `None` where they are not known.
    pub server: Option<Nanos>,
}

impl Spent {
    /// What is spent while this is done. Reading the server's account is work of ours: it stands outside of our own.
    pub(super) fn while_doing<T>(server: ServerClock<'_>, work: impl FnOnce() -> T) -> (T, Self) {
        let (servers, own) = (server(), thread_cpu());
        let done = work();
        let (own_after, servers_after) = (thread_cpu(), server());
        let since = |before: Option<Nanos>, after: Option<Nanos>| Some(after?.since(before?));
        (done, Self { client: since(own, own_after), server: since(servers, servers_after) })
    }
}

/// What this thread has used so far.
#[cfg(target_os = "linux")]
fn thread_cpu() -> Option<Nanos> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).ok()?;
    Some(Nanos(seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn thread_cpu() -> Option<Nanos> {
    None
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_side_is_charged_with_its_own_work() {
        let servers = Cell::new(0);
        let clock = || Some(Nanos(servers.get()));
        let work = || {
            servers.set(servers.get() + 700);
            (0..200_000u64).fold(0, |sum, number| std::hint::black_box(sum + number))
        };
        let (sum, spent) = Spent::while_doing(&clock, work);
        assert!(sum > 0);
        assert_eq!(spent.server, Some(Nanos(700)));
        assert_eq!(spent.client.is_some_and(|client| client.0 > 0), cfg!(target_os = "linux"));
        assert_eq!(Spent::while_doing(&|| None, || ()).1.server, None);
    }
}
