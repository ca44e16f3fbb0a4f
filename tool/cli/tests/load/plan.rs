//! Sweeps and plans, and a real nginx that loses its sessions under load: what is planned is what happens.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use reprise_harness::{DEADLINE, Lab, Reprise};
use reprise_lab::KeyKind;
use reprise_load::{PlanTarget, plan};
use reprise_model::document::{LoadCosts, LoadDocument, LoadPlan, LoadSweep};
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::load::harness::{document, server, warns};

/// One worker, whose ticket keys are lost when it is told to reload.
struct Server {
    nginx: Nginx,
    /// When each request was done, and whether its session was resumed (`r`) or not (`.`).
    log: PathBuf,
    _directory: TempDir,
}

impl Server {
    fn start(key: KeyKind) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("timed.log");
        let timed = format!("log_format timed \"$msec $ssl_session_reused\"; access_log {} timed;", log.display());
        let config = NginxConfig {
            http_directives: timed,
            worker_connections: 8192,
            backlog: Some(4096),
            ..NginxConfig::new(vec![Lab::new().identity(key)])
        };
        Self { nginx: Nginx::start(config).unwrap(), log, _directory: directory }
    }

    fn load(&self, flags: &str) -> Reprise {
        let pid = self.nginx.pid().to_string();
        Reprise::load(format!("{}/ok", self.nginx.address())).flags("--reuse-tickets --server-pid").arg(pid).flags(flags)
    }

    /// Its sessions are lost, and its sockets listen all the while.
    fn restart(&self) -> f64 {
        kill_process(Pid::from_raw(i32::try_from(self.nginx.pid()).unwrap()).unwrap(), Signal::HUP).unwrap();
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64()
    }

    /// The number of its youngest worker.
    fn worker(&self) -> Option<String> {
        let pid = self.nginx.pid();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        children.split_whitespace().last().map(str::to_owned)
    }

    /// When connections completed since, in seconds after it, and which of them resumed.
    fn completed_since(&self, from: f64) -> Vec<(f64, bool)> {
        let log = fs::read_to_string(&self.log).unwrap();
        let line = |line: &str| {
            let (at, reused) = line.split_once(' ')?;
            Some((at.parse::<f64>().ok()? - from, reused == "r"))
        };
        log.lines().filter_map(line).filter(|(at, _)| *at > 0.0).collect()
    }

    fn costs(&self, flags: &str) -> LoadSweep {
        let outcome = self.load(&format!("--sweep resumed=0..100 {flags}")).run().exits(0);
        let document: LoadDocument = serde_json::from_value(document(&outcome)).unwrap();
        document.sweep.unwrap()
    }
}

/// How long this process has waited for a processor that others had, in seconds.
fn waited_of(process: &str) -> Option<f64> {
    let figures = fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    Some(figures.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1e9)
}

/// So many processors are needed after the restart.
fn rate_that_needs(sweep: &LoadSweep, processors: f64) -> f64 {
    processors * 1e9 / sweep.costs.unwrap().full_ns as f64
}

/// Clients that all resume, and connect every other second.
fn target(rate: f64) -> PlanTarget {
    PlanTarget { rate, share: Some(1.0), processors: None, gap: Some(Duration::from_secs(2)) }
}

/// What the connections of this load should have cost the server, and what they did.
fn server_time(document: &LoadDocument, costs: LoadCosts) -> (f64, f64) {
    let stages = document.stages.iter().flat_map(|stage| &stage.completed);
    let cost = stages
        .map(|(kind, count)| *count as f64 * if kind.is_resumption() { costs.resumed_ns } else { costs.full_ns } as f64);
    (cost.sum(), document.server_cpu_ns.unwrap() as f64)
}

/// The server restarts once all have a session, and the load goes on for so many seconds; sessions are those of `rate` × `gap` clients, each
/// of which connects once in a gap.
fn restarted(server: &mut Server, plan: &LoadPlan, seconds: f64) -> Restarted {
    let clients = plan.clients.unwrap();
    // A full handshake brings two tickets. Half of a processor is enough for those, whatever is to come.
    let first_rate = plan.rate * (0.5 / plan.restart_processors).min(1.0);
    let first = 0.7 * clients as f64 / first_rate;
    let stages = format!("--stage {first:.3}s:{first_rate:.3} --stage {:.3}s:{:.3}", seconds + 1.0, plan.rate);
    let before = server.nginx.accounts().unwrap().len();
    let mut running = server.load(&format!("--mix ticket -c 4000 --sessions {clients} {stages}")).start();
    server.nginx.accounts_when(before + (first * first_rate + plan.rate) as usize, DEADLINE).unwrap();
    let old = server.worker();
    let (at, began) = (server.restart(), Instant::now());
    let mut waited = Vec::new();
    while !running.has_ended() {
        let worker = server.worker().filter(|worker| Some(worker) != old.as_ref());
        waited.extend(worker.and_then(|worker| Some((began.elapsed().as_secs_f64(), waited_of(&worker)?))));
        std::thread::sleep(Duration::from_millis(50));
    }
    Restarted { document: serde_json::from_value(document(&running.finish().exits(0))).unwrap(), at, waited }
}

/// A load under which the server restarted.
struct Restarted {
    document: LoadDocument,
    /// When it was told to, in seconds since 1970.
    at: f64,
    /// So many seconds after that, how long its new worker had waited for a processor, in seconds.
    waited: Vec<(f64, f64)>,
}

#[test]
fn each_client_makes_one_full_handshake_after_a_restart() {
    reprise_servers::require!("nginx");
    let mut server = Server::start(KeyKind::Rsa2048);
    let rate = rate_that_needs(&server.costs("--duration 300ms -c 16"), 0.3);
    // An idle processor does the same more slowly than a busy one: what is planned for is measured at its own rate.
    let sweep = server.costs(&format!("--duration 800ms --rate {rate}"));
    let costs = sweep.costs.unwrap();
    assert!(costs.full_ns > costs.resumed_ns && sweep.server_processors == Some(1.0), "{sweep:?}");
    let planned = plan(&sweep, target(rate)).unwrap();
    let Restarted { document, .. } = restarted(&mut server, &planned, 5.0);
    let clients = planned.clients.unwrap();
    assert!(document.refused.abs_diff(clients) * 20 <= clients, "{} of {clients} clients", document.refused);
    let (expected, used) = server_time(&document, costs);
    // The processors may be shared with other tests.
    assert!((0.7..1.4).contains(&(used / expected)), "{used} and not {expected}: {costs:?}");
}

/// Time of the clock, which `cargo test` does not look at.
#[test]
#[ignore = "wall time"]
#[allow(clippy::print_stdout, reason = "its figures are to be read")]
fn a_restart_beyond_the_processors_takes_as_long_as_planned() {
    reprise_servers::require!("nginx");
    let mut server = Server::start(KeyKind::Rsa4096);
    let busy = server.costs("--duration 3s -c 16");
    for needed in [0.6, 1.6] {
        let rate = rate_that_needs(&busy, needed);
        // An idle processor does the same more slowly than a busy one.
        let sweep = if needed < 1.0 { server.costs(&format!("--duration 3s --rate {rate}")) } else { busy.clone() };
        let costs = sweep.costs.unwrap();
        println!("costs: {costs:?}");
        let planned = plan(&sweep, target(rate)).unwrap();
        let recovery = planned.recovery_ns.unwrap() as f64 / 1e9;
        let Restarted { document, at, waited } = restarted(&mut server, &planned, recovery + 2.0);
        // What was due and had not completed yet: the backlog. Arrivals are even.
        let completed = server.completed_since(at);
        let waits = |(count, (seconds, _)): &(usize, &(f64, bool))| rate * (seconds - 0.1) > (count + 1) as f64;
        let backlog = completed.iter().enumerate().filter(waits).map(|(_, (at, _))| *at).fold(0.0, f64::max);
        let last_full = completed.iter().filter(|(_, resumed)| !resumed).map(|(at, _)| *at).fold(0.0, f64::max);
        let took = backlog.max(last_full);
        let (expected, used) = server_time(&document, costs);
        // What others took of its processor while it recovered is not the plan's to know.
        let waited = waited.iter().filter(|(at, _)| *at <= took).map(|(_, waited)| *waited).fold(0.0, f64::max);
        let left = PlanTarget { processors: Some(1.0 - waited / took), ..target(rate) };
        let with_what_was_left = plan(&sweep, left).unwrap().recovery_ns.unwrap() as f64 / 1e9;
        println!(
            "{rate:.0}/s: {:.2} processors after the restart; recovery {took:.2} s, planned {recovery:.2} s ({:+.1} %), with the {:.2} \
             processors that others left {with_what_was_left:.2} s ({:+.1} %); full handshakes {}, planned {}; server CPU {:.3} s, planned \
             {:.3} s ({:+.1} %)",
            planned.restart_processors,
            (took / recovery - 1.0) * 100.0,
            1.0 - waited / took,
            (took / with_what_was_left - 1.0) * 100.0,
            document.refused,
            planned.clients.unwrap(),
            used / 1e9,
            expected / 1e9,
            (used / expected - 1.0) * 100.0,
        );
        assert!((0.85..1.15).contains(&(used / expected)), "processor time: {used} and not {expected}");
        let ratio = took / with_what_was_left;
        assert!((0.85..1.15).contains(&ratio), "recovery: {took} s and not {with_what_was_left} s");
    }
}

#[test]
fn a_sweep_has_its_shares_in_order_and_says_what_is_unknown() {
    let server = server();
    let sweep = "--sweep resumed=100,0,50 --duration 200ms -c 4";
    let outcome = Reprise::load(server.address()).flags(sweep).run().exits(0);
    let swept: LoadDocument = serde_json::from_value(document(&outcome)).unwrap();
    let shares = swept.sweep.unwrap();
    assert_eq!(shares.shares.iter().map(|share| share.asked).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
    assert!(shares.shares.iter().all(|share| share.server_cpu_ns.is_none() && share.connections > 0), "{shares:?}");
    assert_eq!((shares.costs, shares.server_processors, swept.plan), (None, None, None));
    outcome.shows(&["Shares of resumed connections", "0, 50, 100 % of the connections offered a session"]);

    // Nothing can be resumed, so that nobody knows what that would cost.
    reprise_servers::require!("nginx");
    let identities = vec![Lab::new().identity(KeyKind::P256)];
    let config = NginxConfig { session_tickets: false, session_cache: SessionCache::Off, ..NginxConfig::new(identities) };
    let nginx = Nginx::start(config).unwrap();
    let plan = "--plan 1000 --gap 5s --sweep resumed=0,100 --duration 200ms -c 4 --server-pid";
    let outcome = Reprise::load(nginx.address()).flags(plan).arg(nginx.pid().to_string()).run().exits(0);
    let document = document(&outcome);
    assert!(document["plan"].is_null() && document["sweep"]["costs"].is_null(), "{document}");
    assert!(warns(&document, "what a resumed connection costs the server is unknown"), "{}", document["warnings"]);
}
