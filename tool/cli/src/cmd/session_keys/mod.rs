//! `reprise session-keys`: ticket keys for servers, new, rotated and shown; never a key itself on a page.

mod haproxy_socket;
mod place;
mod secret;

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use reprise_probe::Interrupt;
use reprise_session::key_file::{KeyPeriod, lock, new_keys, replaced_keys, rotated_keys, stage_ring, write_ring};
use reprise_session::{KeyRing, SystemRandom};
use rustls_pki_types::UnixTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use self::place::{Medium, Place};
use crate::ending::Ending;
use crate::outputs::print;
use crate::values;

/// The name of a Secret that is told none.
const SECRET: &str = "session-keys";

/// A clock for tests.
const NOW: &str = "REPRISE_SESSION_KEYS_NOW";

/// Make, rotate and show ticket keys for nginx, HAProxy, Apache, Envoy, Kubernetes Secrets and the session library.
#[derive(Args, Clone)]
pub(crate) struct SessionKeysArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Clone)]
enum Action {
    /// Make keys: one that encrypts from now on, the next, and one before
    New {
        #[command(flatten)]
        places: Places,
        /// How long a key encrypts, 1h to 720h
        #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = values::parse_key_period)]
        period: Duration,
        /// Bytes of a key with its name; Apache takes 48 only
        #[arg(long, value_name = "BYTES", default_value_t = 80, value_parser = one_size)]
        key_bytes: usize,
        /// Name of the Secret [default: session-keys]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Namespace of the Secret
        #[arg(long, value_name = "NAME")]
        namespace: Option<String>,
        /// Replace keys that exist: sessions that they sealed are lost
        #[arg(long)]
        force: bool,
    },
    /// Make the next key if it is due; it decrypts for a whole period before it encrypts
    ///
    /// Run it often, such as every hour: it changes nothing before its time. A file and its copies are replaced as a whole.
    Rotate {
        #[command(flatten)]
        places: Places,
        /// How long a new key encrypts, instead of as long as the last one
        #[arg(long, value_name = "DURATION", value_parser = values::parse_key_period)]
        period: Option<Duration>,
        /// After a leak: replace all keys at once, so that sessions that they sealed are refused
        #[arg(long)]
        now: bool,
        /// Take this for the time, in seconds since 1970
        #[arg(long, value_name = "SECONDS", hide = true, env = NOW)]
        clock: Option<u64>,
    },
    /// List names and periods of keys
    ///
    /// Exit code 1 if nobody renews them.
    Show {
        /// FORMAT:PATH, or 'secret-FORMAT:-' for a Secret as JSON on standard input; FORMAT is own, nginx, haproxy, apache or envoy
        place: Place,
        /// Take this for the time, in seconds since 1970
        #[arg(long, value_name = "SECONDS", hide = true, env = NOW)]
        clock: Option<u64>,
    },
}

#[derive(Args, Clone)]
struct Places {
    /// FORMAT:PATH, or 'secret-FORMAT:-' for a Secret as JSON on standard input and output; FORMAT is own, nginx (a folder),
    /// haproxy, apache or envoy (a file for SDS)
    place: Place,
    /// Write the same keys there too, each time, or tell them to a running HAProxy: 'haproxy-socket:PATH'; may be repeated
    #[arg(long, value_name = "FORMAT:PATH")]
    also: Vec<Place>,
}

impl Places {
    fn all(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.place).chain(&self.also)
    }
}

pub(super) fn run(arguments: SessionKeysArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    match arguments.action {
        Action::New { places, period, key_bytes, name, namespace, force } => {
            let now = UnixTime::now();
            let is_secret = places.place.is_secret();
            ensure!(
                is_secret || (name.is_none() && namespace.is_none()),
                "--name and --namespace are a Secret's: secret-FORMAT:-"
            );
            ensure!(
                !is_secret || !force || !places.also.is_empty(),
                "--force replaces files: a Secret goes to standard output"
            );
            let ring = new_keys(period, key_bytes.saturating_sub(16), now, &SystemRandom)?;
            new(&places, force, (&ring, now), (name.as_deref().unwrap_or(SECRET), namespace.as_deref()))
        }
        Action::Rotate { places, period, now, clock } => {
            let (renew, clock) = (if now { Renewal::AllNow } else { Renewal::WhenDue }, time_of(clock));
            rotate(&places, renew, period, clock)
        }
        Action::Show { place, clock } => show(&place, time_of(clock)),
    }
}

/// Writes new keys everywhere, or nowhere.
fn new(
    places: &Places,
    force: bool,
    (ring, now): (&KeyRing, UnixTime),
    (name, namespace): (&str, Option<&str>),
) -> anyhow::Result<Ending> {
    let place = &places.place;
    if let Some(copy) = places.also.iter().find(|copy| copy.is_secret()) {
        copy.file()?;
    }
    let _locked = if place.is_secret() { None } else { Some(lock(place.file()?)?) };
    let existing = places.all().filter_map(|place| place.file().ok()).find(|path| path.exists());
    if let (Some(path), false) = (existing, force) {
        bail!("{} exists: --force replaces its keys, and loses the sessions that they sealed", path.display());
    }
    let mut staged = Vec::new();
    for place in places.all() {
        match &place.medium {
            Medium::File(path) => staged.push(stage_ring(path, place.format, ring, now)?),
            Medium::Socket(socket) => haproxy_socket::check(socket)?,
            Medium::Secret => {}
        }
    }
    if place.is_secret() {
        print(secret::new(place.format, ring, now, name, namespace)?.as_bytes())?;
    }
    for keys in staged {
        keys.commit()?;
    }
    for place in &places.also {
        if let Medium::Socket(socket) = &place.medium {
            haproxy_socket::update(socket, ring, now)?;
        }
    }
    Ok(Ending::Done)
}

/// Which keys take the place of others.
#[derive(Clone, Copy)]
enum Renewal {
    /// The next one, once it is due.
    WhenDue,
    /// All of them, for somebody else has them.
    AllNow,
}

fn rotate(places: &Places, renewal: Renewal, period: Option<Duration>, now: UnixTime) -> anyhow::Result<Ending> {
    let place = &places.place;
    let rotated = |ring: KeyRing| {
        let newest = ring.keys().filter_map(|key| KeyPeriod::of(key.name())).max_by_key(|period| period.not_before);
        let period = period.or(newest.map(|newest| newest.period));
        let period = period.context("the keys' names say no period: say --period, how long a key encrypts")?;
        anyhow::Ok(match renewal {
            Renewal::WhenDue => rotated_keys(&ring, period, now, &SystemRandom)?.unwrap_or(ring),
            Renewal::AllNow => replaced_keys(&ring, period, now, &SystemRandom)?,
        })
    };
    if place.is_secret() {
        let mut secret = secret::read(place.format)?;
        let ring = rotated(secret.ring()?)?;
        print(secret.with(&ring, now)?.as_bytes())?;
        return copy(places, &ring, now);
    }
    if place.holds_one_key() {
        bail!("apache's file has room for one key: rotate another file, with --also {place}");
    }
    let path = place.file()?;
    let _locked = lock(path)?;
    let ring = rotated(place.read()?)?;
    // Though no key is new, the next one may have become the current one, which nginx tells by the file's name.
    write_ring(path, place.format, &ring, now)?;
    copy(places, &ring, now)
}

/// Tells every other place, also behind one that fails: what failed is told at the next rotation.
fn copy(places: &Places, ring: &KeyRing, now: UnixTime) -> anyhow::Result<Ending> {
    let mut failed = Vec::new();
    for place in &places.also {
        let copied = match &place.medium {
            Medium::Socket(socket) => haproxy_socket::update(socket, ring, now),
            Medium::File(_) | Medium::Secret => place.file().and_then(|path| Ok(write_ring(path, place.format, ring, now)?)),
        };
        failed.extend(copied.err().map(|error| format!("{error:#}")));
    }
    if failed.is_empty() { Ok(Ending::Done) } else { bail!("{}", failed.join("\n")) }
}

fn show(place: &Place, now: UnixTime) -> anyhow::Result<Ending> {
    let ring = if place.is_secret() { secret::read(place.format)?.ring()? } else { place.read()? };
    let mut keys: Vec<_> = ring.keys().collect();
    keys.sort_by_key(|key| key.times().not_before);
    let encrypts = ring.encryption_key(now).map(|key| key.name());
    let mut page = String::new();
    for key in keys {
        let use_now = match KeyPeriod::of(key.name()) {
            _ if encrypts == Some(key.name()) => "encrypts",
            Some(period) if period.not_before > now => "next",
            _ => "decrypts",
        };
        let period = KeyPeriod::of(key.name());
        let period = period.map_or("no period".to_owned(), |p| format!("{} to {}", utc(p.not_before), utc(p.end())));
        writeln!(page, "{:?}  {:>2} bytes  {use_now:<8}  {period}", key.name(), key.material().len().saturating_add(16))?;
    }
    print(page.as_bytes())?;
    Ok(match place.files().check(&ring, now, Duration::ZERO) {
        Ok(()) => Ending::Done,
        Err(stale) => Ending::BadAnswer(stale.to_string()),
    })
}

fn time_of(seconds: Option<u64>) -> UnixTime {
    seconds.map_or_else(UnixTime::now, |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
}

fn utc(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let shown = OffsetDateTime::from_unix_timestamp(seconds).ok().and_then(|time| time.format(&Rfc3339).ok());
    shown.unwrap_or_else(|| time.as_secs().to_string())
}

fn one_size(text: &str) -> Result<usize, String> {
    match text {
        "48" => Ok(48),
        "80" => Ok(80),
        _ => Err("a key has 48 or 80 bytes with its name".to_owned()),
    }
}
