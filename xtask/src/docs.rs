//! Documents that execute: every shell command in README.md and in the guide runs and ends as the page says, and every
//! relative link leads somewhere.
//!
//! A comment before a block changes how it is run:
//!
//! | comment | meaning |
//! | --- | --- |
//! | `<!-- docs: skip REASON -->` | not run; for what changes the reader's machine, such as installing |
//! | `<!-- docs: needs nginx openssl -->` | not run where one of these programs is missing, unless `REPRISE_REQUIRE_SERVERS=1` |
//! | `<!-- docs: exit 1 -->` | the status that each command of the block must end with, instead of 0 |
//! | `<!-- docs: timeout 300 -->` | seconds that each may take, instead of 120 |
//! | `<!-- test command -->` | the project's test command: a step of CI by itself, so not run here again |

mod links;
mod page;
#[cfg(test)]
mod recipes;
mod shell;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::workspace::Workspace;
use page::{Page, Step};
use shell::{Ended, Shell};

/// Runs every command and looks for every link. Fails when one failed, after all have had their turn.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let root = workspace.root();
    let pages = pages(root)?;
    ensure!(!pages.iter().all(|page| page.steps.is_empty()), "README.md and docs/guide hold no ```sh block to run");
    build_release(root)?;

    let mut count = Count::default();
    for page in &pages {
        // Steps of one page see one another's files and background programs, and nothing of other pages.
        let mut shell = Shell::new(root, &workspace.release_folder())?;
        for step in &page.steps {
            let verdict = run(&mut shell, step)?;
            println!("{verdict:9} {}:{}  {}", page.path, step.line, step.command.replace('\n', "\n          "));
            if let Some(detail) = verdict.detail() {
                println!("          {}", detail.replace('\n', "\n          "));
            }
            count.add(&verdict);
        }
    }
    println!("commands: {count}");

    let broken = links::broken(root)?;
    println!("links: {} broken", broken.len());
    for link in &broken {
        println!("          {link}");
    }
    if count.failed > 0 || !broken.is_empty() {
        bail!("the documents do not hold: {} commands failed, {} links are broken", count.failed, broken.len());
    }
    Ok(())
}

/// Prints the command that README.md marks as the one to test with, for CI to run the very same.
pub(crate) fn print_test_command(workspace: &Workspace) -> anyhow::Result<()> {
    let readme = read_page(workspace.root(), Path::new("README.md"))?;
    let marked: Vec<&Step> = readme.steps.iter().filter(|step| step.terms.is_test_command).collect();
    let [step] = marked.as_slice() else {
        bail!("README.md must mark one command with <!-- test command -->, not {}", marked.len());
    };
    println!("{}", step.command);
    Ok(())
}

enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
    NotRun(String),
}

impl Verdict {
    fn detail(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed(detail) | Self::Skipped(detail) | Self::NotRun(detail) => Some(detail),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Passed => "passed",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "skipped",
            Self::NotRun(_) => "NOT RUN",
        })
    }
}

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
    not_run: usize,
}

impl Count {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Skipped(_) => self.skipped += 1,
            Verdict::NotRun(_) => self.not_run += 1,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped, not_run } = self;
        write!(formatter, "{passed} passed, {failed} failed, {skipped} skipped, {not_run} not run")
    }
}

fn run(shell: &mut Shell, step: &Step) -> anyhow::Result<Verdict> {
    let terms = &step.terms;
    if terms.is_test_command {
        return Ok(Verdict::Skipped("the test command, a step of CI by itself".to_owned()));
    }
    if let Some(reason) = &terms.skip {
        return Ok(Verdict::Skipped(reason.clone()));
    }
    let missing: Vec<&str> = terms.needs.iter().map(String::as_str).filter(|program| !shell.has(program)).collect();
    if !missing.is_empty() {
        let needs = format!("needs {}", missing.join(" "));
        let required = std::env::var_os("REPRISE_REQUIRE_SERVERS").is_some_and(|value| value == "1");
        return Ok(if required { Verdict::Failed(needs) } else { Verdict::NotRun(needs) });
    }
    let (ended, output) = shell.run(&step.command, terms.timeout)?;
    Ok(match ended {
        Ended::Exit(status) if status == terms.exit => Verdict::Passed,
        Ended::Exit(status) => Verdict::Failed(format!("exit status {status}, not {}\n{output}", terms.exit)),
        Ended::Signal => Verdict::Failed(format!("ended by a signal\n{output}")),
        Ended::TimedOut => Verdict::Failed(format!("still running after {:?}\n{output}", terms.timeout)),
    })
}

/// README.md, then the chapters of the guide in their order.
fn pages(root: &Path) -> anyhow::Result<Vec<Page>> {
    let mut paths = vec![PathBuf::from("README.md")];
    let guide = Path::new("docs/guide");
    if root.join(guide).exists() {
        for entry in fs::read_dir(root.join(guide)).context("cannot read docs/guide")? {
            let path = guide.join(entry?.file_name());
            if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| read_page(root, path)).collect()
}

fn read_page(root: &Path, path: &Path) -> anyhow::Result<Page> {
    let text = fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {}", path.display()))?;
    Page::parse(&path.display().to_string(), &text)
}

fn build_release(root: &Path) -> anyhow::Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "reprise-cli"])
        .current_dir(root)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the release build failed: {status}");
    Ok(())
}
