//! The rows of `--like`: what real clients send, captured from those that are installed.

mod capture;
mod programs;

use anyhow::{Context, bail};
use reprise_clients::{ClientRow, HelloRecord, RowFile};

use self::capture::hellos_of;
use self::programs::{CLIENTS, Client};
use crate::workspace::Workspace;

/// Where the rows are.
const FOLDER: &str = "tls/clients/src/rows";

/// Captures the ClientHello of each client that is installed, of those named: writes its row, or compares it.
pub(crate) fn run(workspace: &Workspace, names: &[String], check: bool) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| CLIENTS.iter().all(|client| client.row != *name)) {
        let known: Vec<&str> = CLIENTS.iter().map(|client| client.row).collect();
        bail!("no client {unknown}; there are {}", known.join(", "));
    }
    let mut differing = Vec::new();
    for client in CLIENTS.iter().filter(|client| names.is_empty() || names.iter().any(|name| name == client.row)) {
        let Some(version) = (client.version)() else {
            println!("{}: NOT RUN: {} is not installed", client.row, client.program);
            continue;
        };
        let hello = seen(client).with_context(|| client.row.to_owned())?;
        let path = workspace.root().join(FOLDER).join(format!("{}.json", client.row));
        if !check {
            let row = RowFile {
                name: client.row.to_owned(),
                client: version,
                captured: today()?,
                by: client.by.to_owned(),
                remembers_retry: client.remembers_retry,
                hello,
            };
            std::fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&row)?))?;
            println!("{}: wrote {}", client.row, row.client);
            continue;
        }
        let row = ClientRow::named(client.row).with_context(|| format!("{} has no row", client.row))?;
        let differences = row.hello.differences(&hello);
        println!("{}: {version}: {}", client.row, if differences.is_empty() { "as its row says" } else { "differs" });
        if row.client == version {
            differing.extend(differences.iter().map(|difference| format!("{}: {difference}", client.row)));
        } else {
            // Another version may send something else: the row names its own.
            differences.iter().for_each(|difference| println!("  the row is of {}: {difference}", row.client));
        }
    }
    if !differing.is_empty() {
        bail!("not what the rows say; run `cargo xtask like` and commit:\n  {}", differing.join("\n  "));
    }
    Ok(())
}

/// What a client says over several connections.
fn seen(client: &Client) -> anyhow::Result<HelloRecord> {
    let hellos = hellos_of(client)?;
    let mut records = hellos.iter().map(|(version, body)| HelloRecord::read(*version, body));
    let first = records.next().context("it sent no ClientHello")??;
    records.try_fold(first, |merged, record| Ok(merged.beside(&record?)))
}

/// The date, as rows have it.
fn today() -> anyhow::Result<String> {
    let output = std::process::Command::new("date").args(["-u", "+%F"]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
