//! The table of clients in the guide is what these tests check.

use std::path::{Path, PathBuf};
use std::{env, fs};

use reprise_harness::Reprise;

use crate::diagnose_client::cases::{CASES, Expected};
use crate::diagnose_client::diagnosis;

/// The pages, from the root of the workspace.
const README: &str = "README.md";
const PAGE: &str = "docs/guide/03-diagnose-a-client.md";

const BEGIN: &str = "<!-- clients: written by the tests -->\n\n";
const END: &str = "\n<!-- clients: end -->";

/// Set to write the page instead.
const WRITE: &str = "REPRISE_WRITE_CLIENTS";

#[test]
fn the_guide_has_the_table_of_clients() {
    let path = path(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    if env::var_os(WRITE).is_some() {
        fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", table_of_clients())).unwrap();
    } else {
        assert_eq!(table, table_of_clients(), "{WRITE}=1 writes it");
    }
}

/// Also those in a table, which nothing else runs.
#[test]
fn every_command_that_a_page_shows_gives_a_verdict() {
    reprise_servers::require!("curl", "sh", "psql");
    for page in [README, PAGE] {
        let text = fs::read_to_string(path(page)).unwrap();
        let clients: Vec<(Vec<&str>, &str)> = text.split("reprise diagnose --listen ").filter_map(client).collect();
        assert!(!clients.is_empty(), "{page} shows no client");
        for (flags, client) in clients {
            let call = Reprise::new(LISTEN).args(flags).args(["--", "sh", "-c", client]);
            let verdict = diagnosis(&call.run()).verdict;
            assert!(!verdict.starts_with("No "), "{page}: {client}: {verdict}");
        }
    }
}

const LISTEN: [&str; 5] = ["diagnose", "--listen", "0", "--json", "-"];

/// Further flags and the command of the client, from what follows `--listen`: first the port.
fn client(text: &str) -> Option<(Vec<&str>, &str)> {
    let (flags, client) = text.split(['`', '\n']).next()?.split_once(" -- ")?;
    Some((flags.split(' ').skip(1).collect(), client))
}

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)
}

fn table_of_clients() -> String {
    let mut lines = vec![
        "| client | what it does | what is found | what is printed and fixes it |".to_owned(),
        "| --- | --- | --- | --- |".to_owned(),
    ];
    lines.extend(CASES.iter().map(|case| {
        let found = match &case.expected {
            Expected::Healthy => "nothing: it resumes".to_owned(),
            Expected::Found { id, severity, confidence, .. } => {
                format!("`{id}`, {}, {}", severity.name(), confidence.name())
            }
        };
        let fixed = case.code().map_or_else(|| "–".to_owned(), |code| format!("`{}`", code.replace('|', "¦")));
        format!("| {} | {} | {found} | {fixed} |", case.software, case.does)
    }));
    lines.join("\n") + "\n"
}
