//! What people expect of any command line: suggestions, colours, widths, completions, manual pages, versions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::process::{Command, Output};

fn reprise(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.args(arguments).env_remove("COLUMNS").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[track_caller]
fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{}", text(&stderr));
    text(&stdout).to_owned()
}

#[test]
fn a_mistyped_command_is_answered_with_the_right_one() {
    for (typed, meant) in [("mesure", "reprise measure"), ("trce", "reprise trace"), ("diagnos", "reprise diagnose")] {
        let Output { status, stderr, .. } = reprise(&[typed]).output().unwrap();
        assert_eq!(status.code(), Some(2));
        assert!(text(&stderr).contains(&format!("did you mean '{meant}'?")), "{}", text(&stderr));
    }
    let Output { status, stderr, .. } = reprise(&["intranet"]).output().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(text(&stderr).contains("reprise measure intranet"), "{}", text(&stderr));
}

#[test]
fn the_version_in_full_names_commit_and_libraries() {
    for arguments in [&["--version", "-v"][..], &["-vV"]] {
        let version = done(&mut reprise(arguments));
        for part in ["reprise ", "commit: ", "host: ", "aws-lc-rs: ", "rustls: ", "ring: "] {
            assert!(version.lines().any(|line| line.starts_with(part) && line.len() > part.len()), "{part}: {version}");
        }
    }
    assert_eq!(done(&mut reprise(&["--version"])).lines().count(), 1);
}

#[test]
fn every_shell_has_its_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = done(&mut reprise(&["completions", shell]));
        assert!(script.contains("measure") && script.contains("fail-if"), "{shell}");
    }
}

#[test]
fn manual_pages_are_written_one_a_command() {
    assert!(done(&mut reprise(&["man"])).contains(".TH reprise 1"));
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("man1");
    done(reprise(&["man"]).arg(&pages));
    for page in ["reprise.1", "reprise-measure.1", "reprise-trace.1", "reprise-load.1"] {
        assert!(std::fs::read_to_string(pages.join(page)).unwrap().contains(".SH"), "{page}");
    }
    let Output { status, .. } = reprise(&["man", "/dev/null/x"]).output().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn colour_is_as_it_is_asked_for() {
    let is_coloured = |command: &mut Command| done(command).contains('\u{1b}');
    let name = "not-offered";
    assert!(!is_coloured(&mut reprise(&["explain", name])), "no terminal");
    assert!(is_coloured(&mut reprise(&["explain", name, "--color", "always"])));
    assert!(is_coloured(&mut reprise(&["--color=always", "explain", name])));
    assert!(!is_coloured(reprise(&["explain", name, "--color", "never"]).env("CLICOLOR_FORCE", "1")));
    assert!(!is_coloured(reprise(&["explain", name]).env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1")));
    assert_eq!(reprise(&["explain", "--color", "mauve"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn pages_and_help_are_as_wide_as_columns_says() {
    for columns in [60, 80] {
        for arguments in [&["explain", "not-offered"][..], &["trace", "--help"]] {
            let page = done(reprise(arguments).env("COLUMNS", columns.to_string()));
            // What cannot be broken, a directive or an example, runs over.
            let over = page.lines().filter(|line| line.chars().count() > columns).count();
            assert!(over * 10 <= page.lines().count(), "{over} lines over {columns}: {page}");
        }
    }
}

#[test]
fn quiet_is_a_flag_of_every_command() {
    for command in ["measure", "trace", "diagnose", "explain", "load", "board", "compare", "layers", "stacks", "report"] {
        let help = done(&mut reprise(&[command, "--help"]));
        assert!(help.contains("--quiet") && help.contains("--color"), "{command}");
    }
    done(&mut reprise(&["-q", "explain"]));
    done(&mut reprise(&["explain", "-q"]));
}
