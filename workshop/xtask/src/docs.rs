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

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::programs::run;
use crate::workspace::Workspace;
use page::{Page, Step};
use shell::{Ended, Shell};

/// Runs every command and looks for every link. Fails when one failed, after all have had their turn.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let root = workspace.root();
    let pages = pages(root)?;
    ensure!(!pages.iter().all(|page| page.steps.is_empty()), "README.md and docs/guide hold no ```sh block to run");
    run(&mut workspace.cargo(&["build", "--release", "--quiet", "--package", "reprise-cli"]))?;

    let mut words = Vec::new();
    for page in &pages {
        // Steps of one page see one another's files and background programs, and nothing of other pages.
        let mut shell = Shell::new(root, &workspace.release_folder())?;
        for step in &page.steps {
            let verdict = verdict(&mut shell, step)?;
            let indented = |text: &str| text.replace('\n', "\n          ");
            println!("{:9} {}:{}  {}", verdict.word, page.path, step.line, indented(&step.command));
            if let Some(detail) = verdict.detail {
                println!("          {}", indented(&detail));
            }
            words.push(verdict.word);
        }
    }
    let count = |word| words.iter().filter(|other| **other == word).count();
    let counts = [PASSED, FAILED, SKIPPED, NOT_RUN].map(|word| format!("{} {}", count(word), word.to_lowercase()));
    println!("commands: {}", counts.join(", "));

    let broken = links::broken(root)?;
    println!("links: {} broken", broken.len());
    for link in &broken {
        println!("          {link}");
    }
    let failed = count(FAILED);
    ensure!(
        failed == 0 && broken.is_empty(),
        "the documents do not hold: {failed} commands failed, {} links are broken",
        broken.len()
    );
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

/// How a step of a page went, in a word, and why.
struct Verdict {
    word: &'static str,
    detail: Option<String>,
}

const PASSED: &str = "passed";
const FAILED: &str = "FAILED";
const SKIPPED: &str = "skipped";
const NOT_RUN: &str = "NOT RUN";

impl Verdict {
    fn because(word: &'static str, detail: impl Into<String>) -> Self {
        Self { word, detail: Some(detail.into()) }
    }
}

fn verdict(shell: &mut Shell, step: &Step) -> anyhow::Result<Verdict> {
    let terms = &step.terms;
    if terms.is_test_command {
        return Ok(Verdict::because(SKIPPED, "the test command, a step of CI by itself"));
    }
    if let Some(reason) = &terms.skip {
        return Ok(Verdict::because(SKIPPED, reason));
    }
    let missing: Vec<&str> = terms.needs.iter().map(String::as_str).filter(|program| !shell.has(program)).collect();
    if !missing.is_empty() {
        let needs = format!("needs {}", missing.join(" "));
        let required = std::env::var_os("REPRISE_REQUIRE_SERVERS").is_some_and(|value| value == "1");
        return Ok(Verdict::because(if required { FAILED } else { NOT_RUN }, needs));
    }
    let (ended, output) = shell.run(&step.command, terms.timeout)?;
    let why = match ended {
        Ended::Exit(status) if status == terms.exit => return Ok(Verdict { word: PASSED, detail: None }),
        Ended::Exit(status) => format!("exit status {status}, not {}", terms.exit),
        Ended::Signal => "ended by a signal".to_owned(),
        Ended::TimedOut => format!("still running after {:?}", terms.timeout),
    };
    Ok(Verdict::because(FAILED, format!("{why}\n{output}")))
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
