//! A page of Markdown as the steps it asks its reader to take.

use std::time::Duration;

use anyhow::{Context, bail, ensure};

/// A page, its shell commands in order.
pub(crate) struct Page {
    /// Relative to the root of the workspace.
    pub(crate) path: String,
    pub(crate) steps: Vec<Step>,
}

/// One command.
#[derive(Debug, PartialEq)]
pub(crate) struct Step {
    /// Where it stands on the page, from 1.
    pub(crate) line: usize,
    /// As a shell takes it: continued lines and here-documents included.
    pub(crate) command: String,
    pub(crate) terms: Terms,
}

/// How a command is to be run, and how it must end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Terms {
    /// Why it is not to be run at all.
    pub(crate) skip: Option<String>,
    /// Programs without which it cannot be run.
    pub(crate) needs: Vec<String>,
    pub(crate) exit: i32,
    pub(crate) timeout: Duration,
    pub(crate) is_test_command: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self { skip: None, needs: Vec::new(), exit: 0, timeout: Duration::from_secs(300), is_test_command: false }
    }
}

impl Page {
    /// Finds the commands in `text`. Fails on what would keep a command from being run unnoticed: a fence left open, a
    /// block marked as another shell's, a comment that is misspelt or has no block.
    pub(crate) fn parse(path: &str, text: &str) -> anyhow::Result<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let mut steps = Vec::new();
        let mut terms: Option<Terms> = None;
        let mut at = 0;
        while let Some(&line) = lines.get(at) {
            let place = || format!("{path}:{}", at + 1);
            if let Some(fence) = Fence::open(line) {
                let inside = lines.get(at + 1..).unwrap_or_default();
                let length = inside.iter().position(|line| fence.is_closed_by(line));
                let length = length.with_context(|| format!("{}: this block is never closed", place()))?;
                let block = inside.get(..length).unwrap_or_default();
                let block_terms = terms.take();
                if fence.is_shell().with_context(place)? {
                    let found = commands(block).into_iter().map(|(offset, command)| Step {
                        line: at + 2 + offset,
                        command,
                        terms: block_terms.clone().unwrap_or_default(),
                    });
                    steps.extend(found);
                } else {
                    ensure!(block_terms.is_none(), "{}: the comment above belongs before a ```sh block", place());
                }
                at += length + 2;
                continue;
            }
            if let Some(comment) = comment(line) {
                terms.get_or_insert_default().add(comment).with_context(place)?;
            } else if !line.trim().is_empty() {
                ensure!(terms.is_none(), "{}: the comment above must stand right before its ```sh block", place());
            }
            at += 1;
        }
        ensure!(terms.is_none(), "{path}: the last comment has no ```sh block after it");
        Ok(Self { path: path.to_owned(), steps })
    }
}

impl Terms {
    fn add(&mut self, comment: &str) -> anyhow::Result<()> {
        if comment == "test command" {
            self.is_test_command = true;
            return Ok(());
        }
        let directive = comment.strip_prefix("docs:").unwrap_or_default().trim();
        match directive.split_once(' ') {
            Some(("skip", reason)) => self.skip = Some(reason.trim().to_owned()),
            Some(("needs", programs)) => self.needs.extend(programs.split_whitespace().map(str::to_owned)),
            Some(("exit", status)) => self.exit = status.trim().parse().context("an exit status is a number")?,
            Some(("timeout", seconds)) => {
                self.timeout = Duration::from_secs(seconds.trim().parse().context("a timeout is a number of seconds")?);
            }
            _ => bail!("`{comment}` is none of: docs: skip REASON, needs PROGRAMS, exit STATUS, timeout SECONDS"),
        }
        Ok(())
    }
}

/// The comment that a line consists of, where it is one for us.
fn comment(line: &str) -> Option<&str> {
    let comment = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    (comment == "test command" || comment.starts_with("docs:")).then_some(comment)
}

/// The line that opens a block, and with what.
pub(crate) struct Fence<'a> {
    marks: &'a str,
    language: &'a str,
}

impl<'a> Fence<'a> {
    pub(crate) fn open(line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let (marks, rest) = line.split_at(line.len() - line.trim_start_matches(mark).len());
        // A line such as ```code``` is text, not a fence (CommonMark 0.31, section 4.5).
        let opens = marks.len() >= 3 && !rest.contains('`');
        opens.then(|| Self { marks, language: rest.split_whitespace().next().unwrap_or_default() })
    }

    pub(crate) fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.starts_with(self.marks) && line.trim_start_matches(self.marks.get(..1).unwrap_or_default()).is_empty()
    }

    fn is_shell(&self) -> anyhow::Result<bool> {
        match self.language {
            "sh" => Ok(true),
            "bash" | "console" | "shell" | "shell-session" | "zsh" => {
                bail!("a block marked `{}` is not run: mark it `sh`, or `text` if it is no command", self.language)
            }
            _ => Ok(false),
        }
    }
}

/// The commands of a block, each with the offset of its first line. Where lines begin with `$ `, those are commands and
/// the others their output; where none does, every line is a command.
fn commands(block: &[&str]) -> Vec<(usize, String)> {
    let indent = block.iter().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len()).min();
    let lines = block.iter().map(|line| line.get(indent.unwrap_or_default()..).unwrap_or_default());
    let prompted = lines.clone().any(|line| line.starts_with("$ "));
    let mut lines = lines.enumerate();
    let mut commands = Vec::new();
    while let Some((offset, line)) = lines.next() {
        let first = match line.strip_prefix("$ ") {
            Some(command) => command,
            None if prompted || line.trim().is_empty() || line.starts_with('#') => continue,
            None => line,
        };
        let mut command = first.trim_end().to_owned();
        while command.ends_with('\\') {
            let Some((_, next)) = lines.next() else { break };
            command = command + "\n" + next.strip_prefix("> ").unwrap_or(next).trim_end();
        }
        if let Some(end) = here_document(&command).map(str::to_owned) {
            for (_, line) in lines.by_ref() {
                command = command + "\n" + line;
                if line.trim() == end {
                    break;
                }
            }
        }
        commands.push((offset, command));
    }
    commands
}

/// The word that ends the here-document which `command` begins.
fn here_document(command: &str) -> Option<&str> {
    let (_, after) = command.split_once("<<").filter(|(_, after)| !after.starts_with('<'))?;
    let word = after.trim_start_matches('-').split_whitespace().next()?;
    Some(word.trim_matches(['\'', '"']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<(usize, String)> {
        Page::parse("page.md", text).unwrap().steps.into_iter().map(|step| (step.line, step.command)).collect()
    }

    fn terms(text: &str) -> Terms {
        Page::parse("page.md", text).unwrap().steps.remove(0).terms
    }

    fn error(text: &str) -> String {
        format!("{:#}", Page::parse("page.md", text).err().expect("this page must not parse"))
    }

    #[test]
    fn every_line_is_a_command_unless_some_have_a_prompt() {
        assert_eq!(steps("text\n```sh\ntrue\n\n# why\nfalse\n```\n"), [(3, "true".to_owned()), (6, "false".to_owned())]);
        assert_eq!(steps("```sh\n$ true\noutput\n$ false\n```\n"), [(2, "true".to_owned()), (4, "false".to_owned())]);
    }

    #[test]
    fn only_blocks_marked_sh_hold_commands() {
        assert_eq!(steps("```\na\n```\n```text\nb\n```\n~~~rust\n```sh\nc\n```\n~~~\n"), []);
    }

    #[test]
    fn a_command_may_go_on() {
        assert_eq!(steps("```sh\n$ one \\\n> two \\\n  three\nout\n```"), [(2, "one \\\ntwo \\\n  three".to_owned())]);
        assert_eq!(steps("```sh\ncat > a <<'END'\n$1\nEND\ntrue\n```").len(), 2);
        assert_eq!(steps("```sh\ncat <<END\nx\nEND\n```"), [(2, "cat <<END\nx\nEND".to_owned())]);
    }

    #[test]
    fn a_block_in_a_list_loses_its_indent() {
        assert_eq!(steps("- item\n\n  ```sh\n  echo a\n  ```\n"), [(4, "echo a".to_owned())]);
    }

    #[test]
    fn comments_set_the_terms_of_the_next_block_alone() {
        let text = "<!-- docs: needs nginx openssl -->\n<!-- docs: exit 3 -->\n\n```sh\na\n```\n```sh\nb\n```\n";
        let page = Page::parse("page.md", text).unwrap();
        assert_eq!(page.steps[0].terms.needs, ["nginx", "openssl"]);
        assert_eq!(page.steps[0].terms.exit, 3);
        assert_eq!(page.steps[1].terms, Terms::default());

        assert_eq!(terms("<!-- docs: skip installs -->\n```sh\na\n```").skip.as_deref(), Some("installs"));
        assert_eq!(terms("<!-- docs: timeout 300 -->\n```sh\na\n```").timeout, Duration::from_secs(300));
        assert!(terms("<!-- test command -->\n```sh\na\n```").is_test_command);
        assert_eq!(terms("<!-- a remark -->\n```sh\na\n```"), Terms::default());
    }

    #[test]
    fn nothing_escapes_by_mistake() {
        for (text, part) in [
            ("```sh\ntrue\n", "page.md:1: this block is never closed"),
            ("\n```bash\ntrue\n```\n", "page.md:2: a block marked `bash` is not run"),
            ("<!-- docs: skpi it -->\n```sh\na\n```\n", "page.md:1: `docs: skpi it` is none of"),
            ("<!-- docs: skip -->\n```sh\na\n```\n", "page.md:1: `docs: skip` is none of"),
            ("<!-- docs: exit x -->\n```sh\na\n```\n", "an exit status is a number"),
            ("<!-- docs: exit 1 -->\ntext\n```sh\na\n```\n", "page.md:2: the comment above must stand right before"),
            ("<!-- docs: exit 1 -->\n```text\na\n```\n", "page.md:2: the comment above belongs before a ```sh block"),
            ("<!-- docs: exit 1 -->\n", "the last comment has no ```sh block"),
        ] {
            assert!(error(text).contains(part), "{text:?} gives {:?}", error(text));
        }
    }
}
