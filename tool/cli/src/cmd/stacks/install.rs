//! `reprise stacks install`: plugins of TLS libraries, built of those that are installed or of sources that are fetched, and put where
//! `reprise` looks for them. What it takes, `stacks/` and `firmware/sources/`, is in the program.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use include_dir::{Dir, include_dir};
use reprise_compare::{LIBRARIES, Library, LibrarySource};
use reprise_pairs::clean_path;

use crate::cmd::compare::plugins;
use crate::ending::{Ending, with_its_causes};
use crate::outputs::print;

/// What a plugin exports, and all that it exports.
const SYMBOL: &str = "reprise_stack_v1";

/// What `reprise layers` starts for each request.
const PROGRAM: &str = "reprise-run";

/// What `reprise compare memory` counts by.
const HEAP_COUNTER: &str = "reprise-heap";

/// The shims, their Makefile, and what it builds of.
static STACKS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/stacks");
/// What fetches sources, and the list of those that firmware is built of too.
static SOURCES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/sources");

/// Builds the plugins of these names; without any, of every library that is installed.
pub(super) fn run(names: &[String], all_sources: bool, into: Option<&Path>) -> anyhow::Result<Ending> {
    let chosen = chosen(names, all_sources)?;
    let home = into.map(Path::to_owned).or_else(plugins::home).context("no home directory: name one with '--into DIR'")?;
    // make is in another directory.
    let folders = Folders::new(&std::path::absolute(&home)?)?;
    let mut failed = Vec::new();
    for library in &chosen.libraries {
        // One that cannot be built costs nobody the others.
        match folders.install(library) {
            Ok(said) => print(said.as_bytes())?,
            Err(error) => failed.push(format!("{}: {}", library.plugin, with_its_causes(&error))),
        }
    }
    print(format!("{}\n", folders.make(PROGRAM)?.display()).as_bytes())?;
    // Without it, all but memory is compared.
    let counter = folders
        .make(HEAP_COUNTER)
        .map_or_else(|error| format!("{HEAP_COUNTER}: {}", with_its_causes(&error)), |made| made.display().to_string());
    print(format!("{counter}\n").as_bytes())?;
    if !chosen.missing.is_empty() {
        print(format!("not installed: {0}\n  apt-get install {0}\n", chosen.missing.join(" ")).as_bytes())?;
    }
    Ok(match (failed.as_slice(), chosen.libraries.as_slice()) {
        ([], []) => Ending::BadAnswer("no plugin was built: none of the TLS libraries is installed".to_owned()),
        ([], _) => Ending::Done,
        (failed, _) => Ending::BadAnswer(format!("not built:\n{}", failed.join("\n"))),
    })
}

/// What is to be built, and the packages of what cannot be.
struct Chosen {
    libraries: Vec<&'static Library>,
    missing: Vec<&'static str>,
}

fn chosen(names: &[String], all_sources: bool) -> anyhow::Result<Chosen> {
    let mut chosen = Chosen { libraries: Vec::new(), missing: Vec::new() };
    if all_sources {
        let usual = |library: &&Library| matches!(library.origin, LibrarySource::Source { named_only: None, .. });
        chosen.libraries.extend(LIBRARIES.iter().filter(usual));
    }
    for library in named(names, all_sources)? {
        match library.origin {
            LibrarySource::System { package, header, file } if !is_installed(header, file)? => chosen.missing.push(package),
            _ => chosen.libraries.push(library),
        }
    }
    ensure!(
        names.is_empty() || chosen.missing.is_empty(),
        "not installed: {0}\n  apt-get install {0}",
        chosen.missing.join(" ")
    );
    Ok(chosen)
}

/// `openssl` is the installed one, `mbedtls-3.6-Os` one of a source, `mbedtls-3.6` two; without names, every installed one.
fn named(names: &[String], all_sources: bool) -> anyhow::Result<Vec<&'static Library>> {
    let is_named = |library: &Library, name: &str| {
        let rest = library.plugin.strip_prefix(name);
        let is_source = matches!(library.origin, LibrarySource::Source { .. });
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-') && is_source && !is_plugin(name))
    };
    if let Some(unknown) = names.iter().find(|name| !LIBRARIES.iter().any(|library| is_named(library, name))) {
        let known: Vec<&str> = LIBRARIES.iter().map(|library| library.plugin).collect();
        bail!("unknown library '{unknown}'; known: {}", known.join(", "));
    }
    let is_wanted = |library: &&Library| match names {
        [] => !all_sources && matches!(library.origin, LibrarySource::System { .. }),
        names => names.iter().any(|name| is_named(library, name)),
    };
    Ok(LIBRARIES.iter().filter(is_wanted).collect())
}

fn is_plugin(name: &str) -> bool {
    LIBRARIES.iter().any(|library| library.plugin == name)
}

struct Folders {
    /// What is in the program, as files.
    recipes: PathBuf,
    /// Of the plugins, with the sources and what is built of them below it.
    output: PathBuf,
}

impl Folders {
    fn new(output: &Path) -> anyhow::Result<Self> {
        let folders = Self { recipes: output.join("recipes"), output: output.to_owned() };
        for (recipes, name) in [(&STACKS, "stacks"), (&SOURCES, "sources")] {
            unpack(recipes, &folders.recipes.join(name))?;
        }
        // It is there now.
        let output = clean_path(output);
        Ok(Self { recipes: output.join("recipes"), output })
    }

    /// Fetches what it is built of, builds it, and checks what it exports: what there is to say of it.
    fn install(&self, library: &Library) -> anyhow::Result<String> {
        self.fetch(library)?;
        let plugin = self.make(&format!("{}.so", library.plugin))?;
        check_exports(&plugin)?;
        let bytes = fs::metadata(&plugin)?.len();
        Ok(format!("{} ({}, {}, {bytes} bytes)\n", plugin.display(), library.title, library.licence))
    }

    /// Whatever is there already is left alone: this works without a network from the second time on.
    fn fetch(&self, library: &Library) -> anyhow::Result<()> {
        let LibrarySource::Source { archives, needs, .. } = library.origin else { return Ok(()) };
        if let Some(missing) = needs.iter().find(|program| !is_there(program)) {
            bail!("needs {missing}");
        }
        for list in ["sources/sources.list", "stacks/sources.list"] {
            let list = self.recipes.join(list);
            let listed = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
            let is_listed = |name: &&&str| listed.lines().any(|line| line.split_whitespace().next() == Some(**name));
            let wanted: Vec<&&str> = archives.iter().filter(is_listed).collect();
            if !wanted.is_empty() {
                let mut fetch = Command::new("bash");
                fetch.arg(self.recipes.join("sources/fetch.sh")).arg("--list").arg(&list).arg(self.sources()).args(wanted);
                done(&mut fetch)?;
            }
        }
        Ok(())
    }

    fn sources(&self) -> PathBuf {
        self.output.join("sources")
    }

    /// Has the Makefile make a file.
    fn make(&self, file: &str) -> anyhow::Result<PathBuf> {
        let made = self.output.join(file);
        let assigned = |name: &str, value: &Path| {
            let mut text = OsString::from(name);
            text.push("=");
            text.push(value);
            text
        };
        let mut make = Command::new("make");
        // Not the jobs of whoever runs this.
        make.env_remove("MAKEFLAGS").arg("-j").arg(std::thread::available_parallelism().map_or(1, usize::from).to_string());
        make.arg("-C").arg(self.recipes.join("stacks")).arg(assigned("OUT", &self.output));
        make.arg(assigned("FIRMWARE_SOURCES", &self.sources())).arg(&made);
        done(&mut make).with_context(|| format!("cannot make {file}"))?;
        Ok(made)
    }
}

/// What is there as it is to be keeps its date: make builds nothing again for it.
fn unpack(recipes: &Dir<'_>, folder: &Path) -> anyhow::Result<()> {
    for file in recipes.files() {
        let path = folder.join(file.path());
        if fs::read(&path).is_ok_and(|there| there == file.contents()) {
            continue;
        }
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, file.contents()));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    recipes.dirs().try_for_each(|inner| unpack(inner, folder))
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether the compiler finds the header, and the linker the file.
pub(super) fn is_installed(header: &str, file: &str) -> anyhow::Result<bool> {
    let compiler = || Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    let mut includes = compiler();
    includes.args(["-E", "-x", "c", "-include", header, "/dev/null"]).stdout(Stdio::null()).stderr(Stdio::null());
    let status = includes.status().context("a C compiler is needed to build plugins: cc, or what CC names")?;
    let found = compiler().arg(format!("-print-file-name={file}")).output()?;
    // Of a file that is not there, the compiler prints the bare name.
    Ok(status.success() && Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_absolute())
}

/// Two libraries of one program that export the same name are one to the loader: nothing but the one symbol may show.
fn check_exports(plugin: &Path) -> anyhow::Result<()> {
    let output = done(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(plugin))?;
    let exported: Vec<&str> = output.split_whitespace().collect();
    ensure!(exported == [SYMBOL], "{} exports {exported:?}, and may export {SYMBOL} alone", plugin.display());
    Ok(())
}

/// Runs a program for what it prints to standard output; an error has what it printed to standard error.
fn done(command: &mut Command) -> anyhow::Result<String> {
    let program = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot run {program}: is it installed?"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} failed:\n{}", said.trim_end());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test's own functions")]
mod tests {
    use super::*;

    fn plugins(names: &[&str], all_sources: bool) -> Vec<&'static str> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        named(&names, all_sources)
            .map(|libraries| libraries.iter().map(|library| library.plugin).collect())
            .unwrap_or_default()
    }

    #[test]
    fn a_name_means_every_build_of_it_or_the_installed_one() {
        assert_eq!(plugins(&["mbedtls-3.6"], false), ["mbedtls-3.6-O3", "mbedtls-3.6-Os"]);
        assert_eq!(plugins(&["openssl", "s2n"], false), ["openssl", "s2n"]);
        assert!(named(&["open".to_owned()], false).is_err(), "half a name");
        assert_eq!(plugins(&[], false).len(), 5, "those that may be installed");
    }

    #[test]
    fn nothing_under_the_gpl_is_fetched_unless_it_is_named() {
        let all = chosen(&[], true).unwrap().libraries;
        assert!(all.len() > 5 && all.iter().all(|library| !library.plugin.starts_with("wolfssl")));
        assert_eq!(plugins(&["wolfssl-5.9"], false), ["wolfssl-5.9"]);
    }

    #[test]
    fn a_header_without_its_library_is_not_installed() {
        assert!(is_installed("stdio.h", "libc.so").unwrap());
        assert!(!is_installed("stdio.h", "libmissing.a").unwrap());
        assert!(!is_installed("missing.h", "libc.so").unwrap());
    }

    #[test]
    fn what_is_there_keeps_its_date() {
        let folder = tempfile::tempdir().unwrap();
        let makefile = folder.path().join("Makefile");
        unpack(&STACKS, folder.path()).unwrap();
        let before = fs::metadata(&makefile).unwrap().modified().unwrap();
        fs::write(folder.path().join("shim/openssl.c"), "other").unwrap();
        unpack(&STACKS, folder.path()).unwrap();
        assert_eq!(fs::metadata(&makefile).unwrap().modified().unwrap(), before);
        assert_ne!(fs::read(folder.path().join("shim/openssl.c")).unwrap(), b"other");
    }
}
