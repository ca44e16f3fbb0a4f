use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::format::KeyFileError;
use super::read::KeyFiles;
use rustls_pki_types::UnixTime;

use crate::key::{KeyName, KeyTimes};
use crate::metrics::{Metrics, RingState};
use crate::ring::KeyRing;
use crate::ring_handle::RingHandle;

/// Reads key files, and again every `interval`: a change takes effect at the next connection. Files that cannot be read
/// leave the last good ring in force. The watch lasts as long as a clone of the ring or of the watcher.
///
/// Keys that nobody renews are no error: [`Watcher::fault`], a warning of `tracing` and the metric `keys_stale` of whoever has the
/// ring's [`Resumption`](crate::rustls::Resumption) tell of them long before they end.
///
/// # Errors
/// [`KeyFileError`] if the files cannot be read now: a server without keys does not start.
pub fn watch(files: KeyFiles, interval: Duration) -> Result<(RingHandle, Watcher), KeyFileError> {
    let now = UnixTime::now();
    let ring = files.read_consistently()?;
    let checked = files.check(&ring, now, Duration::ZERO);
    let mut seen = Seen::of(&ring, now);
    let handle = RingHandle::new(ring);
    let mut journal = Journal { told: handle.reported(), fault: Arc::default(), path: files.path() };
    journal.ring(&handle.load(now), now, true);
    journal.checked(checked);
    let (stop, stopped) = mpsc::channel();
    let watcher = Watcher(Arc::new(Watching { fault: Arc::clone(&journal.fault), _stop: stop }));
    // The thread must not keep alive what keeps it alive.
    let watched = handle.downgrade();
    let watching = move || {
        while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            let Some(handle) = watched.upgrade() else { break };
            let now = UnixTime::now();
            let version = handle.load(now).version();
            let checked = reload(&files, &handle, &mut seen, now);
            let ring = handle.load(now);
            journal.ring(&ring, now, ring.version() != version);
            journal.checked(checked);
        }
    };
    let spawned = std::thread::Builder::new().name("ticket-keys".to_owned()).spawn(watching);
    spawned.map_err(|source| KeyFileError::Io { path: "a thread".into(), source })?;
    handle.keep(Arc::clone(&watcher.0) as _);
    Ok((handle, watcher))
}

/// [`watch`] for servers without a [`Resumption`](crate::rustls::Resumption): tells `metrics` of the keys.
///
/// # Errors
/// As [`watch`].
pub fn watch_with(
    files: KeyFiles,
    interval: Duration,
    metrics: Arc<dyn Metrics>,
) -> Result<(RingHandle, Watcher), KeyFileError> {
    let (ring, watcher) = watch(files, interval)?;
    ring.report_to(metrics);
    Ok((ring, watcher))
}

/// Tells the metrics and the log what the watch finds, and the log only what is new.
struct Journal {
    told: Arc<dyn Metrics>,
    fault: Arc<Mutex<Option<KeyFileError>>>,
    path: PathBuf,
}

impl Journal {
    fn ring(&self, ring: &KeyRing, now: UnixTime, is_new: bool) {
        let state = RingState::of(ring, now);
        self.told.ring(state);
        if is_new {
            let path = self.path.display();
            tracing::info!(target: "reprise_session", %path, keys = state.keys, version = state.version, "ticket keys were read");
        }
    }

    fn checked(&mut self, checked: Result<(), KeyFileError>) {
        self.told.keys_stale(checked.is_err());
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = |fault: &Option<KeyFileError>| fault.as_ref().map(std::mem::discriminant);
        let now = checked.err();
        if kind(&now) != kind(&fault) {
            match &now {
                // The path is in its text.
                Some(error) => tracing::warn!(target: "reprise_session", %error, "ticket keys are stale"),
                None => {
                    tracing::info!(target: "reprise_session", path = %self.path.display(), "ticket keys are in order again")
                }
            }
        }
        *fault = now;
    }
}

/// Tells what the watch of key files finds. The ring keeps the watch going: dropping this does not end it.
#[derive(Clone, Debug)]
pub struct Watcher(Arc<Watching>);

#[derive(Debug)]
struct Watching {
    fault: Arc<Mutex<Option<KeyFileError>>>,
    /// The thread ends when this is dropped.
    _stop: Sender<()>,
}

impl Watcher {
    /// What was wrong with the files the last time: they could not be read, or nobody renews them. `None` if all is well.
    /// Let an alarm ask.
    pub fn fault(&self) -> Option<String> {
        self.0.fault.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(ToString::to_string)
    }
}

/// What tells one ring from another, and since when it is that one.
struct Seen {
    keys: Vec<(KeyName, KeyTimes)>,
    since: UnixTime,
}

impl Seen {
    fn of(ring: &KeyRing, since: UnixTime) -> Self {
        Self { keys: ring.keys().map(|key| (key.name(), key.times())).collect(), since }
    }
}

fn reload(files: &KeyFiles, handle: &RingHandle, seen: &mut Seen, now: UnixTime) -> Result<(), KeyFileError> {
    let ring = files.read_consistently()?;
    let read = Seen::of(&ring, now);
    let is_changed = read.keys != seen.keys;
    if is_changed {
        *seen = read;
    }
    let checked = files.check(&ring, now, Duration::from_secs(now.as_secs().saturating_sub(seen.since.as_secs())));
    if is_changed {
        handle.follow_with(ring);
    }
    checked
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    use super::super::{FileTimes, KeyFileFormat, KeyPeriod, new_keys, write, write_ring};
    use super::*;
    use crate::at;
    use crate::key::{KeyError, TicketKey};
    use crate::random::{Random, SystemRandom};

    const TIMES: FileTimes = FileTimes::new().period(Duration::from_secs(3600)).lifetime(Duration::from_secs(600));

    fn key(number: u8, length: usize) -> TicketKey {
        let mut material = vec![0; length - 16];
        SystemRandom.fill(&mut material).unwrap();
        let times = KeyTimes { not_before: at(0), encrypt_until: at(1), decrypt_until: at(2) };
        TicketKey::new(KeyName([number; 16]), &material, times).unwrap()
    }

    fn files(format: KeyFileFormat, paths: &[&Path]) -> KeyFiles {
        KeyFiles::new(format, paths).times(TIMES)
    }

    /// One file with one key, as nginx has it.
    fn one_key() -> (tempfile::TempDir, PathBuf, KeyFiles) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        write(&path, KeyFileFormat::Nginx, &[&key(1, 80)]).unwrap();
        let files = files(KeyFileFormat::Nginx, &[&path]);
        (folder, path, files)
    }

    fn later(seconds: u64) -> UnixTime {
        at(UnixTime::now().as_secs() + seconds)
    }

    fn current(ring: &KeyRing) -> u8 {
        ring.encryption_key(UnixTime::now()).unwrap().name().0[0]
    }

    #[test]
    fn every_format_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let keys = [(1, 80), (2, 48), (3, 80), (4, 80)].map(|(number, length)| key(number, length));
        let all: Vec<&TicketKey> = keys.iter().collect();
        for (format, written, encrypts) in [
            (KeyFileFormat::Nginx, &all[..1], 1),
            (KeyFileFormat::Apache, &all[1..2], 2),
            (KeyFileFormat::Haproxy, &all[..], 3),
        ] {
            write(&path, format, written).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let read = files(format, &[&path]).read().unwrap();
            assert_eq!(current(&read), encrypts, "{format:?}");
            for (one, other) in written.iter().zip(read.keys()) {
                assert_eq!((one.name(), one.material()), (other.name(), other.material()), "{format:?}");
            }
        }
        assert!(matches!(write(&path, KeyFileFormat::Apache, &all[..1]), Err(KeyFileError::DoesNotFit { .. })));
        assert!(matches!(write(&path, KeyFileFormat::Haproxy, &all[..2]), Err(KeyFileError::DoesNotFit { .. })));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn zero_short_missing_and_exposed_keys_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let read = |content: &[u8], mode| {
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            files(KeyFileFormat::Nginx, &[&path]).read().map(|_| ())
        };
        let mut good = vec![0; 80];
        SystemRandom.fill(&mut good).unwrap();
        assert!(read(&good, 0o600).is_ok() && read(&good, 0o440).is_ok());
        assert!(matches!(read(&good, 0o644), Err(KeyFileError::Exposed { mode: 0o644, .. })));
        assert!(matches!(read(&good, 0o620), Err(KeyFileError::Exposed { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for length in [0, 15, 16, 47, 64, 79, 81] {
            good.resize(length, 7);
            let refused = read(&good, 0o600);
            assert!(matches!(refused, Err(KeyFileError::Key { source: KeyError::Length(_), .. })), "{length}: {refused:?}");
        }
        let zero = read(&[0; 80], 0o600);
        assert!(matches!(zero, Err(KeyFileError::Key { source: KeyError::NotRandom(_), .. })));
        let missing = files(KeyFileFormat::Nginx, &[&folder.path().join("missing")]).read();
        assert!(matches!(missing, Err(KeyFileError::Io { .. })));
        let none = files(KeyFileFormat::Nginx, &[]).read();
        assert!(matches!(none, Err(KeyFileError::Key { source: KeyError::None, .. })));
        let twice = {
            SystemRandom.fill(&mut good).unwrap();
            good.resize(80, 9);
            read(&good, 0o600).unwrap();
            files(KeyFileFormat::Nginx, &[&path, &path]).read()
        };
        assert!(matches!(twice, Err(KeyFileError::Key { source: KeyError::Twice(_), .. })));
    }

    #[test]
    fn haproxys_lines_are_checked_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let keys = [1, 2, 3].map(|number| key(number, 80));
        write(&path, KeyFileFormat::Haproxy, &keys.iter().collect::<Vec<_>>()).unwrap();
        let good = fs::read_to_string(&path).unwrap();
        let read = |content: &str| {
            fs::write(&path, content).unwrap();
            files(KeyFileFormat::Haproxy, &[&path]).read().map(|_| ())
        };
        assert!(read(&format!("\n{good}\n\n")).is_ok());
        assert!(matches!(read(&good.replacen('\n', "\n#\n", 1)), Err(KeyFileError::Base64 { line: 2, .. })));
        let two: String = good.lines().take(2).map(|line| format!("{line}\n")).collect();
        assert!(matches!(read(&two), Err(KeyFileError::TooFew { keys: 2, .. })));
    }

    fn dated(now: UnixTime) -> (tempfile::TempDir, PathBuf, KeyFiles) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let ring = new_keys(KeyPeriod::SHORTEST, 64, now, &SystemRandom).unwrap();
        write_ring(&path, KeyFileFormat::Reprise, &ring, now).unwrap();
        let files = files(KeyFileFormat::Reprise, &[&path]);
        (folder, path, files)
    }

    #[test]
    fn keys_of_a_file_that_nobody_renews_end() {
        // Two periods of an hour, and then what tickets live for.
        let (_folder, _, files) = dated(at(100_000));
        let ring = files.read().unwrap();
        let last = ring.keys().last().unwrap().name();
        assert!(ring.encryption_key(at(107_199)).is_some() && ring.encryption_key(at(107_200)).is_none());
        assert!(ring.decryption_key(last, at(107_799)).is_ok() && ring.decryption_key(last, at(107_800)).is_err());
        let check = |second| files.check(&ring, at(second), Duration::ZERO);
        assert!(check(105_399).is_ok());
        assert!(matches!(check(105_400), Err(KeyFileError::Overdue { left, .. }) if left.as_secs() == 1800));
        assert!(matches!(check(107_200), Err(KeyFileError::EncryptsNoMore { .. })));
        assert!(matches!(check(107_800), Err(KeyFileError::Over { .. })));
    }

    #[test]
    fn no_age_keeps_a_server_from_starting() {
        // Its keys ended years ago: full handshakes, and an alarm.
        let (_folder, _, files) = dated(at(100_000));
        let counters = Arc::new(crate::metrics::Counters::default());
        let (handle, watcher) = watch_with(files, Duration::from_secs(60), Arc::clone(&counters) as _).unwrap();
        assert!(handle.load(UnixTime::now()).encryption_key(UnixTime::now()).is_none());
        assert!(watcher.fault().unwrap().contains("no key decrypts since"));
        assert!(counters.render().contains("reprise_session_keys_stale 1\n"));
        // Keys without a period are used whatever the file's age is: it may have been copied or restored.
        let (_folder, path, files) = one_key();
        let changed = std::time::SystemTime::now() - Duration::from_secs(86_400 * 365);
        fs::File::options().append(true).open(&path).unwrap().set_modified(changed).unwrap();
        let (handle, watcher) = watch(files, Duration::from_secs(60)).unwrap();
        assert_eq!((current(&handle.load(UnixTime::now())), watcher.fault()), (1, None));
    }

    #[test]
    fn a_file_that_nobody_renews_is_reported() {
        let (_folder, path, files) = one_key();
        let handle = RingHandle::new(files.read().unwrap());
        let mut seen = Seen::of(&handle.load(UnixTime::now()), UnixTime::now());
        assert!(reload(&files, &handle, &mut seen, later(3500)).is_ok());
        let fault = reload(&files, &handle, &mut seen, later(3700)).unwrap_err();
        assert!(matches!(fault, KeyFileError::Unchanged { .. }), "{fault}");
        assert!(handle.load(later(3700)).encryption_key(later(3700)).is_some());
        // Writing the same keys again renews nothing.
        fs::write(&path, fs::read(&path).unwrap()).unwrap();
        assert!(reload(&files, &handle, &mut seen, later(3700)).is_err());
        write(&path, KeyFileFormat::Nginx, &[&key(2, 80)]).unwrap();
        assert!(reload(&files, &handle, &mut seen, later(3700)).is_ok());
    }

    #[test]
    fn the_ring_keeps_the_watch_going() {
        let (_folder, path, files) = one_key();
        let (handle, _) = watch(files, Duration::from_millis(5)).unwrap();
        write(&path, KeyFileFormat::Nginx, &[&key(2, 80)]).unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(20);
        while current(&handle.load(UnixTime::now())) != 2 {
            assert!(std::time::Instant::now() < end);
            std::thread::yield_now();
        }
        // And the watch does not keep the ring.
        let watched = handle.downgrade();
        drop(handle);
        while watched.upgrade().is_some() {
            assert!(std::time::Instant::now() < end);
            std::thread::yield_now();
        }
    }

    /// A Secret as the kubelet mounts it: a folder for each version, `..data` that leads to one, replaced by a rename.
    fn mount(folder: &Path, version: &str, keys: &[TicketKey]) {
        let data = folder.join(version);
        fs::create_dir(&data).unwrap();
        for (index, key) in keys.iter().enumerate() {
            write(&data.join(format!("{index}.key")), KeyFileFormat::Nginx, &[key]).unwrap();
            let link = folder.join(format!("{index}.key"));
            if link.symlink_metadata().is_err() {
                symlink(Path::new("..data").join(format!("{index}.key")), link).unwrap();
            }
        }
        symlink(version, folder.join("..data_tmp")).unwrap();
        fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
    }

    #[test]
    fn a_mounted_secret_is_read_as_a_whole_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        mount(path, "..2026_11_21", &[key(2, 80), key(1, 80)]);
        let secret = files(KeyFileFormat::Nginx, &[path]);
        let handle = RingHandle::new(secret.read_consistently().unwrap());
        let mut seen = Seen::of(&handle.load(UnixTime::now()), UnixTime::now());
        assert_eq!(current(&handle.load(UnixTime::now())), 2);
        assert_eq!(handle.load(UnixTime::now()).keys().count(), 2);

        mount(path, "..2026_11_22", &[key(3, 80), key(2, 80)]);
        reload(&secret, &handle, &mut seen, UnixTime::now()).unwrap();
        assert_eq!(current(&handle.load(UnixTime::now())), 3);
        let version = handle.load(UnixTime::now()).version();
        reload(&secret, &handle, &mut seen, UnixTime::now()).unwrap();
        assert_eq!(handle.load(UnixTime::now()).version(), version, "nothing changed");

        // What cannot be read leaves the ring as it is.
        fs::remove_file(path.join("..data")).unwrap();
        fs::remove_dir_all(path.join("..2026_11_22")).unwrap();
        assert!(reload(&secret, &handle, &mut seen, UnixTime::now()).is_err());
        assert_eq!(current(&handle.load(UnixTime::now())), 3);
    }

    #[test]
    fn a_watched_file_takes_effect_by_itself() {
        let (_folder, path, files) = one_key();
        let (handle, watcher) = watch(files, Duration::from_millis(5)).unwrap();
        write(&path, KeyFileFormat::Nginx, &[&key(2, 80)]).unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(20);
        while current(&handle.load(UnixTime::now())) != 2 {
            assert!(std::time::Instant::now() < end);
            std::thread::yield_now();
        }
        fs::write(&path, "short").unwrap();
        while watcher.fault().is_none() {
            assert!(std::time::Instant::now() < end);
            std::thread::yield_now();
        }
        assert_eq!(current(&handle.load(UnixTime::now())), 2);
    }
}
