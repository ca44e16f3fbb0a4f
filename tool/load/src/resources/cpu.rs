//! Processor time: our own, and that of a server on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{Pid, SysconfVar, sysconf};
use reprise_model::{Nanos, ProcessorShare};

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
fn thread_cpu() -> Cpu {
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
fn share(ran: Duration, waited: Duration, of: Duration) -> ProcessorShare {
    let all = of.as_secs_f64().max(1e-9);
    ProcessorShare { ran: ran.as_secs_f64() / all, waited: waited.as_secs_f64() / all }
}

/// What this thread had spent at one time, to tell what it has spent since.
pub(crate) struct Spent {
    at: Instant,
    ran: Cpu,
    waited: Duration,
}

impl Spent {
    pub(crate) fn until_now() -> Self {
        let waited = schedstat("/proc/thread-self/schedstat".as_ref()).unwrap_or_default().waited;
        Self { at: Instant::now(), ran: thread_cpu(), waited }
    }

    /// By the same thread, up to now.
    pub(crate) fn since(&self) -> ProcessorShare {
        let now = Self::until_now();
        let ran = now.ran.since(self.ran).total();
        share(ran, now.waited.saturating_sub(self.waited), now.at.duration_since(self.at))
    }
}

/// What the processes of a server have used: the one that was named, and all that it has started.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerCpu {
    by_process: BTreeMap<u32, Process>,
    /// What those used that have ended and whose parents are among these.
    ended: Duration,
}

/// The processor time that a process of this machine, and all that it has started, have used so far; `None` where there is no
/// such process.
pub fn process_tree_cpu(root: u32) -> Option<Nanos> {
    let cpu = ServerCpu::of_tree(root);
    (!cpu.is_empty()).then(|| cpu.total().into())
}

/// What one process has used.
#[derive(Clone, Debug)]
struct Process {
    parent: u32,
    /// What its children used that have ended, as soon as it knows of their end.
    children: Duration,
    /// All that its threads have used, those that have ended among them.
    ran: Duration,
    /// Empty where the kernel does not keep it.
    threads: BTreeMap<u32, Runnable>,
    /// How many processors it may use.
    processors: usize,
}

impl ServerCpu {
    /// Now.
    pub(crate) fn of_tree(root: u32) -> Self {
        let tick = tick();
        let mut all: BTreeMap<u32, Process> = processes().filter_map(|pid| Some((pid, read(pid, tick)?))).collect();
        let parents: BTreeMap<u32, u32> = all.iter().map(|(pid, process)| (*pid, process.parent)).collect();
        // A chain of parents is short; a bound guards against one that changes while it is read.
        let ancestors = |pid: u32| std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(64);
        all.retain(|pid, _| ancestors(*pid).any(|ancestor| ancestor == root));
        Self { ended: all.values().map(|process| process.children).sum(), by_process: all }
    }

    pub(crate) fn since(&self, before: &Self) -> Self {
        let used = |(pid, process): (&u32, &Process)| match before.by_process.get(pid) {
            Some(before) => (*pid, process.since(before)),
            None => (*pid, process.clone()),
        };
        // What a process had used before is not among what was used since by those that have ended.
        let gone = before.by_process.iter().filter(|(pid, _)| !self.by_process.contains_key(pid));
        let gone = before.ended + gone.map(|(_, process)| process.ran).sum::<Duration>();
        Self { by_process: self.by_process.iter().map(used).collect(), ended: self.ended.saturating_sub(gone) }
    }

    /// Their numbers.
    pub(crate) fn processes(&self) -> impl Iterator<Item = u32> {
        self.by_process.keys().copied()
    }

    /// Of all processes, and of those that have ended.
    pub(crate) fn total(&self) -> Duration {
        self.by_process.values().map(|process| process.ran).sum::<Duration>() + self.ended
    }

    /// Of the one that is nearest to its limit, as a share of this time.
    pub(crate) fn busiest(&self, of: Duration) -> ProcessorShare {
        let shares = self.by_process.values().map(|process| process.share(of));
        shares.max_by(|one, other| one.ran.total_cmp(&other.ran)).unwrap_or_default()
    }

    /// How many processes have used more than a hundredth of what the busiest has.
    pub(crate) fn busy_processes(&self) -> usize {
        busy(self.by_process.values().map(|process| process.ran))
    }

    /// How many processors they may use at once: as many as there are busy threads, and no more than they may run on.
    pub(crate) fn usable_processors(&self) -> usize {
        let threads = |process: &Process| busy(process.threads.values().map(|time| time.ran)).max(1);
        let most = self.by_process.values().map(|process| process.ran).max().unwrap_or_default();
        let busy = self.by_process.values().filter(|process| process.ran * 100 > most);
        let all: usize = busy.map(|process| process.processors.min(threads(process))).sum();
        all.min(self.by_process.values().map(|process| process.processors).max().unwrap_or_default())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_process.is_empty()
    }
}

/// How many have used more than a hundredth of what the busiest has.
fn busy(times: impl Iterator<Item = Duration> + Clone) -> usize {
    let most = times.clone().max().unwrap_or_default();
    times.filter(|ran| *ran * 100 > most).count()
}

impl Process {
    fn since(&self, before: &Self) -> Self {
        let used = |(thread, time): (&u32, &Runnable)| {
            let before = before.threads.get(thread).copied().unwrap_or_default();
            (
                *thread,
                Runnable { ran: time.ran.saturating_sub(before.ran), waited: time.waited.saturating_sub(before.waited) },
            )
        };
        let threads = self.threads.iter().map(used).collect();
        Self { ran: self.ran.saturating_sub(before.ran), threads, ..*self }
    }

    /// How near it was to what it can use: of one processor by its busiest thread, or by all threads together of as many
    /// processors as they may use at once, whichever is more. An event loop ends at one processor, though idle threads stand
    /// beside it; a server that moves its work between threads ends when it has them all.
    fn share(&self, of: Duration) -> ProcessorShare {
        let busiest = self.threads.values().max_by_key(|time| time.ran).copied();
        let busiest = busiest.unwrap_or(Runnable { ran: self.ran, waited: Duration::ZERO });
        let at_once = self.processors.min(self.threads.len()).max(1) as u32;
        let waited = self.threads.values().map(|time| time.waited).sum::<Duration>();
        let alone = share(busiest.ran, busiest.waited, of);
        let together = share(self.ran / at_once, waited / at_once, of);
        if self.threads.len() > 1 && together.ran > alone.ran { together } else { alone }
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

fn read(pid: u32, tick: Duration) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |place: usize| fields.get(place).and_then(|field| field.parse::<u32>().ok());
    let by_ticks = tick * number(11)?.checked_add(number(12)?)?;
    let children = tick * number(13)?.checked_add(number(14)?)?;
    let threads = threads(pid).unwrap_or_default();
    // The threads' sum is finer than ticks, but those that have ended are missing in it.
    let by_threads = threads.values().map(|time| time.ran).sum();
    let ran = if by_ticks > by_threads + tick * 2 { by_ticks } else { by_threads };
    Some(Process { parent: number(1)?, children, ran, threads, processors: processors(pid) })
}

/// What each thread of a process has used, where the kernel keeps it.
fn threads(pid: u32) -> Option<BTreeMap<u32, Runnable>> {
    let mut threads = BTreeMap::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let id = thread.file_name().to_str()?.parse().ok()?;
        threads.insert(id, schedstat(&thread.path().join("schedstat"))?);
    }
    Some(threads).filter(|threads| threads.values().any(|time| !time.ran.is_zero()))
}

/// How many processors a process may use; 1 where that is not known.
fn processors(pid: u32) -> usize {
    let pid = i32::try_from(pid).map(Pid::from_raw);
    let set = pid.ok().and_then(|pid| sched_getaffinity(pid).ok());
    let count = |set: CpuSet| (0..CpuSet::count()).filter(|processor| set.is_set(*processor).unwrap_or_default()).count();
    set.map_or(1, count).max(1)
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
        let parent = read(this, tick()).unwrap().parent;
        assert!(ServerCpu::of_tree(this).by_process.contains_key(&this));
        assert!(ServerCpu::of_tree(parent).by_process.contains_key(&this));
        assert!(ServerCpu::of_tree(u32::MAX).is_empty());
    }

    #[test]
    fn what_a_process_used_before_its_end_counts_with_its_parent() {
        let process = |parent, ran, children| {
            let [ran, children] = [ran, children].map(Duration::from_secs);
            Process { parent, children, ran, threads: BTreeMap::new(), processors: 2 }
        };
        let tree = |processes: &[(u32, Process)]| ServerCpu {
            by_process: processes.iter().cloned().collect(),
            ended: processes.iter().map(|(_, process)| process.children).sum(),
        };
        let before = tree(&[(1, process(0, 1, 7)), (2, process(1, 5, 0))]);
        // The second has used three more and ended; another has followed it.
        let used = tree(&[(1, process(0, 1, 15)), (3, process(1, 4, 0))]).since(&before);
        assert_eq!((used.total(), used.usable_processors()), (Duration::from_secs(7), 1));
        // Its parent does not know of its end yet.
        let used = tree(&[(1, process(0, 2, 7))]).since(&before);
        assert_eq!(used.total(), Duration::from_secs(1));
    }

    #[test]
    fn a_process_is_at_its_limit_by_one_thread_or_by_all() {
        let second = Duration::from_secs(1);
        let share = |threads: &[f64], processors: usize| {
            let time = |ran: &f64| Runnable { ran: second.mul_f64(*ran), waited: Duration::ZERO };
            let threads: BTreeMap<u32, Runnable> = (0..).zip(threads.iter().map(time)).collect();
            let ran = threads.values().map(|time| time.ran).sum();
            Process { parent: 1, children: Duration::ZERO, ran, threads, processors }.share(second).ran
        };
        // An event loop; one beside idle threads; work that moves between threads, with room and without.
        for (threads, processors, expected) in [
            (&[0.97][..], 16, 0.97),
            (&[0.97, 0.0, 0.01], 16, 0.97),
            (&[0.5, 0.5, 0.5, 0.4], 16, 0.5),
            (&[0.5, 0.5, 0.5, 0.4], 2, 0.95),
            (&[0.4, 0.55], 1, 0.95),
        ] {
            let share = share(threads, processors);
            assert!((share - expected).abs() < 1e-9, "{threads:?} on {processors}: {share}");
        }
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
