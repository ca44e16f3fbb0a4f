//! Plugins of TLS libraries, built into `target/stacks` by `stacks/Makefile`: of those that are installed, or of sources that are fetched.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use reprise_compare::{LIBRARIES, Library, LibrarySource};

use crate::programs::output_of;
use crate::workspace::Workspace;

/// What a plugin exports, and all that it exports.
const SYMBOL: &str = "reprise_stack_v1";

/// What `reprise layers` starts for each request.
const PROGRAM: &str = "reprise-run";

/// What `reprise compare memory` counts by.
const HEAP_COUNTER: &str = "reprise-heap";

/// Builds the plugin of every library that is installed, and says what to install for the others.
pub(crate) fn build_of_system(workspace: &Workspace) -> anyhow::Result<()> {
    let folders = Folders::new(workspace)?;
    let (mut installed, mut missing) = (Vec::new(), Vec::new());
    for library in &LIBRARIES {
        let LibrarySource::System { package, header, file } = library.origin else { continue };
        if is_installed(header, file)? { installed.push(library) } else { missing.push(package) }
    }
    let is_any_installed = !installed.is_empty();
    let built = build_each(installed, |library| folders.build(library));
    println!("{}", folders.make(PROGRAM)?.display());
    // Without it, all but memory is compared.
    match folders.make(HEAP_COUNTER) {
        Ok(counter) => println!("{}", counter.display()),
        Err(error) => eprintln!("{HEAP_COUNTER}: {error:#}"),
    }
    if !missing.is_empty() {
        println!("not installed: {0}\n  apt-get install {0}", missing.join(" "));
    }
    ensure!(is_any_installed, "no plugin was built: none of the TLS libraries is installed");
    built
}

/// Builds the plugins of these names from sources; without names, all but those that are to be named.
pub(crate) fn build_of_source(workspace: &Workspace, names: &[String]) -> anyhow::Result<()> {
    let libraries = named(names)?;
    let folders = Folders::new(workspace)?;
    build_each(libraries, |library| {
        println!("{}: {}, {}", library.plugin, library.title, library.licence);
        folders.fetch(library)?;
        folders.build(library)
    })
}

/// One that cannot be built costs nobody the others.
fn build_each(
    libraries: Vec<&'static Library>,
    build: impl Fn(&'static Library) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut failed = Vec::new();
    for library in libraries {
        if let Err(error) = build(library) {
            eprintln!("{}: {error:#}", library.plugin);
            failed.push(library.plugin);
        }
    }
    ensure!(failed.is_empty(), "not built: {}", failed.join(" "));
    Ok(())
}

/// `mbedtls-3.6-Os` is one, `mbedtls-3.6` two, `mbedtls` all of its versions.
fn named(names: &[String]) -> anyhow::Result<Vec<&'static Library>> {
    let sources = || LIBRARIES.iter().filter(|library| matches!(library.origin, LibrarySource::Source { .. }));
    if names.is_empty() {
        let usual = |library: &&Library| matches!(library.origin, LibrarySource::Source { named_only: None, .. });
        return Ok(sources().filter(usual).collect());
    }
    let is_named = |library: &Library, name: &str| {
        library.plugin.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    if let Some(unknown) = names.iter().find(|name| !sources().any(|library| is_named(library, name))) {
        let known: Vec<&str> = sources().map(|library| library.plugin).collect();
        bail!("no source of '{unknown}': there are {}", known.join(", "));
    }
    Ok(sources().filter(|library| names.iter().any(|name| is_named(library, name))).collect())
}

struct Folders {
    root: PathBuf,
    /// Of the plugins, with the sources and what is built of them below it.
    output: PathBuf,
    /// Of the libraries that firmware is built of too.
    firmware_sources: PathBuf,
}

impl Folders {
    fn new(workspace: &Workspace) -> anyhow::Result<Self> {
        let target = workspace.metadata.target_directory.as_std_path();
        let output = target.join("stacks");
        fs::create_dir_all(&output).with_context(|| format!("cannot make {}", output.display()))?;
        Ok(Self { root: workspace.root().to_owned(), output, firmware_sources: target.join("firmware/sources") })
    }

    /// Whatever is there already is left alone: this works without a network from the second time on.
    fn fetch(&self, library: &Library) -> anyhow::Result<()> {
        let LibrarySource::Source { archives, needs, .. } = library.origin else { return Ok(()) };
        if let Some(missing) = needs.iter().find(|program| !is_there(program)) {
            bail!("needs {missing}");
        }
        let firmware = self.root.join("firmware/sources");
        let own = self.root.join("stacks/sources.list");
        let lists = [(firmware.join("sources.list"), &self.firmware_sources), (own, &self.output.join("sources"))];
        for (list, folder) in lists {
            let listed = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
            let is_listed = |name: &&&str| listed.lines().any(|line| line.split_whitespace().next() == Some(**name));
            let wanted: Vec<&&str> = archives.iter().filter(is_listed).collect();
            if !wanted.is_empty() {
                let mut fetch = Command::new(firmware.join("fetch.sh"));
                fetch.arg("--list").arg(&list).arg(folder).args(wanted);
                print!("{}", output_of(&mut fetch)?);
            }
        }
        Ok(())
    }

    /// Builds a plugin, and checks what it exports.
    fn build(&self, library: &Library) -> anyhow::Result<()> {
        let plugin = self.make(&format!("{}.so", library.plugin))?;
        check_exports(&plugin)?;
        println!("{} ({} bytes)", plugin.display(), fs::metadata(&plugin)?.len());
        Ok(())
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
        make.arg("-C").arg(self.root.join("stacks")).arg(assigned("OUT", &self.output));
        make.arg(assigned("FIRMWARE_SOURCES", &self.firmware_sources)).arg(&made);
        output_of(&mut make).with_context(|| format!("cannot make {file}"))?;
        Ok(made)
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether the compiler finds the header, and the linker the file.
fn is_installed(header: &str, file: &str) -> anyhow::Result<bool> {
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
    let output = output_of(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(plugin))?;
    let exported: Vec<&str> = output.split_whitespace().collect();
    ensure!(exported == [SYMBOL], "{} exports {exported:?}, and may export {SYMBOL} alone", plugin.display());
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test's own functions")]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn plugins(names: &[&str]) -> Vec<&'static str> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        named(&names).map(|libraries| libraries.iter().map(|library| library.plugin).collect()).unwrap_or_default()
    }

    #[test]
    fn a_name_means_every_build_of_it() {
        assert_eq!(plugins(&["mbedtls-3.6"]), ["mbedtls-3.6-O3", "mbedtls-3.6-Os"]);
        assert_eq!(plugins(&["openssl", "s2n"]), ["s2n", "openssl-3.5", "openssl-4.0"]);
        assert!(named(&["open".to_owned()]).is_err(), "half a name");
    }

    #[test]
    fn nothing_under_the_gpl_is_built_unless_it_is_named() {
        assert!(plugins(&[]).iter().all(|plugin| !plugin.starts_with("wolfssl")));
        assert_eq!(plugins(&["wolfssl"]), ["wolfssl-5.9"]);
    }

    #[test]
    fn a_header_without_its_library_is_not_installed() {
        assert!(is_installed("stdio.h", "libc.so").unwrap());
        assert!(!is_installed("stdio.h", "libmissing.a").unwrap());
        assert!(!is_installed("missing.h", "libc.so").unwrap());
    }

    #[test]
    fn one_that_cannot_be_built_costs_nobody_the_others() {
        let tried = RefCell::new(Vec::new());
        let error = build_each(LIBRARIES.iter().take(3).collect(), |library| {
            tried.borrow_mut().push(library.plugin);
            ensure!(library.plugin != "openssl", "it does not compile");
            Ok(())
        });
        assert_eq!(*tried.borrow(), ["openssl", "gnutls", "wolfssl"]);
        assert_eq!(error.unwrap_err().to_string(), "not built: openssl");
    }

    #[test]
    fn every_archive_is_pinned_in_a_list() {
        let pinned = concat!(include_str!("../../stacks/sources.list"), include_str!("../../firmware/sources/sources.list"));
        let pinned: Vec<&str> = pinned.lines().filter_map(|line| line.split_whitespace().next()).collect();
        for library in &LIBRARIES {
            if let LibrarySource::Source { archives, .. } = library.origin {
                assert!(archives.iter().all(|archive| pinned.contains(archive)), "{library:?}");
            }
        }
    }
}
