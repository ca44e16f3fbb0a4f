//! Where results go: the page to standard output, documents to files.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use reprise_report::terminal::Style;

use crate::opened_file::OpenedFile;
use crate::rendered::{Format, Rendered};

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
    /// Write the page with charts as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// The format of results that have single connections.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct HarArgs {
    /// Write each connection as an entry of an HTTP archive (HAR 1.2)
    #[arg(long, value_name = "FILE")]
    pub(crate) har: Option<PathBuf>,
}

impl HarArgs {
    /// The file that is named, with its flag.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        self.har.as_deref().map(|path| (HAR, path)).into_iter().collect()
    }
}

const HAR: &str = "--har";

/// The outputs of one command, opened before anything is measured, so that a wrong path costs nothing.
pub(crate) struct Outputs {
    formats: Vec<(Format, Output)>,
}

impl Outputs {
    /// Opens every file. What is there already is overwritten only when there is a result, and without one no new file stays.
    pub(crate) fn open(arguments: &OutputArgs) -> anyhow::Result<Self> {
        Self::open_with_har(arguments, &HarArgs::default())
    }

    /// The same for a result that has single connections.
    pub(crate) fn open_with_har(arguments: &OutputArgs, har: &HarArgs) -> anyhow::Result<Self> {
        let har = har.har.as_deref().map(|path| (HAR, Format::Har, path));
        let named: Vec<(&str, Format, &Path)> = arguments.named().chain(har).collect();
        check_standard_output(named.iter().map(|(flag, _, path)| (*flag, *path)))?;
        let open = |(_, format, path): (_, Format, &Path)| anyhow::Ok((format, Output::open(path)?));
        Ok(Self { formats: named.into_iter().map(open).collect::<anyhow::Result<_>>()? })
    }

    /// Writes the result in every format that was asked for, and the page unless a document took standard output. One
    /// output that fails does not take the others along.
    pub(crate) fn write(self, result: &impl Rendered) -> anyhow::Result<()> {
        let page = if self.take_standard_output() { Ok(()) } else { print_page(|style| result.terminal(style)) };
        self.write_documents(result).and(page)
    }

    /// Writes the result in every format that was asked for, and no page.
    pub(crate) fn write_documents(self, result: &impl Rendered) -> anyhow::Result<()> {
        let write = |(format, output): (Format, Output)| output.write_with(|out| result.write(format, out));
        self.formats.into_iter().map(write).fold(Ok(()), anyhow::Result::and)
    }

    /// Whether a document takes standard output, so that no page goes there.
    pub(crate) fn take_standard_output(&self) -> bool {
        self.formats.iter().any(|(_, output)| output.is_standard())
    }
}

impl OutputArgs {
    /// The files that are named, with their flags.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        self.named().map(|(flag, _, path)| (flag, path)).collect()
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, Format, &Path)> {
        let all = [
            ("--json", Format::Json, &self.json),
            ("--csv", Format::Csv, &self.csv),
            ("--markdown", Format::Markdown, &self.markdown),
            ("--html", Format::Html, &self.html),
        ];
        all.into_iter().filter_map(|(flag, format, path)| Some((flag, format, path.as_deref()?)))
    }
}

/// Refuses two documents on standard output.
pub(crate) fn check_standard_output<'a>(files: impl IntoIterator<Item = (&'a str, &'a Path)>) -> anyhow::Result<()> {
    let flags: Vec<&str> = files.into_iter().filter(|(_, path)| is_standard_output(path)).map(|(flag, _)| flag).collect();
    if flags.len() > 1 {
        anyhow::bail!("only one of {} can go to standard output", flags.join(" and "));
    }
    Ok(())
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
    let width = width();
    print(page(Style { color, width }).as_bytes())
}

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write standard output")
}

/// As many columns as `COLUMNS` says, or as the terminal has; `None` where neither is there.
pub(crate) fn width() -> Option<usize> {
    let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    columns().or_else(of_terminal)
}

/// As `COLUMNS` says.
pub(crate) fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}
