//! Against a store that does what no good one does. `tests/session` has real ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use reprise_session::store::{Answer, Answers, Fetch, Lookup, SharedStore, StoreKey};
use reprise_session::{KeyEncryptionKeys, Random, Rotation, SystemRandom};
use reprise_session_valkey::{Topology, Valkey, ValkeyConfig};

const HOUR: Duration = Duration::from_secs(3600);
const PATIENCE: Duration = Duration::from_secs(60);

/// What the store says to a command; `None` is silence.
type Say = fn(&str) -> Option<&'static str>;

/// A good store that is empty, forgets everything, and lets everyone set.
fn good(command: &str) -> Option<&'static str> {
    Some(match command {
        "INFO" => "$40\r\nrun_id:one\r\nrole:master\r\nmaster_replid:a\r\n",
        "ROLE" => "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n",
        "GET" | "GETDEL" => "$-1\r\n",
        "TIME" => "*2\r\n$10\r\n1750000000\r\n$1\r\n0\r\n",
        "EVALSHA" => ":1\r\n",
        _ => "+OK\r\n",
    })
}

struct Fake {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    fn start(say: Say) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let heard = Arc::clone(&all);
                thread::spawn(move || {
                    heard.lock().unwrap().push("connected".to_owned());
                    // Until the client goes.
                    serve(&stream, say, &heard)
                });
            }
        });
        Self { address, heard }
    }

    fn count(&self, command: &str) -> usize {
        self.heard.lock().unwrap().iter().filter(|heard| *heard == command).count()
    }

    fn config(&self) -> ValkeyConfig {
        let mut key = [0; 32];
        SystemRandom.fill(&mut key).unwrap();
        let keys = KeyEncryptionKeys::new([&key[..]]).unwrap();
        let topology = Topology::Single(format!("redis://{}", self.address));
        let mut config = ValkeyConfig::new(topology, Rotation::new(24 * HOUR).unwrap(), keys);
        // Nothing happens by the clock unless a test says so.
        (config.refresh, config.pause, config.budget, config.start) = (HOUR, HOUR, PATIENCE, PATIENCE);
        config
    }

    fn store(&self, change: impl FnOnce(&mut ValkeyConfig)) -> Valkey {
        let mut config = self.config();
        change(&mut config);
        Valkey::start(config).unwrap().0
    }
}

fn serve(stream: &TcpStream, say: Say, heard: &Mutex<Vec<String>>) -> Option<()> {
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let mut name = None;
        for _ in 0..length(&mut reader)? {
            let mut argument = vec![0; length(&mut reader)? + 2];
            reader.read_exact(&mut argument).ok()?;
            name.get_or_insert(String::from_utf8_lossy(&argument).trim().to_uppercase());
        }
        let name = name?;
        heard.lock().unwrap().push(name.clone());
        if let Some(answer) = say(&name) {
            writer.write_all(answer.as_bytes()).ok()?;
        }
    }
}

fn length(reader: &mut impl BufRead) -> Option<usize> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.trim().get(1..)?.parse().ok()
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn take(store: &Valkey) -> Fetch {
    store.fetch(vec![Lookup::Take(StoreKey::new([1; 32]))])
}

/// What is there without waiting.
fn at_once(fetch: &mut Fetch) -> Option<Answers> {
    match fetch.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answers) => Some(answers),
        Poll::Pending => None,
    }
}

fn wait(mut fetch: Fetch) -> Answers {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answers) = at_once(&mut fetch) {
            return answers;
        }
        assert!(Instant::now() < end, "no answer");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn where_another_is_always_first_looking_ends() {
    let fake = Fake::start(|command| if command == "EVALSHA" { Some(":0\r\n") } else { good(command) });
    let store = fake.store(|_| ());
    // It has given up for this hour, and is used all the same.
    assert!(store.is_connected());
    let (looks, connections) = (fake.count("EVALSHA"), fake.count("connected"));
    assert!(looks >= 8 && looks <= 8 * connections, "{looks} looks on {connections} connections");
    assert!(matches!(wait(take(&store)).answers[..], [(_, Answer::Absent)]));
}

#[test]
fn a_master_that_became_a_replica_is_left() {
    let fake = Fake::start(|command| match command {
        "GETDEL" => Some("-READONLY You can't write against a read only replica.\r\n"),
        _ => good(command),
    });
    let store = fake.store(|_| ());
    let before = fake.count("connected");
    assert!(wait(take(&store)).answers.is_empty());
    until("it connects again", || fake.count("connected") > before);
}

#[test]
fn a_replica_is_not_used() {
    let fake = Fake::start(|command| match command {
        "ROLE" => Some("*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:1\r\n$9\r\nconnected\r\n:0\r\n"),
        _ => good(command),
    });
    let store = fake.store(|config| config.start = Duration::from_millis(10));
    until("it tries again", || fake.count("ROLE") >= 2);
    assert!(!store.is_connected());
    assert!(matches!(wait(take(&store)).answers[..], [(_, Answer::Unanswered)]));
    assert_eq!(fake.count("GETDEL"), 0);
}

#[test]
fn more_than_the_bound_in_flight_do_not_ask() {
    let fake = Fake::start(|command| if command == "GETDEL" { None } else { good(command) });
    let store = fake.store(|config| config.in_flight = 2);
    let (_one, _two, mut three) = (take(&store), take(&store), take(&store));
    let answers = at_once(&mut three).expect("nobody waits who did not ask");
    assert!(matches!(answers.answers[..], [(_, Answer::Unanswered)]));
    until("two have asked", || fake.count("GETDEL") == 2);
}

#[test]
fn after_failures_in_a_row_nobody_asks() {
    let fake = Fake::start(|command| if command == "GETDEL" { Some("-ERR no\r\n") } else { good(command) });
    let store = fake.store(|config| config.failures = 2);
    let before = fake.count("connected");
    for _ in 0..5 {
        wait(take(&store));
    }
    // It may be the connection that is dead. That there is a new one does not show that the store answers.
    until("it connects again", || fake.count("connected") > before && store.is_connected());
    wait(take(&store));
    assert_eq!(fake.count("GETDEL"), 2);
}

#[test]
fn a_full_queue_of_writes_refuses() {
    let fake = Fake::start(|command| if command == "SET" { None } else { good(command) });
    // One is refused for its number, the other one for its bytes.
    for (entries, bytes) in [(4, 1 << 20), (1 << 20, 1000)] {
        let store = fake.store(|config| (config.queue, config.queue_bytes) = (entries, bytes));
        let put = |_| store.put(StoreKey::new([1; 32]), vec![1; 100], HOUR);
        let taken = (0..10_000).map(put).filter(|&is_taken| is_taken).count();
        assert!(taken < 10_000, "{taken}");
    }
}

#[test]
fn early_data_needs_a_store_that_has_been_up_for_a_window() {
    let fake = Fake::start(good);
    for (window, is_sure) in [(Duration::ZERO, true), (HOUR, false)] {
        let store = fake.store(|config| config.window = window);
        assert_eq!(wait(take(&store)).early_data, is_sure, "{window:?}");
    }
}

#[test]
fn a_demotion_under_one_connection_ends_early_data() {
    static IS_DEMOTED: AtomicBool = AtomicBool::new(false);
    let fake = Fake::start(|command| match command {
        "INFO" if IS_DEMOTED.load(Ordering::Relaxed) => Some("$39\r\nrun_id:one\r\nrole:slave\r\nmaster_replid:b\r\n"),
        _ => good(command),
    });
    let store = fake.store(|config| (config.window, config.refresh) = (Duration::ZERO, Duration::from_millis(5)));
    assert!(wait(take(&store)).early_data);
    IS_DEMOTED.store(true, Ordering::Relaxed);
    until("it is noticed", || !wait(take(&store)).early_data);
}

#[test]
fn times_without_end_are_taken_as_such() {
    let fake = Fake::start(|command| if command == "GET" { Some("-ERR no\r\n") } else { good(command) });
    let endless = |config: &mut ValkeyConfig| {
        (config.window, config.pause, config.budget) = (Duration::MAX, Duration::MAX, Duration::MAX);
        (config.failures, config.start) = (1, Duration::from_millis(100));
    };
    let fine = Fake::start(good);
    let store = fine.store(endless);
    let answers = wait(take(&store));
    assert!(matches!(answers.answers[..], [(_, Answer::Absent)]) && !answers.early_data);
    let store = fake.store(endless);
    assert!(matches!(wait(take(&store)).answers[..], [] | [(_, Answer::Unanswered)]));
}
