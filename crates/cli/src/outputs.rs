//! Where results go: the page to standard output, documents to files.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use reprise_report::terminal::Style;

use crate::opened_file::OpenedFile;
use crate::rendered::Rendered;

/// The formats of a result; each takes a file, `-` is standard output.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write the result as JSON (docs/schema/)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the figures as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}

/// The outputs of one command, opened before anything is measured, so that a wrong path costs nothing.
pub(crate) struct Outputs {
    json: Option<Output>,
    csv: Option<Output>,
    markdown: Option<Output>,
}

impl Outputs {
    /// Opens every file. What is there already is overwritten only when there is a result, and without one no new file stays.
    pub(crate) fn open(arguments: &OutputArgs) -> anyhow::Result<Self> {
        let open = |path: &Option<PathBuf>| path.as_deref().map(Output::open).transpose();
        let outputs =
            Self { json: open(&arguments.json)?, csv: open(&arguments.csv)?, markdown: open(&arguments.markdown)? };
        if outputs.all().filter(|output| matches!(output, Output::Standard)).count() > 1 {
            anyhow::bail!("only one of --json, --csv and --markdown can go to standard output");
        }
        Ok(outputs)
    }

    /// Writes the result in every format that was asked for, and the page unless a document took standard output. One
    /// output that fails does not take the others along.
    pub(crate) fn write(self, result: &impl Rendered) -> anyhow::Result<()> {
        let page = if self.all().any(|output| matches!(output, Output::Standard)) {
            Ok(())
        } else {
            print_page(|style| result.terminal(style))
        };
        self.write_documents(result).and(page)
    }

    /// Writes the result in every format that was asked for, and no page.
    pub(crate) fn write_documents(self, result: &impl Rendered) -> anyhow::Result<()> {
        let json = self.json.map_or(Ok(()), |output| output.write_with(|out| result.json(out)));
        let csv = self.csv.map_or(Ok(()), |output| output.write_with(|out| result.csv(out)));
        let markdown = self.markdown.map_or(Ok(()), |output| output.write(result.markdown().as_bytes()));
        json.and(csv).and(markdown)
    }

    /// Whether a document takes standard output, so that no page goes there.
    pub(crate) fn take_standard_output(&self) -> bool {
        self.all().any(Output::is_standard)
    }

    fn all(&self) -> impl Iterator<Item = &Output> {
        [&self.json, &self.csv, &self.markdown].into_iter().flatten()
    }
}

impl OutputArgs {
    /// The files that are named, with their flags.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let named = [("--json", &self.json), ("--csv", &self.csv), ("--markdown", &self.markdown)];
        named.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?))).collect()
    }
}

/// Refuses to write two outputs to one file, where the later would take the place of the earlier. Only sessions may come from
/// the file that they go to.
pub(crate) fn check_that_files_differ(files: &[(&str, &Path)]) -> anyhow::Result<()> {
    let whole: Vec<Option<PathBuf>> = files.iter().map(|(_, path)| whole_path(path)).collect();
    for (index, ((flag, path), one)) in files.iter().zip(&whole).enumerate() {
        let earlier = files.iter().zip(&whole).take(index).find(|(_, other)| one.is_some() && *other == one);
        if let Some(((other, _), _)) = earlier
            && (*other, *flag) != ("--session-in", "--session-out")
        {
            anyhow::bail!("{other} and {flag} name the same file, {}: give each its own", path.display());
        }
    }
    Ok(())
}

/// Whether a file is named that is standard output: then no page goes there too.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

/// The path without links and detours; `None` for standard output, and for what keeps nothing: a device, a pipe.
fn whole_path(path: &Path) -> Option<PathBuf> {
    if is_standard_output(path) || path.metadata().is_ok_and(|it| !it.is_file()) {
        return None;
    }
    let there = |path: &Path| path.canonicalize().ok();
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    there(path).or_else(|| Some(there(directory)?.join(path.file_name()?)))
}

/// Where one document goes.
pub(crate) enum Output {
    Standard,
    File(OpenedFile),
}

impl Output {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        Self::open_as(path, &mut OpenOptions::new())
    }

    /// For what only its owner may read, if the file is new.
    pub(crate) fn open_private(path: &Path) -> anyhow::Result<Self> {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::open_as(path, &mut options)
    }

    pub(crate) fn write_with(self, render: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        render(&mut bytes)?;
        self.write(&bytes)
    }

    pub(crate) fn is_standard(&self) -> bool {
        matches!(self, Self::Standard)
    }

    fn open_as(path: &Path, options: &mut OpenOptions) -> anyhow::Result<Self> {
        if is_standard_output(path) {
            return Ok(Self::Standard);
        }
        OpenedFile::open(path, options.write(true)).map(Self::File)
    }

    pub(crate) fn write(self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Standard => print(bytes),
            Self::File(mut file) => file.overwrite(bytes),
        }
    }
}

/// Prints what is made for this terminal: its width, and whether it shows colour.
pub(crate) fn print_page(page: impl FnOnce(Style) -> String) -> anyhow::Result<()> {
    let out = io::stdout();
    let color = anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never;
    let width = if out.is_terminal() { terminal_width() } else { None };
    print(page(Style { color, width }).as_bytes())
}

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write standard output")
}

/// As many columns as the terminal has, or as `COLUMNS` says.
fn terminal_width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
}
