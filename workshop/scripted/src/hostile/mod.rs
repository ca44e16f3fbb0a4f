//! Servers that are broken or mean, in tables: what each does, what the client makes of it, and so what a user reads.
//!
//! `workshop/scripted/tests/hostile.rs` holds the engine to it, and bounds its memory; `tool/cli/tests/hostile` plays
//! the same servers over sockets to the real program.

mod each_line;
mod full;
mod resumed;
mod retried;
mod sayings;

use crate::play::{Deviation, Play};
use crate::setting::{Line, Setting};

/// One server.
#[derive(Clone, Debug)]
pub struct HostileServer {
    /// What it does.
    pub name: String,
    /// What it would be if it were honest.
    pub setting: Setting,
    /// Where it is not.
    pub deviations: Vec<(usize, Deviation)>,
    /// What is to come of it.
    pub expected: Expected,
    /// The alert that the client sends it, where the table says which.
    pub told: Option<&'static str>,
}

/// What comes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The client refuses with this error, which the user reads: exit 3.
    Refused(&'static str),
    /// The client waits for this message until its time is up, which the user reads: exit 3.
    Awaited(&'static str),
    /// The connection breaks while the client waits for this message, which the user reads: exit 3.
    Broken(&'static str),
    /// The client bears it, and its request is answered: exit 0. This stands among the connection's events.
    Borne(&'static str),
    /// The client bears it, for as long as its user lets it: the response never ends, exit 3.
    BorneUntilTimeout,
}

impl HostileServer {
    /// A server that deviates at one line.
    fn at(name: &str, setting: Setting, line: &Line, deviation: Deviation, expected: Expected) -> Self {
        let name = format!("{}: {name}", title(&setting));
        Self { name, setting, deviations: Vec::new(), expected, told: None }.also(line, deviation)
    }

    /// It deviates at this line too.
    fn also(mut self, line: &Line, deviation: Deviation) -> Self {
        let place = self.setting.lines().iter().position(|known| known == line);
        let place = place.unwrap_or_else(|| panic!("{}: no such line", self.name));
        self.deviations.push((place, deviation));
        self
    }

    /// The client tells it why.
    fn telling(self, alert: &'static str) -> Self {
        Self { told: Some(alert), ..self }
    }

    /// The server, for one connection.
    pub fn play(&self) -> Play {
        Play::deviating(self.setting, &self.deviations)
    }
}

/// Every case: those of the tables, and what may happen at any line.
pub fn cases() -> Vec<HostileServer> {
    [each_line::cases(), full::cases(), retried::cases(), resumed::cases()].concat()
}

/// `TLS 1.3, ticket`.
fn title(setting: &Setting) -> String {
    let version = setting.version.number();
    if setting.resumes() { format!("TLS {version}, {}", setting.kind) } else { format!("TLS {version}") }
}
