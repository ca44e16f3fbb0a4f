//! A cgroup's CPU limit, as containers have it: the kernel holds back whoever spends it, and the verdict says so.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use reprise_harness::{Lab, Outcome, Reprise, not_run, program};
use reprise_lab::KeyKind;
use reprise_servers::{Nginx, NginxConfig, RealServer};
use serde_json::Value;

use crate::load::harness::{count, document, document_in, outcome, server, warns};

/// One fiftieth of a processor: less than any share that the other side may leave.
const TIME_US: u32 = 1_000;
const PERIOD_US: u32 = 50_000;

/// A group with that limit, removed in the end.
struct Group(PathBuf);

impl Group {
    /// `None`, having said so, where this machine lets nobody make one: then no package would bring it.
    fn new(name: &str) -> Option<Self> {
        let name = format!("reprise-test-{}-{name}", std::process::id());
        let version_1 = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"].map(Path::new).into_iter();
        // What is below a group of version 2 has those controllers that it hands down.
        let hands_down_cpu = |folder: &&Path| {
            let handed = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
            handed.split_whitespace().any(|controller| controller == "cpu")
        };
        let version_2 = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new).into_iter().filter(hands_down_cpu);
        let group = version_1.chain(version_2).find_map(|parent| Self::limited(parent.join(&name)));
        if group.is_none() {
            not_run("the right to limit the processor time of a cgroup");
        }
        group
    }

    fn limited(folder: PathBuf) -> Option<Self> {
        fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        let write = |file: &str, text: String| fs::write(group.0.join(file), text);
        let version_2 = || write("cpu.max", format!("{TIME_US} {PERIOD_US}"));
        let version_1 = || {
            write("cpu.cfs_period_us", PERIOD_US.to_string()).and_then(|()| write("cpu.cfs_quota_us", TIME_US.to_string()))
        };
        version_1().or_else(|_| version_2()).ok()?;
        (group.run("true", &[]).code == 0).then_some(group)
    }

    fn run(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Outcome {
        let script = r#"echo $$ > "$1" && shift && exec "$@""#;
        let mut command = Command::new("bash");
        command.args(["-c", script, "bash"]).arg(self.0.join("cgroup.procs")).arg(program).args(arguments);
        outcome(&mut command)
    }

    fn add(&self, process: u32) {
        fs::write(self.0.join("cgroup.procs"), process.to_string()).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its processes have been ended; the kernel may need a moment to know it.
        for _ in 0..10_000 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
    }
}

/// The limit ran out in at least half of its periods, and is the group's.
fn was_spent(limit: &Value, group: &Group) {
    assert_eq!((&limit["group"], &limit["processors"]), (&Value::from(group.0.to_str().unwrap()), &Value::from(0.02)));
    let periods = |name: &str| limit[name].as_u64().unwrap();
    assert!(periods("throttled_periods") * 2 >= periods("periods") && periods("periods") > 0, "{limit}");
    assert!(limit["throttled_ns"].as_u64().unwrap() > 0, "{limit}");
}

#[test]
fn a_generator_at_its_own_limit_is_the_bottleneck() {
    let Some(group) = Group::new("generator") else { return };
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    let load = ["load", &address, "--duration", "1s", "-c", "8", "--json", json.to_str().unwrap()];
    group.run(program(), &load).exits(0).shows(&["limited to 0.02 processors"]);
    let document = document_in(&json);
    let bottleneck = &document["bottleneck"];
    assert!(count(&document, "completed", "full") > 0, "{}", document["errors"]);
    was_spent(&bottleneck["client_limit"], &group);
    assert_eq!((&bottleneck["verdict"], &bottleneck["server_limit"]), (&"client".into(), &Value::Null));
    let reason = bottleneck["reason"].as_str().unwrap();
    assert!(reason.contains("0.02 processors") && reason.contains("raise the limit"), "{reason}");
    // The kernel counts the time in which it was held back as one in which it waited for a processor.
    assert!(!warns(&document, "other programs used the processors"), "{}", document["warnings"]);
    assert!(warns(&document, "throttled by its CPU limit"), "{}", document["warnings"]);
}

#[test]
fn a_server_at_its_limit_is_the_bottleneck() {
    reprise_servers::require!("nginx");
    let Some(group) = Group::new("server") else { return };
    let nginx = Nginx::start(NginxConfig::new(vec![Lab::new().identity(KeyKind::P256)])).unwrap();
    let pid = nginx.pid();
    // The master listens before it has made its worker.
    let workers = (0..1_000).find_map(|_| {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
        Some(children).filter(|children| !children.is_empty())
    });
    let workers = workers.unwrap();
    workers.split_whitespace().map(|worker| worker.parse().unwrap()).chain([pid]).for_each(|pid| group.add(pid));
    let load = Reprise::load(nginx.address()).flags("--duration 1s -c 8 --server-pid").arg(pid.to_string());
    let document = document(&load.run().exits(0));
    let bottleneck = &document["bottleneck"];
    was_spent(&bottleneck["server_limit"], &group);
    assert_eq!(bottleneck["verdict"], "server", "{bottleneck}");
    let reason = bottleneck["reason"].as_str().unwrap();
    assert!(reason.contains("the server has a CPU limit of 0.02 processors"), "{reason}");
    assert!(!reason.contains("others"), "{reason}");
}
