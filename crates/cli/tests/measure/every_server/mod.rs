//! What is said of each connection is what the server says of it: every server of the lab, with its cache on and off and
//! its tickets on and off, each version, each kind. The table of it stands in the guide.

mod subjects;
mod table;

use std::io::{self, Write};

use reprise_lab::servers::missing;
use reprise_lab::{Identity, KeyKind};
use reprise_trace::document::{MeasureDocument, Run};
use reprise_trace::{Kind, Version};

use crate::harness::{Lab, assert_account_for};
use subjects::{Setting, Subject};
use table::{Row, Table};

/// Samples of each kind, for each key.
const COUNT: u32 = 3;

const KEYS: [KeyKind; 2] = [KeyKind::Rsa2048, KeyKind::P256];

#[test]
fn every_server_agrees_connection_for_connection() {
    let lab = Lab::new();
    let identities = KEYS.map(|key| lab.identity(key));
    let mut measured = Table::default();
    for subject in subjects::all() {
        if let Some(not_run) = subject.needs.iter().find_map(|program| missing(program)) {
            not_run.announce();
            continue;
        }
        let rows = subject.settings.iter().map(|setting| row(&lab, &identities, &subject, setting));
        measured.rows.extend(rows);
    }
    let _ = writeln!(io::stderr(), "{measured}");
    table::hold_against_the_guide(&measured);
}

/// Measures one server under one setting, with a key of each kind.
fn row(lab: &Lab, identities: &[Identity], subject: &Subject, setting: &Setting) -> Row {
    let cells: Vec<Vec<String>> = identities
        .iter()
        .map(|identity| {
            let case = format!("{} {setting:?} {}", subject.name, identity.label());
            let mut server = (setting.start)(identity);
            let outcome = lab.measure(server.address()).count(COUNT).run().exits(0);
            let document = outcome.document();
            assert_account_for(&mut *server, &document, &case);
            COLUMNS.iter().map(|column| column.cell(&document)).collect()
        })
        .collect();
    // No server treats one kind of key otherwise than the other.
    assert!(cells.windows(2).all(|pair| pair[0] == pair[1]), "{} {setting:?}: {cells:?}", subject.name);
    Row {
        server: subject.name.to_owned(),
        version: subject.version.clone(),
        cache: setting.cache.to_string(),
        tickets: setting.tickets.to_string(),
        cells: cells.into_iter().next().unwrap_or_default(),
    }
}

/// A column of the table: what was asked for.
struct Column {
    heading: &'static str,
    tls: Version,
    kind: Kind,
}

const COLUMNS: [Column; 5] = [
    Column { heading: "1.2 `full`", tls: Version::Tls12, kind: Kind::Full },
    Column { heading: "1.2 `id`", tls: Version::Tls12, kind: Kind::Id },
    Column { heading: "1.2 `ticket`", tls: Version::Tls12, kind: Kind::Ticket },
    Column { heading: "1.3 `full`", tls: Version::Tls13, kind: Kind::Full },
    Column { heading: "1.3 `ticket`", tls: Version::Tls13, kind: Kind::Ticket },
];

impl Column {
    fn cell(&self, document: &MeasureDocument) -> String {
        let Some(run) = document.run(self.tls, self.kind) else { return "–".to_owned() };
        match run.n {
            0 => "refused".to_owned(),
            n if n == u64::from(COUNT) => observed(run),
            n => format!("{n} of {COUNT}"),
        }
    }
}

/// How it came about, where there is more than one way.
fn observed(run: &Run) -> String {
    run.observed.psk_mode.map_or_else(|| "yes".to_owned(), |mode| format!("`{}`", mode.name()))
}
