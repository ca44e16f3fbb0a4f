//! `reprise explain [ID]`: what a cause is, how it shows, how to confirm it, what fixes it.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use reprise_diagnosis::{Cause, cause, causes};
use reprise_probe::Interrupt;
use reprise_report::{html, markdown, terminal};

use crate::ending::Ending;
use crate::outputs::{Output, print_page};

/// Explain a cause: what happens, how it shows, how to fix it.
#[derive(Args, Clone)]
pub(crate) struct ExplainArgs {
    /// Cause, as findings name it: 'not-offered'; without it, list all causes
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Write Markdown; '-' is standard output
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write one HTML file; '-' is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "markdown")]
    html: Option<PathBuf>,
}

pub(super) fn run(arguments: ExplainArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let about = arguments.id.as_deref().map(known).transpose()?;
    if let Some(file) = arguments.html {
        let page = about.map_or_else(|| html::causes(causes()), html::cause);
        Output::open(&file)?.write(page.as_bytes())?;
        return Ok(Ending::Done);
    }
    match (arguments.markdown, about) {
        (Some(file), Some(cause)) => Output::open(&file)?.write(markdown::cause(cause).as_bytes())?,
        (Some(file), None) => Output::open(&file)?.write(markdown::causes(causes()).as_bytes())?,
        (None, Some(cause)) => print_page(|style| terminal::cause(cause, style))?,
        (None, None) => print_page(|style| terminal::causes(causes(), style))?,
    }
    Ok(Ending::Done)
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
        assert!(nearest("hrr").contains(&"early-data-hrr"));
        assert_eq!(nearest("\u{1b}[2J"), [""; 0]);
        assert_eq!(nearest(""), [""; 0]);
    }
}
