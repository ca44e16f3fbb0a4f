//! Where results go: the page to standard output, documents to files.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use reprise_page::terminal::{self, Style};
use reprise_page::{Page, Shown};
use reprise_probe::{Readers, Replacement};
use reprise_report::{FORMATS, Format, Report};

use crate::notice::notice;

/// The flags of a command's formats, each of which takes a file, `-` is standard output; and how much a page shows.
#[derive(Clone)]
pub(crate) struct OutputArgs {
    files: Vec<(&'static Format, PathBuf)>,
    verbose: bool,
}

/// The formats of the command's documents, `reprise.COMMAND/1`; of `report`, which shows any document, all formats.
fn formats_of(command: &str) -> impl Iterator<Item = &'static Format> {
    let (is_report, family) = (command == "report", format!("reprise.{command}/"));
    FORMATS.into_iter().filter(move |format| is_report || format.schemas.iter().any(|schema| schema.starts_with(&family)))
}

impl OutputArgs {
    /// The file that is named for this format.
    pub(crate) fn file(&self, format: &Format) -> Option<&Path> {
        self.files.iter().find(|(named, _)| named.name == format.name).map(|(_, path)| path.as_path())
    }

    /// Whether no other format than these is named.
    pub(crate) fn only(&self, formats: &[&'static Format]) -> bool {
        self.files.iter().all(|(named, _)| formats.iter().any(|format| format.name == named.name))
    }

    /// Refuses a format that documents of this schema do not have.
    pub(crate) fn check(&self, schema: &str) -> anyhow::Result<()> {
        match self.files.iter().find(|(format, _)| !format.writes(schema)) {
            Some((format, _)) => {
                let commands = format.schemas.iter().filter_map(|schema| schema.strip_prefix("reprise.")?.split('/').next());
                let commands: Vec<&str> = commands.collect();
                anyhow::bail!("--{} applies only to results of {}", format.name, commands.join(", "))
            }
            None => Ok(()),
        }
    }
}

const VERBOSE: &str = "verbose";

const ABOUT_VERBOSE: &str =
    "Show the whole page: all rows, tables, findings and remedies; of a trace, what each message is for and says";

impl Args for OutputArgs {
    fn augment_args(command: Command) -> Command {
        let flag = |format: &'static Format| {
            let flag = Arg::new(format.name).long(format.name).value_name("FILE").value_parser(value_parser!(PathBuf));
            flag.help(format.help).help_heading("Output")
        };
        let flags: Vec<Arg> = formats_of(command.get_name()).map(flag).collect();
        let verbose = Arg::new(VERBOSE).short('v').long(VERBOSE).action(ArgAction::SetTrue);
        // Its page leaves nothing out.
        let verbose = verbose.hide_short_help(command.get_name() == "board");
        command.arg(verbose.help(ABOUT_VERBOSE).help_heading("Output")).args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OutputArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        // A format that is not one of the command's is no argument of it.
        let named = |format: &Format| matches.try_get_one::<PathBuf>(format.name).ok().flatten().cloned();
        let files = FORMATS.into_iter().filter_map(|format| Some((format, named(format)?))).collect();
        Ok(Self { files, verbose: matches.get_flag(VERBOSE) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The outputs of one command, opened before anything is measured, so that a wrong path costs nothing.
pub(crate) struct Outputs {
    formats: Vec<(&'static Format, Output)>,
    /// Whether pages show what is secondary too.
    in_full: bool,
}

impl Outputs {
    /// Opens every file; fails where one cannot be written, or where two documents want one place. What is there already is
    /// replaced only when there is a result, and without one no new file stays. `others` are files that the command uses beside.
    pub(crate) fn open(documents: &OutputArgs, others: &[(&'static str, &Path)]) -> anyhow::Result<Self> {
        let formats = documents.files.iter().map(|(format, path)| (format.name, path.as_path()));
        let others = others.iter().map(|(flag, path)| (flag.trim_start_matches('-'), *path));
        let named: Vec<(&str, &Path)> = formats.chain(others).collect();
        check_that_files_differ(&named)?;
        check_standard_output(&named)?;
        let open = |(format, path): &(&'static Format, PathBuf)| anyhow::Ok((*format, Output::open(path)?));
        let formats = documents.files.iter().map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self { formats, in_full: documents.verbose })
    }

    /// Writes the result in every format that was asked for, and the page unless a document took standard output. One
    /// output that fails does not take the others along.
    pub(crate) fn write<'a>(self, result: impl Into<Report<'a>>) -> anyhow::Result<()> {
        let report = self.shown(result.into());
        let page = if self.take_standard_output() { Ok(()) } else { print_page(&report.page()) };
        self.write_documents(report).and(page)
    }

    /// Writes the result in every format that was asked for, and no page. One that has nothing in it takes no other's place.
    pub(crate) fn write_documents<'a>(self, result: impl Into<Report<'a>>) -> anyhow::Result<()> {
        let report = self.shown(result.into());
        let write = |(format, output): (&Format, Output)| {
            let mut bytes = Vec::new();
            format.write(&report, &mut bytes)?;
            match (report.document.is_nothing(), report.document.is_cut_short()) {
                (true, _) => output.write_nothing(&bytes),
                (false, true) => output.write_part(&bytes),
                (false, false) => output.write(&bytes),
            }
        };
        self.formats.into_iter().map(write).fold(Ok(()), anyhow::Result::and)
    }

    fn shown<'a>(&self, report: Report<'a>) -> Report<'a> {
        Report { shown: Shown { in_full: self.in_full, ..report.shown }, ..report }
    }

    /// Whether a document takes standard output, so that no page goes there.
    pub(crate) fn take_standard_output(&self) -> bool {
        self.formats.iter().any(|(_, output)| output.is_standard())
    }
}

/// Refuses two documents on standard output, and one where nothing fits.
fn check_standard_output(files: &[(&str, &Path)]) -> anyhow::Result<()> {
    let standard = files.iter().filter(|(_, path)| is_standard_output(path));
    let flags: Vec<String> = standard.map(|(flag, _)| format!("--{flag}")).collect();
    anyhow::ensure!(flags.len() <= 1, "only one of {} can go to standard output", flags.join(" and "));
    // The page, too, goes there.
    match Path::new("/dev/stdout").metadata() {
        Ok(there) if is_always_full(&there) => Err(full()).context("cannot write standard output"),
        _ => Ok(()),
    }
}

/// Refuses to write two outputs to one file, where the later would take the place of the earlier. Only sessions may come from
/// the file that they go to.
fn check_that_files_differ(files: &[(&str, &Path)]) -> anyhow::Result<()> {
    let whole: Vec<Option<PathBuf>> = files.iter().map(|(_, path)| whole_path(path)).collect();
    for (index, ((flag, path), one)) in files.iter().zip(&whole).enumerate() {
        let earlier = files.iter().zip(&whole).take(index).find(|(_, other)| one.is_some() && *other == one);
        if let Some(((other, _), _)) = earlier
            && (*other, *flag) != ("session-in", "session-out")
        {
            anyhow::bail!("--{other} and --{flag} name the same file, {}: give each its own", path.display());
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
pub(crate) struct Output {
    path: PathBuf,
    place: Place,
}

enum Place {
    Standard,
    /// A device or a pipe: what is written is gone there at once.
    Stream(File),
    File(Replacement),
}

impl Output {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        Self::open_for(path, Readers::AsBefore)
    }

    /// For what only its owner may read.
    pub(crate) fn open_private(path: &Path) -> anyhow::Result<Self> {
        Self::open_for(path, Readers::OwnerAlone)
    }

    fn open_for(path: &Path, readers: Readers) -> anyhow::Result<Self> {
        let cannot_write = || format!("cannot write {}", path.display());
        let place = match path.metadata() {
            _ if is_standard_output(path) => Place::Standard,
            Ok(there) if is_always_full(&there) => return Err(full()).with_context(cannot_write),
            Ok(there) if !there.is_file() && !there.is_dir() => {
                Place::Stream(OpenOptions::new().write(true).open(path).with_context(cannot_write)?)
            }
            _ => Place::File(Replacement::prepare(path, readers).with_context(cannot_write)?),
        };
        Ok(Self { path: path.to_owned(), place })
    }

    pub(crate) fn is_standard(&self) -> bool {
        matches!(self.place, Place::Standard)
    }

    /// Writes a result that has nothing in it but why: where there is an earlier one, its reader may still want that.
    pub(crate) fn write_nothing(self, bytes: &[u8]) -> anyhow::Result<()> {
        match &self.place {
            Place::File(file) if file.has_earlier() => {
                notice(format_args!("nothing was measured: {} keeps its earlier content", self.path.display()));
                Ok(())
            }
            _ => self.write(bytes),
        }
    }

    /// Writes a result that was cut short: where there is an earlier one, beside it, to `FILE.partial`.
    pub(crate) fn write_part(self, bytes: &[u8]) -> anyhow::Result<()> {
        let Place::File(file) = &self.place else { return self.write(bytes) };
        if !file.has_earlier() {
            return self.write(bytes);
        }
        let mut beside = self.path.clone().into_os_string();
        beside.push(".partial");
        let beside = Self::open_for(Path::new(&beside), file.readers())?;
        notice(format_args!(
            "interrupted: {} keeps its earlier content, and what was measured is in {}",
            self.path.display(),
            beside.path.display()
        ));
        beside.write(bytes)
    }

    /// Writes a result, which takes the place of an earlier one.
    pub(crate) fn write(self, bytes: &[u8]) -> anyhow::Result<()> {
        let shown = self.path.display();
        match self.place {
            Place::Standard => print(bytes),
            Place::Stream(mut file) => {
                file.write_all(bytes).and_then(|()| file.flush()).with_context(|| format!("cannot write {shown}"))
            }
            Place::File(file) => {
                let kept = if file.has_earlier() { " (its earlier content is still there)" } else { "" };
                file.write(bytes).with_context(|| format!("cannot write {shown}{kept}"))
            }
        }
    }
}

/// `/dev/full`, by its number (Linux: Documentation/admin-guide/devices.txt). It opens like any other device and takes a write of
/// no bytes; only a write of some would tell, and what a device does with bytes of ours is not ours to try.
fn is_always_full(there: &Metadata) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        const FULL: u64 = (1 << 8) | 7;
        there.file_type().is_char_device() && there.rdev() == FULL
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = there;
        false
    }
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "No space left on device")
}

/// Prints what is made for this terminal: its width, and whether it shows colour.
pub(crate) fn print_page(page: &Page) -> anyhow::Result<()> {
    let out = io::stdout();
    let color = anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never;
    let width = width();
    print(terminal::render(page, Style { color, width }).as_bytes())
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
