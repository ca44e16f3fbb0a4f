//! Whose processor time it was, seen by the kernel's account of a real server.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::fs;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use reprise_harness::{Lab, load};
use reprise_lab::KeyKind;
use reprise_load::{Arrival, LoadEnd, LoadOptions};
use reprise_model::document::{LoadDocument, Verdict};
use reprise_model::{Kind, LoadNotice, Phase, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};
use reprise_servers::{Relay, RelayFault, RelayRule};

fn pin(process: u32, processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor).unwrap();
    sched_setaffinity(Pid::from_raw(i32::try_from(process).unwrap()), &set).unwrap();
}

/// A load on nginx, whose one worker is pinned to the first processor while the generator has the last.
fn load(nginx: &Nginx, processors: usize) -> (LoadDocument, Vec<LoadNotice>) {
    let options = LoadOptions {
        arrival: Arrival::Closed { connections: 32 },
        end: LoadEnd::After(Duration::from_secs(1)),
        processors: vec![processors - 1],
        server_pid: Some(nginx.pid()),
        ..load::options_with(load::OK_REQUEST, nginx.address(), Version::Tls13)
    };
    let outcome = load::load(&options);
    assert!(outcome.completed(Kind::Full) > 0, "{:?}", outcome.errors());
    let document = load::document(&outcome, &options);
    let notices = outcome.notices(&document, &options);
    (document, notices)
}

#[test]
fn a_server_that_waits_for_its_processor_is_not_an_idle_one() {
    reprise_servers::require!("nginx");
    let nginx = Nginx::start(NginxConfig::new(vec![Lab::new().identity(KeyKind::Rsa2048)])).unwrap();
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", nginx.pid())).unwrap();
    let workers = children.split_whitespace().map(|pid| pid.parse::<u32>().unwrap());
    workers.for_each(|worker| pin(worker, 0));
    let processors = thread::available_parallelism().unwrap().get();
    let done = AtomicBool::new(false);
    let (document, notices) = thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                pin(0, 0);
                while !done.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        let loaded = load(&nginx, processors);
        done.store(true, Ordering::Relaxed);
        loaded
    });
    let bottleneck = &document.bottleneck;
    // Two others want the same processor: whatever else this machine does, the server gets no more than half of it.
    assert!(bottleneck.server_waiting.unwrap() > 0.1, "{bottleneck:?}");
    assert!(bottleneck.server_busy.unwrap() < 0.9, "{bottleneck:?}");
    // Where this test runs under a CPU limit of its own, as in a container, it was that which both waited for.
    let limits = [&bottleneck.client_limit, &bottleneck.server_limit];
    let throttled = [bottleneck.client_throttled_ns, bottleneck.server_throttled_ns];
    if limits.into_iter().flatten().any(|limit| limit.throttled_periods > 0)
        || throttled.into_iter().flatten().any(|time| time > 0)
    {
        return;
    }
    // Where others hold up the generator as well, the server may have been idle in between.
    if bottleneck.client_waiting < 0.05 {
        assert_eq!(bottleneck.verdict, Verdict::Server, "{bottleneck:?}");
    }
    assert!(notices.iter().any(|it| matches!(it, LoadNotice::Crowded { .. })), "{notices:?}");
}

#[test]
fn stragglers_do_not_make_a_server_look_idle() {
    reprise_servers::require!("nginx");
    let nginx = Nginx::start(NginxConfig::new(vec![Lab::new().identity(KeyKind::P256)])).unwrap();
    // One connection after the other, the last of which is held up, and not by the server.
    const COUNT: usize = 20;
    let late = RelayRule { skip_connections: COUNT - 1, record: 0, fault: RelayFault::Pause(Duration::from_secs(3)) };
    let relay = Relay::start(nginx.address(), late).unwrap();
    let options = LoadOptions {
        end: LoadEnd::Count(COUNT as u64),
        server_pid: Some(nginx.pid()),
        ..load::options_with(load::OK_REQUEST, relay.address(), Version::Tls13)
    };
    let outcome = load::load(&options);
    let document = load::document(&outcome, &options);
    assert_eq!(outcome.completed(Kind::Full), COUNT as u64, "{:?}", outcome.errors());
    let straggler = document.latency_ns[&Kind::Full][&Phase::Total].max;
    assert!(straggler >= 3_000_000_000, "{straggler}");
    // No more than this is its share of a time which has the straggler's in it.
    let share_of_all = document.server_cpu_ns.unwrap() as f64 / straggler as f64;
    assert!(document.bottleneck.server_busy.unwrap() > 2.0 * share_of_all, "{:?} {share_of_all}", document.bottleneck);
}
