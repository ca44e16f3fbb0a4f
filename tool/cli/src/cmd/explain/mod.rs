//! `reprise explain [ID|RESULT]`: what a cause is, how it shows, how to confirm it, what fixes it; or where the time of a result goes.

#[cfg(target_os = "linux")]
mod result;

use std::path::Path;

use anyhow::{bail, ensure};
use clap::Args;
use reprise_diagnosis::{Cause, cause, causes};
use reprise_probe::Interrupt;
use reprise_report::{cause_page, html, markdown};

use crate::ending::Ending;
use crate::outputs::{Output, OutputArgs, print_page};

/// Explain a cause: what happens, how it shows, how to fix it; or a result: where its time goes, and what a change would bring.
///
/// Of a result of measure or trace, each operation of both sides is measured on this machine and laid out in the order of time: what
/// lies on the critical path, and what none of it explains. Of a result of measure with --server-pid, or of load with --server-pid and
/// --verify, how far the server stands above the floor: the least that its handshakes can cost here.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// Cause, as findings name it: 'not-offered'; or a JSON file that measure, trace or load wrote. Without it, list all causes
    #[arg(value_name = "ID|RESULT")]
    id: Option<String>,
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    result: result::ResultArgs,
    #[command(flatten)]
    outputs: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  reprise explain                                 every cause
  reprise explain not-offered                     one of them
  reprise explain measure.json                    where the time of each handshake goes
  reprise explain measure.json --what-if key=p-256,rtt=80ms
                                                  what another key, far away, would take
  reprise explain load.json                       how far the server stands above the least cost";

pub(super) fn run(arguments: ExplainArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    if let Some(file) = arguments.id.as_deref().filter(|id| is_file(id)) {
        #[cfg(target_os = "linux")]
        return result::run(Path::new(file), &arguments.result, &arguments.outputs, interrupt);
        #[cfg(not(target_os = "linux"))]
        bail!(
            "explaining {file} requires Linux: operations of TLS libraries are measured there alone (Ctrl-C: {})",
            interrupt.is_raised()
        );
    }
    #[cfg(target_os = "linux")]
    arguments.result.check_absence()?;
    let about = arguments.id.as_deref().map(known).transpose()?;
    let [markdown_file, html_file] = [&markdown::FORMAT, &html::FORMAT].map(|format| arguments.outputs.file(format));
    ensure!(arguments.outputs.only(&[&markdown::FORMAT, &html::FORMAT]), "a cause has --markdown and --html alone");
    ensure!(markdown_file.is_none() || html_file.is_none(), "a cause goes to one of --markdown and --html");
    let page = || about.map_or_else(|| cause_page::list(causes()), cause_page::page);
    let in_markdown = || about.map_or_else(|| cause_page::markdown::list(causes()), cause_page::markdown::page);
    match (html_file, markdown_file) {
        (Some(file), _) => Output::open(file)?.write(reprise_page::html::render(&page()).as_bytes())?,
        (None, Some(file)) => Output::open(file)?.write(in_markdown().as_bytes())?,
        (None, None) => print_page(&page())?,
    }
    Ok(Ending::Done)
}

/// Whether a result is meant: no cause has a dot or a slash in its name.
fn is_file(id: &str) -> bool {
    id == "-" || id.contains(['.', '/']) || (cause(id).is_none() && Path::new(id).is_file())
}

fn known(id: &str) -> anyhow::Result<&'static Cause> {
    if let Some(cause) = cause(id) {
        return Ok(cause);
    }
    match nearest(id).as_slice() {
        [] => bail!("unknown cause '{id}'; `reprise explain` lists all causes"),
        near => bail!("unknown cause '{id}'; similar: {}. `reprise explain` lists all causes", near.join(", ")),
    }
}

/// At most three names, the nearest first.
fn nearest(id: &str) -> Vec<&'static str> {
    let id = id.to_lowercase();
    let likeness = |slug: &str| if !id.is_empty() && slug.contains(&id) { 1.0 } else { strsim::jaro_winkler(&id, slug) };
    let mut near: Vec<(f64, &str)> = causes().map(|cause| (likeness(cause.slug), cause.slug)).collect();
    near.retain(|(likeness, _)| *likeness > 0.75);
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    near.into_iter().take(3).map(|(_, slug)| slug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_slip_finds_what_was_meant() {
        assert_eq!(nearest("not-ofered")[0], "not-offered");
        assert_eq!(nearest("NAGLE")[0], "nagle");
        assert!(nearest("data-hrr").contains(&"early-data-hrr"));
        assert_eq!(known("hrr").unwrap().slug, "hello-retry-request");
        assert_eq!(nearest("\u{1b}[2J"), [""; 0]);
        assert_eq!(nearest(""), [""; 0]);
    }
}
