//! The levels of processes: a small C program, `tls/stacks/run/run.c`, loads the plugin, makes one request and ends.
//!
//! At *run* it is started for each request. At *lib* it was started once and has loaded the plugin; it forks for each request, and
//! the fork initialises the library. A session comes from a file and goes to one.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use reprise_model::{Kind, Level, Nanos, Version};
use reprise_pairs::{CpuClock, Failed, LineProcess, StackRef};
use tempfile::TempDir;

use crate::job::{GROUPS, LevelJob, ResumedBy, SUITES_12, SUITES_13};
use crate::requests::{LevelBatch, Seen};

/// Processes, one for each request.
pub(crate) struct Processes {
    level: Level,
    version: Version,
    sessions: Option<ResumedBy>,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// The process that forks, at *lib*.
    server: Option<LineProcess>,
    clock: CpuClock,
    /// The session's file lives as long as it does.
    _folder: TempDir,
}

/// One request.
#[derive(Clone, Copy, Default)]
struct Made {
    wall: Nanos,
    cpu: Nanos,
    seen: Option<Seen>,
    status: Option<u16>,
}

impl Processes {
    pub(crate) fn new(job: LevelJob) -> Result<Self, Failed> {
        let unsupported = |what: &str| Failed::unsupported(what);
        let StackRef::Plugin(plugin) = &job.stack else {
            return Err(unsupported("it is part of this program: only a plugin can be loaded by another"));
        };
        let program = job
            .helper
            .clone()
            .ok_or(unsupported("'reprise stacks install' builds reprise-run, which makes its requests"))?;
        if job.material.is_encrypted() && job.level != Level::Load {
            return Err(unsupported("a plugin takes no encrypted key: this program decrypts it, from ctx on"));
        }
        let broken = |error| Failed::broken(format!("no folder for a session: {error}"));
        let folder = tempfile::tempdir().map_err(broken)?;
        let mode = match job.level {
            Level::Load => "load",
            Level::Lib => "serve",
            _ => "request",
        };
        // A name without a slash would be looked for along the loader's path.
        let plugin = plugin.canonicalize().map_err(Failed::broken)?;
        let mut arguments = vec![mode.into(), plugin.into_os_string()];
        if job.level != Level::Load {
            arguments.extend(request(&job, &folder));
        }
        Ok(Self {
            level: job.level,
            version: job.version,
            sessions: job.sessions,
            program,
            arguments,
            server: None,
            clock: CpuClock::calibrated(),
            _folder: folder,
        })
    }

    /// The first requests are not counted: they read the files from the disk, and leave a session.
    pub(crate) fn warm_up(&mut self) -> Result<(Option<u16>, Vec<Seen>), Failed> {
        let (mut status, mut seen) = (None, Vec::new());
        for _ in 0..if self.sessions.is_some() { 2 } else { 1 } {
            let made = self.make()?;
            seen.extend(made.seen);
            status = made.status;
        }
        Ok((status, seen))
    }

    pub(crate) fn run(&mut self, requests: u32) -> Result<LevelBatch, Failed> {
        let mut batch = LevelBatch::default();
        for _ in 0..requests {
            let made = self.make()?;
            batch.wall_ns += made.wall.0;
            batch.cpu_ns += made.cpu.0;
            batch.connections.extend(made.seen);
        }
        Ok(batch)
    }

    fn make(&mut self) -> Result<Made, Failed> {
        if self.level == Level::Lib { self.fork() } else { self.start() }
    }

    /// A process of its own. Its CPU time is the kernel's account of it, and what it took here to start it.
    fn start(&mut self) -> Result<Made, Failed> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null()).stderr(Stdio::null());
        let (begin, before, mut here) = (Instant::now(), cpu_of_children()?, Nanos(0));
        let output = self.clock.time(&mut here, || command.output());
        let (wall, cpu) = (Nanos::from(begin.elapsed()), cpu_of_children()? - before + here);
        let output = output.map_err(|error| Failed::broken(format!("{}: {error}", self.program.display())))?;
        if let Some(signal) = output.status.signal() {
            return Err(Failed::crashed(format!("its process ended: signal {signal}")));
        }
        if self.level == Level::Load && output.status.success() {
            return Ok(Made { wall, cpu, ..Made::default() });
        }
        let (seen, status) = self.read(&String::from_utf8_lossy(&output.stdout))?;
        Ok(Made { wall, cpu, seen: Some(seen), status })
    }

    /// A fork of the process that has loaded the plugin, which says itself what it took.
    fn fork(&mut self) -> Result<Made, Failed> {
        let server = match &mut self.server {
            Some(server) => server,
            None => self.server.insert(fork_server(&self.program, &self.arguments)?),
        };
        server.send(b"go\n")?;
        // Whoever waits for this process has the patience.
        let answer = server.receive(Duration::MAX)?;
        let mut words = answer.splitn(3, ' ');
        let mut number = || words.next().and_then(|word| word.parse().ok()).map(Nanos);
        let (wall, cpu) = (number(), number());
        let (Some(wall), Some(cpu), Some(rest)) = (wall, cpu, words.next()) else { return Err(unreadable(&answer)) };
        let (seen, status) = self.read(rest)?;
        Ok(Made { wall, cpu, seen: Some(seen), status })
    }

    /// "ok PORT OFFERED RESUMED STATUS"
    fn read(&self, line: &str) -> Result<(Seen, Option<u16>), Failed> {
        let line = line.trim_end();
        if let Some(why) = line.strip_prefix("failed ") {
            return Err(Failed::because(why));
        }
        if let Some(how) = line.strip_prefix("crashed ") {
            return Err(Failed::crashed(format!("its process ended: {how}")));
        }
        let numbers: Option<Vec<i64>> =
            line.strip_prefix("ok ").map(|rest| rest.split(' ').filter_map(|word| word.parse().ok()).collect());
        let Some([port, offered, resumed, status]) = numbers.as_deref() else { return Err(unreadable(line)) };
        let kind = match (*resumed, self.version, self.sessions) {
            (0, ..) => Kind::Full,
            (1, Version::Tls12, Some(ResumedBy::Id)) => Kind::Id,
            (1, ..) => Kind::Ticket,
            _ => {
                let what = "the library does not tell whether it resumed, and nobody else watches there";
                return Err(Failed::unsupported(what));
            }
        };
        let port = u16::try_from(*port).map_err(|_| unreadable(line))?;
        Ok((Seen { port, kind, offered: *offered == 1 }, u16::try_from(*status).ok().filter(|status| *status > 0)))
    }
}

/// What the program is told of a request.
fn request(job: &LevelJob, folder: &TempDir) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut tell = |name: &str, value: OsString| {
        let mut argument = OsString::from(format!("{name}="));
        argument.push(value);
        arguments.push(argument);
    };
    let list = |numbers: &[u16]| numbers.iter().map(u16::to_string).collect::<Vec<_>>().join(",").into();
    let (version, suites) = match job.version {
        Version::Tls12 => (0x0303, SUITES_12),
        Version::Tls13 => (0x0304, SUITES_13),
    };
    let sessions = match job.sessions {
        None => 0,
        Some(ResumedBy::Id) => 1,
        Some(ResumedBy::Ticket) => 2,
    };
    tell("host", job.address.ip().to_string().into());
    tell("port", job.address.port().to_string().into());
    tell("server_name", job.server_name.clone().into());
    tell("version", version.to_string().into());
    tell("suites", list(suites));
    tell("groups", list(GROUPS));
    tell("sessions", sessions.to_string().into());
    tell("timeout", job.timeout_ms.to_string().into());
    tell("request", job.request.clone().into());
    tell("is_head", u8::from(job.is_head).to_string().into());
    for file in job.material.trust_files() {
        tell("trust", file.into());
    }
    if let Some(identity) = job.material.identity_files() {
        tell("chain", identity.chain.clone().into());
        tell("key", identity.key.clone().into());
    }
    if job.sessions.is_some() {
        tell("session", folder.path().join("session").into());
    }
    arguments
}

/// A process that has loaded the plugin, and forks for each line.
fn fork_server(program: &Path, arguments: &[OsString]) -> Result<LineProcess, Failed> {
    let broken = |error| Failed::broken(format!("{}: {error}", program.display()));
    let mut server = LineProcess::start(Command::new(program).args(arguments)).map_err(broken)?;
    match server.receive(Duration::MAX)?.trim_end() {
        "ready" => Ok(server),
        other => Err(Failed::broken(other.trim_start_matches("failed "))),
    }
}

/// CPU time of all children that have ended.
fn cpu_of_children() -> Result<Nanos, Failed> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(Failed::broken)?;
    let spent = usage.user_time().num_nanoseconds() + usage.system_time().num_nanoseconds();
    Ok(Nanos(spent.unsigned_abs()))
}

pub(crate) fn unreadable(line: &str) -> Failed {
    let said: String = line.chars().take(80).collect();
    Failed::broken(format!("reprise-run says {said:?}"))
}
