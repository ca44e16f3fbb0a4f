//! What is said of each connection is what the server says of it: every server of the lab, each version, each kind that it
//! can do, with its cache on and off and its tickets on and off. The tables of it stand in the guide.

mod beyond;
mod bystander;
mod column;
mod healthy;
mod services;
mod subjects;
mod table;

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::thread;

use reprise_lab::{Identity, KeyKind};
use reprise_servers::{NotRun, missing};

use beyond::Beyond;
use column::COLUMNS;
use reprise_harness::{Lab, assert_account_for};
use subjects::{Setting, Subject};
use table::{Row, Table};

/// Samples of each kind, for each key.
const COUNT: u32 = 3;

const KEYS: [KeyKind; 2] = [KeyKind::P256, KeyKind::Rsa2048];

#[test]
fn every_server_agrees_connection_for_connection() {
    let lab = Lab::new();
    let identities = KEYS.map(|key| lab.identity(key));
    let kinds = COLUMNS.map(|column| column.heading);
    let mut abilities = Table::new("abilities", &[&kinds[..], &Beyond::ALL.map(Beyond::heading)].concat());
    let mut settings = Table::new("settings", &[&["cache", "tickets"], &kinds[..]].concat());
    let mut subjects = subjects::all();
    subjects.retain(is_installed);
    // Side by side: most of the time passes with servers that start.
    let measured = thread::scope(|scope| {
        let (lab, identities) = (&lab, &identities);
        let measure = |subject| scope.spawn(move || Measured::new(lab, identities, subject));
        let under_way: Vec<_> = subjects.iter().map(measure).collect();
        under_way.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect::<Vec<_>>()
    });
    for (subject, Measured { mut kinds, beyond }) in subjects.iter().zip(measured) {
        let row = |cells| Row { server: subject.name.to_owned(), version: subject.version.clone(), cells };
        let best = (0..COLUMNS.len()).map(|index| column::best(&kinds, index));
        abilities.rows.push(row(best.chain(beyond).collect()));
        for (setting, cells) in subject.settings.iter().zip(&mut kinds) {
            cells.splice(..0, [setting.cache.to_string(), setting.tickets.to_string()]);
        }
        settings.rows.extend(kinds.into_iter().map(row));
    }
    let services = services::table();
    let _ = writeln!(io::stderr(), "{abilities}\n{settings}\n{services}");
    table::hold_against_the_guide(&[abilities, settings, services]);
}

fn is_installed(subject: &Subject) -> bool {
    let not_run = subject.needs.iter().find_map(|program| missing(program));
    not_run.iter().for_each(NotRun::announce);
    not_run.is_none()
}

/// What one server did.
struct Measured {
    /// For each of its settings, what became of each of [`COLUMNS`].
    kinds: Vec<Vec<String>>,
    /// For each of [`Beyond::ALL`].
    beyond: Vec<String>,
}

impl Measured {
    fn new(lab: &Lab, identities: &[Identity], subject: &Subject) -> Self {
        let kinds = subject.settings.iter().map(|setting| kinds_of(lab, identities, subject, setting));
        let beyond = Beyond::ALL.iter().map(|beyond| beyond.measure(lab, &identities[0], subject));
        Self { kinds: kinds.collect(), beyond: beyond.collect() }
    }
}

/// Measures one server under one setting, with a key of each kind: what became of each of [`COLUMNS`].
fn kinds_of(lab: &Lab, identities: &[Identity], subject: &Subject, setting: &Setting) -> Vec<String> {
    let mut cells: Vec<Vec<String>> = identities
        .iter()
        .map(|identity| {
            let case = format!("{} {setting:?} {}", subject.name, identity.label());
            let mut server = (setting.start)(identity);
            let document = lab.measure(server.address()).count(COUNT).run().exits(0).document();
            assert_account_for(&mut *server, &document, &case);
            COLUMNS.iter().map(|column| column.cell(&document)).collect()
        })
        .collect();
    // No server treats one kind of key otherwise than the other.
    assert!(cells.windows(2).all(|pair| pair[0] == pair[1]), "{} {setting:?}: {cells:?}", subject.name);
    cells.pop().unwrap_or_default()
}
