//! What the benches share that hold Reprise against a plain program: a process that is asked by lines, and two figures as a ratio.

pub mod cipher_alone;
pub mod link;
pub mod rows;

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, anyhow, bail, ensure};
use reprise_pairs::Ask;

/// A process that answers a line with a line. It ends with this value.
pub struct Peer {
    child: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("cannot start {command:?}"))?;
        let (Some(asked), Some(answers)) = (child.stdin.take(), child.stdout.take()) else { bail!("no pipes") };
        Ok(Self { child, asked, answers: BufReader::new(answers) })
    }

    /// Asks a child of `reprise`.
    ///
    /// # Errors
    /// If it is gone, or fails.
    pub fn ask_child<A: Ask>(&mut self, question: &A) -> anyhow::Result<A::Answer> {
        let answer = A::read(&self.ask(String::from_utf8(question.line()?)?.trim_end())?).and_then(|answer| answer);
        answer.map_err(|failed| anyhow!("the child of reprise: {}", failed.reason))
    }

    /// Asks a plain program for its two figures.
    ///
    /// # Errors
    /// If it is gone, or fails.
    pub fn ask_plain(&mut self, request: &str) -> anyhow::Result<[u64; 2]> {
        let line = self.ask(request)?;
        let figures: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        figures.try_into().map_err(|_| anyhow!("the plain program fails at {request}"))
    }

    fn ask(&mut self, request: &str) -> anyhow::Result<String> {
        writeln!(self.asked, "{request}")?;
        self.asked.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The archives of an OpenSSL that has a plugin too.
#[derive(Clone, Debug)]
pub enum OpenSslArchives {
    /// Debian's.
    Installed,
    /// Built from a source for the plugin of this name, in this folder of plugins.
    Built(&'static str, PathBuf),
}

impl OpenSslArchives {
    /// Those that were built for a plugin of that name; `None` where they were not.
    pub fn built(plugin: &'static str, stacks: &Path) -> Option<Self> {
        let is_there = |file: PathBuf| file.exists();
        let built =
            is_there(stacks.join(format!("{plugin}.so"))) && is_there(stacks.join("build").join(plugin).join("libssl.a"));
        built.then(|| Self::Built(plugin, stacks.to_owned()))
    }

    /// The plugin over the same archives.
    pub fn plugin(&self) -> &'static str {
        match self {
            Self::Installed => "openssl",
            Self::Built(plugin, _) => plugin,
        }
    }

    fn flags(&self) -> Vec<String> {
        match self {
            Self::Installed => vec!["-l:libssl.a".to_owned(), "-l:libcrypto.a".to_owned()],
            Self::Built(plugin, stacks) => {
                let [build, source] =
                    ["build", "sources"].map(|folder| stacks.join(folder).join(plugin).display().to_string());
                let headers = [&build, &source].map(|folder| format!("-isystem{folder}/include"));
                headers.into_iter().chain([format!("{build}/libssl.a"), format!("{build}/libcrypto.a")]).collect()
            }
        }
    }
}

/// Compiles `plain/NAME.c` with the library that a plugin is linked with.
///
/// # Errors
/// If there is no compiler, or not the library.
pub fn built_over_openssl(name: &str, archives: &OpenSslArchives, folder: &Path) -> anyhow::Result<PathBuf> {
    let program = folder.join(format!("{name}-over-{}", archives.plugin()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("plain/{name}.c"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(source);
    let output = compiler.args(archives.flags()).args(["-ldl", "-lpthread"]).output().context("cannot run cc")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(program)
}

/// Parts of a ratio of one.
const MILLION: u64 = 1_000_000;

/// A figure of ours beside a plain program's: medians in nanoseconds; and the median of the ratios of neighbours, with its interval. On a
/// machine that is fast and slow by turns the ratio of medians says which of both was there more often.
pub struct Beside {
    /// The median of ours.
    pub ours: u64,
    /// That of the plain program's.
    pub plain: u64,
    ratio: f64,
    ci95: (f64, f64),
}

impl Beside {
    /// Of samples that were taken one after the other, ours and the plain program's.
    ///
    /// # Errors
    /// If there are too few.
    pub fn new(pairs: &[(u64, u64)]) -> anyhow::Result<Self> {
        let ratios: Vec<u64> = pairs.iter().map(|(ours, plain)| ours * MILLION / (*plain).max(1)).collect();
        let ratio = reprise_stats::summarize(&ratios, 1).context("no samples")?;
        let (ours, plain): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
        let median = |samples: &[u64]| reprise_stats::median(samples).unwrap_or_default();
        let [ratio, low, high] = {
            let [low, high] = ratio.ci95.context("too few samples")?;
            [ratio.median, low, high].map(|it| it as f64 / MILLION as f64)
        };
        Ok(Self { ours: median(&ours), plain: median(&plain), ratio, ci95: (low, high) })
    }

    /// Whether the whole interval lies within.
    pub fn is_within(&self, [low, high]: [f64; 2]) -> bool {
        self.ci95.0 >= low && self.ci95.1 <= high
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ours, plain] = [self.ours, self.plain].map(|ns| ns as f64 / 1e3);
        let (low, high) = self.ci95;
        write!(f, "{ours:7.1} µs, plain {plain:7.1} µs, ratio {:.3} ({low:.3}–{high:.3})", self.ratio)
    }
}
