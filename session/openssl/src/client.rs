//! Sessions of clients, in a folder: a program that is started again resumes what it was given before.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use openssl::error::ErrorStack;
use openssl::ex_data::Index;
use openssl::ssl::{Ssl, SslContextBuilder, SslRef, SslSession, SslSessionCacheMode, SslSessionRef, SslVersion};
use reprise_session::store::StoreKey;
use reprise_session::ticket::{Limits, SealPurpose, Times, open, seal};
use reprise_session::{Policy, PolicyBuilder, Random, RingHandle, SystemRandom};
use rustls_pki_types::UnixTime;

use crate::callbacks;

/// A client's sessions, each in a file of its own, sealed: processes share them without waiting for one another, and one that is killed leaves
/// whole files. A session of TLS 1.3 is offered once, by one process.
#[derive(Clone)]
pub struct ClientSessions {
    folder: PathBuf,
    context: Vec<u8>,
    ring: RingHandle,
    limits: Limits,
    most: usize,
    name: Index<Ssl, String>,
}

impl ClientSessions {
    /// Those in `folder`, which is made if there is none, for its owner alone. Sessions are offered only under the same `context`, which says what decides
    /// whom the client trusts, such as its roots; keep the keys of the ring outside the folder.
    ///
    /// # Errors
    /// If the folder cannot be made, or OpenSSL has no memory.
    pub fn new(folder: impl Into<PathBuf>, context: &[u8], ring: RingHandle) -> io::Result<Self> {
        let folder = folder.into();
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&folder)?;
        let name = Ssl::new_ex_index().map_err(io::Error::other)?;
        Ok(Self { folder, context: context.to_vec(), ring, limits: Limits::new(), most: 8, name })
    }

    /// How long sessions are offered; by default one of them an hour, and none longer than its server says.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// How many are kept of each server; by default 8.
    #[must_use]
    pub fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Keeps whatever sessions servers give to clients of this context.
    ///
    /// # Errors
    /// What OpenSSL says.
    pub fn apply(&self, builder: &mut SslContextBuilder) -> Result<(), ErrorStack> {
        builder.set_session_cache_mode(SslSessionCacheMode::CLIENT | SslSessionCacheMode::NO_INTERNAL);
        let sessions = self.clone();
        builder.set_new_session_callback(move |ssl, session| {
            let Some(name) = ssl.ex_data(sessions.name).cloned() else { return };
            if let Err(error) = sessions.put(&name, &session) {
                tracing::debug!(%error, "a session is not kept");
            }
        });
        Ok(())
    }

    /// Offers the newest session that this server gave, and keeps what it gives under this name: the host, with the port where it matters. Call it
    /// before the handshake. Whether there was one.
    pub fn offer(&self, ssl: &mut SslRef, name: &str) -> bool {
        ssl.set_ex_data(self.name, name.to_owned());
        let mut files = self.files(name);
        files.sort_unstable();
        while let Some((_, path)) = files.pop() {
            if let Some(session) = self.take(name, &path) {
                return callbacks::set_session(ssl, &session).is_ok();
            }
        }
        false
    }

    fn policy(&self, name: &str) -> Policy {
        PolicyBuilder::new().field("openssl client", &self.context).field("name", name.as_bytes()).build()
    }

    fn put(&self, name: &str, session: &SslSessionRef) -> io::Result<()> {
        let issued = UnixTime::now();
        let state = session.to_der()?;
        let version = if session.protocol_version() == SslVersion::TLS1_3 { ONCE } else { OFTEN };
        let mut random = [0; 8];
        SystemRandom.fill(&mut random).map_err(io::Error::other)?;
        let file = format!("{}{:016x}.{version}", prefix(name), u64::from_be_bytes(random));
        let (times, key) = (Times { first_authentication: issued, issued }, StoreKey::of(file.as_bytes()));
        let ring = self.ring.load(issued);
        let sealed = seal(&ring, &self.policy(name), SealPurpose::Entry(&key), times, &state, &SystemRandom);
        let sealed = sealed.ok_or_else(|| io::Error::other("no key encrypts"))?;
        let temporary = self.folder.join(format!(".{file}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&temporary).and_then(|mut file| file.write_all(&sealed));
        let written = written.and_then(|()| fs::rename(&temporary, self.folder.join(file)));
        written.inspect_err(|_| {
            // It may never have been there.
            let _ = fs::remove_file(&temporary);
        })?;
        self.prune(name);
        Ok(())
    }

    /// The session in this file. One of TLS 1.3 is whose file this process removed; whatever cannot be used is removed too.
    fn take(&self, name: &str, path: &Path) -> Option<SslSession> {
        let sealed = fs::read(path).ok()?;
        let file = path.file_name()?.to_str()?;
        let now = UnixTime::now();
        let (ring, key) = (self.ring.load(now), StoreKey::of(file.as_bytes()));
        let opened = open(&ring, &self.policy(name), SealPurpose::Entry(&key), &self.limits, now, &sealed);
        let session = opened.ok().and_then(|opened| SslSession::from_der(&opened.state).ok());
        let session = session.filter(|session| {
            let end = session.time().saturating_add(session.timeout());
            u64::try_from(end).is_ok_and(|end| now.as_secs() < end)
        });
        let is_kept = session.is_some() && file.ends_with(OFTEN);
        (is_kept || fs::remove_file(path).is_ok()).then_some(session).flatten()
    }

    /// With the times at which they were written.
    fn files(&self, name: &str) -> Vec<(SystemTime, PathBuf)> {
        let prefix = prefix(name);
        let folder = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let of_name = folder.filter(|file| file.file_name().to_str().is_some_and(|file| file.starts_with(&prefix)));
        of_name.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect()
    }

    fn prune(&self, name: &str) {
        let mut files = self.files(name);
        files.sort_unstable();
        for (_, path) in files.iter().rev().skip(self.most) {
            // Another process may have been first.
            let _ = fs::remove_file(path);
        }
    }
}

impl fmt::Debug for ClientSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSessions").field("folder", &self.folder).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Ends of file names: whether a session is offered once, or as often as there is a connection.
const ONCE: &str = "once";
const OFTEN: &str = "often";

/// What the names of a server's files begin with: they tell nobody who it is that does not know already.
fn prefix(name: &str) -> String {
    let hash = StoreKey::of(name.as_bytes());
    let hex: String = hash.as_bytes().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{hex}.")
}
