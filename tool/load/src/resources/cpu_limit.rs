//! The limits that cgroups set to processor time, and how often they ran out: a container's CPU limit, most often.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reprise_model::document::LoadCpuLimit;
use reprise_model::{CpuRestraint, Nanos};

use super::cgroup::groups_of;

/// The groups of some processes, and how often each has run out of its limit.
pub(crate) struct CpuLimits {
    /// Their own groups, and those above.
    groups: BTreeMap<PathBuf, Reading>,
    /// Their own groups alone: for how long any limit, a hidden one above among them, has held each back.
    own: BTreeMap<PathBuf, Option<Duration>>,
}

/// What one group's files say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reading {
    limit: Option<Limit>,
    periods: u64,
    throttled_periods: u64,
    throttled: Duration,
}

/// So much processor time in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    time: Duration,
    period: Duration,
}

impl CpuLimits {
    /// Of these processes, each a number or `self`, and of every group above them. `root` is the folder of `/proc`'s.
    pub(crate) fn of(root: &Path, processes: impl IntoIterator<Item = String>) -> Self {
        let chains: Vec<Vec<PathBuf>> = processes
            .into_iter()
            .flat_map(|process| groups_of(root, &process))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let own = chains.iter().filter_map(|chain| chain.first());
        Self {
            own: own.map(|folder| (folder.clone(), held_back(folder))).collect(),
            groups: chains.iter().flatten().map(|folder| (folder.clone(), Reading::of(folder))).collect(),
        }
    }

    /// What limits have done to these groups since then, which is so long ago.
    pub(crate) fn until_now(&self, time: Duration) -> CpuRestraint {
        CpuRestraint { limit: self.limit(), throttled: self.throttled(), time }
    }

    /// For how long they have been held back, by whomever.
    fn throttled(&self) -> Option<Duration> {
        let since = self.own.iter().filter_map(|(folder, before)| Some(held_back(folder)?.saturating_sub((*before)?)));
        since.reduce(|sum, more| sum + more)
    }

    /// The limit that has held them back most, or else the lowest; `None` where none is known.
    fn limit(&self) -> Option<LoadCpuLimit> {
        let since = self.groups.iter().filter_map(|(folder, before)| Reading::of(folder).since(before, folder));
        since
            .max_by(|one, other| one.ran_out().total_cmp(&other.ran_out()).then(other.processors.total_cmp(&one.processors)))
    }
}

/// Newer kernels tell a group for how long limits have held it back, those of groups above among them: a container cannot see
/// the latter otherwise.
fn held_back(folder: &Path) -> Option<Duration> {
    throttled(&fs::read_to_string(folder.join("cpu.stat.local")).ok()?)
}

fn throttled(stat: &str) -> Option<Duration> {
    figure(stat, "throttled_usec")
        .map(Duration::from_micros)
        .or_else(|| figure(stat, "throttled_time").map(Duration::from_nanos))
}

fn figure(stat: &str, name: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

impl Reading {
    /// What cannot be read is no limit, and has never run out.
    fn of(folder: &Path) -> Self {
        let stat = fs::read_to_string(folder.join("cpu.stat")).unwrap_or_default();
        Self {
            limit: Limit::of(folder),
            periods: figure(&stat, "nr_periods").unwrap_or_default(),
            throttled_periods: figure(&stat, "nr_throttled").unwrap_or_default(),
            throttled: throttled(&stat).unwrap_or_default(),
        }
    }

    fn since(&self, before: &Self, folder: &Path) -> Option<LoadCpuLimit> {
        let Limit { time, period } = self.limit?;
        Some(LoadCpuLimit {
            group: folder.display().to_string(),
            processors: time.as_micros() as f64 / period.as_micros() as f64,
            period_ns: Nanos::from(period).0,
            periods: self.periods.saturating_sub(before.periods),
            throttled_periods: self.throttled_periods.saturating_sub(before.throttled_periods),
            throttled_ns: Nanos::from(self.throttled.saturating_sub(before.throttled)).0,
        })
    }
}

impl Limit {
    fn of(folder: &Path) -> Option<Self> {
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let micros = |text: &str| text.trim().parse().ok().filter(|micros| *micros > 0).map(Duration::from_micros);
        // Version 2: `max 100000` is none. Version 1: -1 is.
        match read("cpu.max") {
            Some(text) => {
                let (time, period) = text.split_once(' ')?;
                Some(Self { time: micros(time)?, period: micros(period)? })
            }
            None => Some(Self { time: micros(&read("cpu.cfs_quota_us")?)?, period: micros(&read("cpu.cfs_period_us")?)? }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 100_000_000;

    /// A machine of which the groups `a` and `a/b` are made by these files, with process 7 in the latter.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new(kind: &str, files: &[(&str, &str)]) -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            let (controller, options) = if kind == "cgroup2" { ("0:", "rw") } else { ("3:cpu", "rw,cpu") };
            machine.write("proc/7/cgroup", &format!("{controller}:/a/b\n"));
            machine.write("proc/self/mountinfo", &format!("30 23 0:26 / /cgroup rw - {kind} {kind} {options}\n"));
            machine.write("cgroup/a/b/cgroup.procs", "7\n");
            files.iter().for_each(|(file, text)| machine.write(&format!("cgroup/{file}"), text));
            machine
        }

        fn write(&self, file: &str, text: &str) {
            let path = self.0.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn limits(&self) -> CpuLimits {
            CpuLimits::of(self.0.path(), ["7".to_owned()])
        }

        fn limit(&self, group: &str, processors: f64, [periods, throttled_periods, throttled_ns]: [u64; 3]) -> LoadCpuLimit {
            let group = self.0.path().join("cgroup").join(group).display().to_string();
            LoadCpuLimit { group, processors, period_ns: PERIOD, periods, throttled_periods, throttled_ns }
        }
    }

    #[test]
    fn both_versions_say_the_same_in_words_of_their_own() {
        let version_2 = Machine::new("cgroup2", &[("a/b/cpu.max", "150000 100000\n"), ("a/cpu.max", "max 100000\n")]);
        let version_1 = Machine::new(
            "cgroup",
            &[
                ("a/b/cpu.cfs_quota_us", "150000\n"),
                ("a/b/cpu.cfs_period_us", "100000\n"),
                ("a/cpu.cfs_quota_us", "-1\n"),
                ("a/cpu.cfs_period_us", "100000\n"),
            ],
        );
        for (machine, name, unit) in [(version_2, "throttled_usec", 1_000), (version_1, "throttled_time", 1)] {
            let stat = |periods: u64, throttled: u64, time: u64| {
                let stat =
                    format!("usage_usec 1\nnr_periods {periods}\nnr_throttled {throttled}\n{name} {time}\nnr_bursts 0\n");
                machine.write("cgroup/a/b/cpu.stat", &stat);
            };
            stat(10, 3, 5_000);
            let limits = machine.limits();
            assert_eq!(limits.limit(), Some(machine.limit("a/b", 1.5, [0, 0, 0])));
            stat(30, 15, 7_000);
            assert_eq!(limits.limit(), Some(machine.limit("a/b", 1.5, [20, 12, 2_000 * unit])));
        }
    }

    #[test]
    fn of_several_limits_the_one_counts_that_held_back_most() {
        let machine = Machine::new("cgroup2", &[("a/b/cpu.max", "200000 100000\n"), ("a/cpu.max", "300000 100000\n")]);
        let limits = machine.limits();
        assert_eq!(limits.limit().unwrap().processors, 2.0);
        machine.write("cgroup/a/cpu.stat", "nr_periods 8\nnr_throttled 1\n");
        assert_eq!(limits.limit(), Some(machine.limit("a", 3.0, [8, 1, 0])));
        machine.write("cgroup/a/b/cpu.stat", "nr_periods 4\nnr_throttled 4\n");
        assert_eq!(limits.limit().unwrap().processors, 2.0);
    }

    #[test]
    fn a_later_limit_counts_and_unlimited_does_not() {
        let machine = Machine::new("cgroup2", &[("a/b/cpu.stat", "nr_periods 5\nnr_throttled 5\n")]);
        let limits = machine.limits();
        for none in ["max 100000\n", "0 100000\n", "100000 0\n", "100000\n", "-1 -1\n", "\n", "1e5 1e5\n"] {
            machine.write("cgroup/a/b/cpu.max", none);
            assert_eq!(limits.limit(), None, "{none}");
        }
        machine.write("cgroup/a/b/cpu.max", "10000 100000\n");
        assert_eq!(limits.limit(), Some(machine.limit("a/b", 0.1, [0, 0, 0])));
        // The group is gone, and with it what it counted.
        fs::remove_dir_all(machine.0.path().join("cgroup")).unwrap();
        assert_eq!(limits.limit(), None);
        assert_eq!(machine.limits().limit(), None);
    }

    #[test]
    fn a_hidden_limit_shows_in_what_it_does() {
        let machine = Machine::new("cgroup2", &[("a/b/cpu.stat.local", "throttled_usec 5\n")]);
        let limits = machine.limits();
        // What is done to those above is not all done to it.
        machine.write("cgroup/a/cpu.stat.local", "throttled_usec 1000\n");
        machine.write("cgroup/a/b/cpu.stat.local", "throttled_usec 12\n");
        assert_eq!((limits.throttled(), limits.limit()), (Some(Duration::from_micros(7)), None));
        assert_eq!(Machine::new("cgroup2", &[]).limits().throttled(), None);
    }

    #[test]
    fn this_machine_is_read_without_complaint() {
        let root = Path::new("/");
        let limits = CpuLimits::of(root, ["self".to_owned(), "1".to_owned(), "4194305".to_owned()]);
        assert!(limits.limit().is_none_or(|limit| limit.processors > 0.0));
    }
}
