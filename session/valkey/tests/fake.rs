//! Against a store that does what no good one does. `session/tests` has real ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use reprise_session::metrics::Counters;
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

    /// Of a store that refuses something: whoever starts anyway does not wait for it.
    fn unready(&self, change: impl FnOnce(&mut ValkeyConfig)) -> Valkey {
        let store = self.store(|config| {
            config.start = Duration::ZERO;
            change(config);
        });
        until("the store was looked at", || store.status().ring.version > 0 || !store.status().refusals.is_empty());
        store
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
    // One of them tries whether it may.
    let (looks, connections) = (fake.count("EVALSHA") - 1, fake.count("connected"));
    assert_eq!((looks, connections), (8, 1));
    assert!(matches!(wait(take(&store)).answers[..], [(_, Answer::Absent)]));
}

#[test]
fn a_ring_keeps_its_store_and_ends_it() {
    let fake = Fake::start(good);
    let counters = Arc::new(Counters::default());
    let mut config = fake.config();
    (config.refresh, config.metrics) = (Duration::from_millis(5), counters.clone());
    let (store, ring) = Valkey::start(config).unwrap();
    drop(store);
    let before = fake.count("TIME");
    until("the ring is looked at", || fake.count("TIME") > before + 2);
    drop(ring);
    until("nobody holds anything of it", || Arc::strong_count(&counters) == 1);
}

#[test]
fn a_master_that_became_a_replica_is_left() {
    static IS_DEMOTED: AtomicBool = AtomicBool::new(false);
    let fake = Fake::start(|command| match command {
        "GETDEL" if IS_DEMOTED.load(Ordering::Relaxed) => Some("-READONLY You can't write against a read only replica.\r\n"),
        _ => good(command),
    });
    let store = fake.store(|config| config.pause = Duration::from_millis(5));
    let before = fake.count("connected");
    IS_DEMOTED.store(true, Ordering::Relaxed);
    assert!(wait(take(&store)).answers.is_empty());
    until("it connects again", || fake.count("connected") > before);
}

#[test]
fn a_replica_is_not_used() {
    let fake = Fake::start(|command| match command {
        "ROLE" => Some("*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:1\r\n$9\r\nconnected\r\n:0\r\n"),
        _ => good(command),
    });
    let short = Duration::from_millis(10);
    let store = fake.store(|config| (config.start, config.pause) = (short, short));
    until("it tries again", || fake.count("ROLE") >= 2);
    assert!(!store.is_connected());
    assert!(matches!(wait(take(&store)).answers[..], [(_, Answer::Unanswered)]));
    assert_eq!(fake.count("GETDEL"), 0);
}

#[test]
fn more_than_the_bound_in_flight_do_not_ask() {
    static IS_SILENT: AtomicBool = AtomicBool::new(false);
    let fake = Fake::start(|command| if IS_SILENT.load(Ordering::Relaxed) { None } else { good(command) });
    let store = fake.store(|config| config.in_flight = 2);
    IS_SILENT.store(true, Ordering::Relaxed);
    let before = fake.count("GETDEL");
    let (_one, _two, mut three) = (take(&store), take(&store), take(&store));
    let answers = at_once(&mut three).expect("nobody waits who did not ask");
    assert!(matches!(answers.answers[..], [(_, Answer::Unanswered)]));
    until("two have asked", || fake.count("GETDEL") == before + 2);
}

#[test]
fn after_failures_in_a_row_nobody_asks() {
    let fake = Fake::start(|command| if command == "GETDEL" { Some("-ERR no\r\n") } else { good(command) });
    let store = fake.unready(|config| config.failures = 2 + 1);
    let (before, asked) = (fake.count("connected"), fake.count("GETDEL"));
    for _ in 0..5 {
        wait(take(&store));
    }
    // It is the store that fails, and not the connection. No handshake asks until it answers.
    assert!(matches!(wait(take(&store)).answers[..], [(_, Answer::Unanswered)]));
    assert!(store.is_connected() && !store.status().is_asked);
    assert_eq!((fake.count("GETDEL"), fake.count("connected")), (asked + 2, before));
}

#[test]
fn what_the_store_refuses_is_an_error_at_the_start() {
    let refusals: [(Say, &str); 4] = [
        (
            |command| match command {
                "EVALSHA" => Some("-NOPERM this user has no permissions to run the 'evalsha' command\r\n"),
                _ => good(command),
            },
            "the store refuses EVALSHA: NOPERM this user has no permissions to run the 'evalsha' command; \
             ACL SETUSER default ~reprise:* +get +getdel +set +evalsha +script|load +time +info +role",
        ),
        (
            |command| match command {
                "GETDEL" => Some("-ERR unknown command 'GETDEL', with args beginning with: 'reprise:probe' \r\n"),
                _ => good(command),
            },
            "the store refuses GETDEL: ERR unknown command 'GETDEL'; \
             Redis must be of version 6.2 or later; Valkey of any version will do",
        ),
        (
            |command| match command {
                "SET" => Some("-OOM command not allowed when used memory > 'maxmemory'.\r\n"),
                _ => good(command),
            },
            "the store refuses SET: OOM command not allowed when used memory > 'maxmemory'.; \
             the store is full: raise maxmemory, or set maxmemory-policy to volatile-lru",
        ),
        (
            |command| match command {
                "ROLE" => Some("-NOAUTH Authentication required.\r\n"),
                _ => good(command),
            },
            "the store refuses ROLE: NOAUTH Authentication required.; give a user and a password in its address",
        ),
    ];
    for (say, expected) in refusals {
        let fake = Fake::start(say);
        let error = Valkey::start(fake.config()).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(fake.count("connected"), 1);
    }
}

#[test]
fn refused_writes_stop_no_reading_and_make_no_connections() {
    static IS_FULL: AtomicBool = AtomicBool::new(false);
    let fake = Fake::start(|command| match command {
        "SET" | "EVALSHA" if IS_FULL.load(Ordering::Relaxed) => Some("-OOM command not allowed\r\n"),
        _ => good(command),
    });
    let counters = Arc::new(Counters::default());
    let store = fake.store(|config| {
        config.metrics = counters.clone();
        config.refresh = Duration::from_millis(5);
    });
    let refusing = |operation: &str, value: u8| {
        let line = format!("reprise_session_store_refusing{{operation=\"{operation}\"}} {value}");
        counters.render().lines().any(|found| found == line)
    };
    IS_FULL.store(true, Ordering::Relaxed);
    let put = || store.put(StoreKey::new([1; 32]), vec![1; 100], HOUR).is_some();
    for _ in 0..20 {
        assert!(put());
        assert!(matches!(wait(take(&store)).answers[..], [(_, Answer::Absent)]));
    }
    until("the refusals are known", || refusing("put", 1) && refusing("ring", 1));
    let status = store.status();
    assert!(status.is_connected && status.is_asked && !status.is_healthy(), "{status}");
    assert!(status.to_string().contains("refused: the store refuses SET: OOM command not allowed;"), "{status}");
    IS_FULL.store(false, Ordering::Relaxed);
    until("they are over", || refusing("put", 0) && refusing("ring", 0));
    assert!(store.status().is_healthy(), "{}", store.status());
    assert_eq!((fake.count("connected"), store.status().retries), (1, 0));
}

#[test]
fn what_is_too_large_is_not_there() {
    static ENTRIES: LazyLock<[String; 2]> =
        LazyLock::new(|| [1 << 16, (1 << 16) + 1].map(|length| format!("${length}\r\n{}\r\n", "x".repeat(length))));
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let fake = Fake::start(|command| match command {
        "GETDEL" => ENTRIES.get(NEXT.load(Ordering::Relaxed)).map(String::as_str),
        _ => good(command),
    });
    let store = fake.store(|_| ());
    assert!(matches!(&wait(take(&store)).answers[..], [(_, Answer::Found(entry))] if entry.len() == 1 << 16));
    NEXT.store(1, Ordering::Relaxed);
    assert!(matches!(wait(take(&store)).answers[..], [(_, Answer::Absent)]));
}

#[test]
fn a_full_queue_of_writes_refuses() {
    static IS_SILENT: AtomicBool = AtomicBool::new(false);
    let fake =
        Fake::start(|command| if command == "SET" && IS_SILENT.load(Ordering::Relaxed) { None } else { good(command) });
    // One is refused for its number, the other one for its bytes.
    for (entries, bytes) in [(4, 1 << 20), (1 << 20, 1000)] {
        IS_SILENT.store(false, Ordering::Relaxed);
        let store = fake.store(|config| (config.queue, config.queue_bytes) = (entries, bytes));
        IS_SILENT.store(true, Ordering::Relaxed);
        let put = |_| store.put(StoreKey::new([1; 32]), vec![1; 100], HOUR).is_some();
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
