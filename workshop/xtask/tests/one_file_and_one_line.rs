//! What is registered in a list needs one file and one line there, and a cause its page too: a copy of the tree has one more of each kind,
//! is built, and knows it.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// One more of a kind: a file like one that is there, and a line.
struct Dummy {
    /// The files that it is like, each with its own.
    files: &'static [(&'static str, &'static str)],
    /// What is called otherwise in its own.
    renamed: &'static [(&'static str, &'static str)],
    /// Where it is registered: before this line of this file.
    list: &'static str,
    before: &'static str,
    line: &'static str,
    /// What then knows it.
    asked: &'static [&'static str],
    answer: &'static str,
}

const DUMMIES: [Dummy; 6] = [
    Dummy {
        files: &[
            ("tool/diagnosis/src/causes/no_ticket_on_resumption.rs", "tool/diagnosis/src/causes/dummy.rs"),
            ("tool/diagnosis/src/causes/no-ticket-on-resumption.md", "tool/diagnosis/src/causes/dummy.md"),
        ],
        renamed: &[("no-ticket-on-resumption", "dummy"), ("rank: 6", "rank: 60")],
        list: "tool/diagnosis/src/causes/mod.rs",
        before: "    not_offered,",
        line: "    dummy,",
        asked: &["explain"],
        answer: "\ndummy ",
    },
    Dummy {
        files: &[("tool/report/src/csv.rs", "tool/report/src/dummy.rs")],
        renamed: &[("name: \"csv\"", "name: \"dummy\"")],
        list: "tool/report/src/lib.rs",
        before: "    csv,",
        line: "    dummy,",
        asked: &["measure", "--help"],
        answer: "--dummy <FILE>",
    },
    Dummy {
        files: &[("tool/cli/src/cmd/completions.rs", "tool/cli/src/cmd/dummy.rs")],
        renamed: &[],
        list: "tool/cli/src/cmd/mod.rs",
        before: "    \"report\" is report on all,",
        line: "    \"dummy\" is dummy on all,",
        asked: &["dummy", "bash"],
        answer: "_reprise",
    },
    Dummy {
        files: &[("tool/compare/src/scenario/mutual.rs", "tool/compare/src/scenario/dummy.rs")],
        renamed: &[("name: \"mutual\"", "name: \"dummy\"")],
        list: "tool/compare/src/scenario.rs",
        before: "    mutual,",
        line: "    dummy,",
        asked: &["compare", "--help"],
        answer: "- dummy:",
    },
    Dummy {
        files: &[("tls/connection/src/prologue/starttls/pop3.rs", "tls/connection/src/prologue/starttls/dummy.rs")],
        renamed: &[("name: \"pop3\"", "name: \"dummy\"")],
        list: "tls/connection/src/prologue/starttls/mod.rs",
        before: "    Pop3 in pop3,",
        line: "    Dummy in dummy,\n    /// RFC 2595 §4.",
        asked: &["measure", "--help"],
        answer: "- dummy:",
    },
    Dummy {
        files: &[("tls/stacks/shim/bearssl.c", "tls/stacks/shim/dummy.c")],
        renamed: &[],
        list: "tls/stacks/Makefile",
        before: "$(eval $(call plugin,bearssl,bearssl,$(system),,-l:libbearssl.a))",
        line: "$(eval $(call plugin,dummy,dummy,$(system),,-l:libbearssl.a))",
        asked: &["stacks", "check", "dummy"],
        answer: " checks, 0 failed",
    },
];

#[test]
#[ignore = "builds a copy of the tree"]
fn what_is_registered_needs_one_file_and_one_line() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copy = copied(root);
    for dummy in &DUMMIES {
        dummy.add(copy.path());
    }
    // Its own crates are built anew, what they depend on is there.
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
    let cargo = ["build", "--locked", "--quiet", "--package", "reprise-cli", "--bin", "reprise"];
    done(Command::new(env!("CARGO")).args(cargo).current_dir(copy.path()).env("CARGO_TARGET_DIR", &target));
    // The program is taken away at once: this tree's own has the same name.
    let reprise = copy.path().join("reprise");
    fs::rename(target.join("debug/reprise"), &reprise).unwrap();
    let out = format!("OUT={}", copy.path().display());
    done(
        Command::new("make")
            .args(["-C", "tls/stacks", "--silent", &out])
            .arg(copy.path().join("dummy.so"))
            .current_dir(copy.path()),
    );
    for dummy in &DUMMIES {
        let said = done(Command::new(&reprise).args(dummy.asked).env("REPRISE_STACKS", copy.path()));
        assert!(said.contains(dummy.answer), "{:?} after {:?}:\n{said}", dummy.asked, dummy.files);
    }
}

/// The tree's files, as they are.
fn copied(root: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let files = done(Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root));
    let files: Vec<&str> = files.lines().filter(|file| fs::symlink_metadata(root.join(file)).is_ok()).collect();
    for some in files.chunks(500) {
        done(Command::new("cp").args(["-a", "--parents", "-t"]).arg(copy.path()).args(some).current_dir(root));
    }
    copy
}

impl Dummy {
    fn add(&self, tree: &Path) {
        for (like, file) in self.files {
            let text = fs::read_to_string(tree.join(like)).unwrap();
            let other = self.renamed.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
            assert!(self.renamed.is_empty() || other != text, "{like} has none of {:?}", self.renamed);
            fs::write(tree.join(file), other).unwrap();
        }
        let list = fs::read_to_string(tree.join(self.list)).unwrap();
        let registered = list.replacen(&format!("{}\n", self.before), &format!("{}\n{}\n", self.line, self.before), 1);
        assert_ne!(registered, list, "{}: no line {}", self.list, self.before);
        fs::write(tree.join(self.list), registered).unwrap();
    }
}

/// What the program said, which must succeed.
fn done(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}:\n{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}
