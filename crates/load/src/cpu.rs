//! Processor time: our own, and that of a server on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{SysconfVar, sysconf};

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cpu {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
}

impl Cpu {
    pub(crate) fn since(self, before: Self) -> Self {
        Self { user: self.user.saturating_sub(before.user), system: self.system.saturating_sub(before.system) }
    }

    pub(crate) fn total(self) -> Duration {
        self.user + self.system
    }
}

/// What this process has used.
pub(crate) fn own_cpu() -> Cpu {
    of_usage(getrusage(UsageWho::RUSAGE_SELF))
}

/// What this thread has used.
pub(crate) fn thread_cpu() -> Cpu {
    of_usage(getrusage(UsageWho::RUSAGE_THREAD))
}

/// Time on a processor, and time in which one was waited for because others had them all. The kernel's account may not
/// have the latter: then it is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runnable {
    ran: Duration,
    waited: Duration,
}

/// The same as shares of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Share {
    pub(crate) ran: f64,
    pub(crate) waited: f64,
}

impl Share {
    pub(crate) fn new(ran: Duration, waited: Duration, of: Duration) -> Self {
        let all = of.as_secs_f64().max(1e-9);
        Self { ran: ran.as_secs_f64() / all, waited: waited.as_secs_f64() / all }
    }
}

/// What this thread has waited for a processor.
pub(crate) fn thread_waited() -> Duration {
    schedstat("/proc/thread-self/schedstat".as_ref()).unwrap_or_default().waited
}

/// What the processes of a server have used: the one that was named, and all that it has started.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerCpu {
    by_process: BTreeMap<u32, Runnable>,
}

impl ServerCpu {
    /// Now. A process that has ended meanwhile is missing, and with it what it used.
    pub(crate) fn of_tree(root: u32) -> Self {
        let tick = tick();
        let all: BTreeMap<u32, (u32, Runnable)> = processes().filter_map(|pid| Some((pid, read(pid, tick)?))).collect();
        let belongs = |pid: u32| {
            let chain = std::iter::successors(Some(pid), |pid| all.get(pid).map(|(parent, _)| *parent));
            // A chain of parents is short; a bound guards against one that changes while it is read.
            chain.take(64).any(|ancestor| ancestor == root)
        };
        Self { by_process: all.iter().filter(|(pid, _)| belongs(**pid)).map(|(pid, (_, time))| (*pid, *time)).collect() }
    }

    pub(crate) fn since(&self, before: &Self) -> Self {
        let used = |(pid, time): (&u32, &Runnable)| {
            let before = before.by_process.get(pid).copied().unwrap_or_default();
            (*pid, Runnable { ran: time.ran.saturating_sub(before.ran), waited: time.waited.saturating_sub(before.waited) })
        };
        Self { by_process: self.by_process.iter().map(used).collect() }
    }

    /// Of all processes.
    pub(crate) fn total(&self) -> Duration {
        self.by_process.values().map(|time| time.ran).sum()
    }

    /// Of the one that used most, as a share of this time.
    pub(crate) fn busiest(&self, of: Duration) -> Share {
        let busiest = self.by_process.values().max_by_key(|time| time.ran).copied().unwrap_or_default();
        Share::new(busiest.ran, busiest.waited, of)
    }

    /// How many processes have used more than a hundredth of what the busiest has.
    pub(crate) fn busy_processes(&self) -> usize {
        let most = self.by_process.values().map(|time| time.ran).max().unwrap_or_default();
        self.by_process.values().filter(|time| time.ran * 100 > most).count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_process.is_empty()
    }
}

fn of_usage(usage: nix::Result<Usage>) -> Cpu {
    let duration = |time: TimeVal| {
        let micros = u64::try_from(time.tv_usec()).unwrap_or_default();
        Duration::from_secs(u64::try_from(time.tv_sec()).unwrap_or_default()) + Duration::from_micros(micros)
    };
    usage.map(|usage| Cpu { user: duration(usage.user_time()), system: duration(usage.system_time()) }).unwrap_or_default()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent of a process, and the time that it has used.
fn read(pid: u32, tick: Duration) -> Option<(u32, Runnable)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |place: usize| fields.get(place).and_then(|field| field.parse::<u32>().ok());
    let ticks = number(11)?.checked_add(number(12)?)?;
    Some((number(1)?, precise(pid).unwrap_or(Runnable { ran: tick * ticks, waited: Duration::ZERO })))
}

/// The sum of all threads: finer than ticks, where the kernel keeps it.
fn precise(pid: u32) -> Option<Runnable> {
    let mut sum = Runnable::default();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let one = schedstat(&thread.path().join("schedstat"))?;
        sum = Runnable { ran: sum.ran + one.ran, waited: sum.waited + one.waited };
    }
    Some(sum).filter(|sum| !sum.ran.is_zero())
}

/// Two figures in nanoseconds: on a processor, and in the queue for one.
fn schedstat(path: &Path) -> Option<Runnable> {
    let text = fs::read_to_string(path).ok()?;
    let mut figures = text.split(' ').map_while(|figure| figure.parse().ok().map(Duration::from_nanos));
    Some(Runnable { ran: figures.next()?, waited: figures.next()? })
}

fn tick() -> Duration {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|ticks| u32::try_from(ticks).ok());
    Duration::from_secs(1) / per_second.filter(|ticks| *ticks > 0).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_belongs_to_its_own_tree() {
        let this = std::process::id();
        let parent = read(this, tick()).unwrap().0;
        assert!(ServerCpu::of_tree(this).by_process.contains_key(&this));
        assert!(ServerCpu::of_tree(parent).by_process.contains_key(&this));
        assert!(ServerCpu::of_tree(u32::MAX).is_empty());
    }

    #[test]
    fn time_is_what_was_used_since() {
        let before = thread_cpu();
        let mut sum = 0_u64;
        while thread_cpu().since(before).total().is_zero() {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(own_cpu().total() >= thread_cpu().total());
    }
}
