//! What people expect of any command line: suggestions, colours, widths, completions, manual pages, versions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use reprise_harness::Reprise;

#[track_caller]
fn printed(line: &str) -> String {
    Reprise::line(line).run().exits(0).page
}

#[test]
fn a_mistyped_command_is_answered_with_the_right_one() {
    for (typed, meant) in [("mesure", "reprise measure"), ("trce", "reprise trace"), ("diagnos", "reprise diagnose")] {
        Reprise::line(typed).run().exits(2).says(&[&format!("did you mean '{meant}'?")]);
    }
    Reprise::line("intranet").run().exits(2).says(&["reprise measure intranet"]);
}

#[test]
fn the_version_in_full_names_commit_and_libraries() {
    for line in ["--version -v", "-vV"] {
        let version = printed(line);
        for part in ["reprise ", "commit: ", "host: ", "aws-lc-rs: ", "rustls: ", "ring: "] {
            assert!(version.lines().any(|line| line.starts_with(part) && line.len() > part.len()), "{part}: {version}");
        }
    }
    assert_eq!(printed("--version").lines().count(), 1);
}

#[test]
fn every_shell_has_its_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&format!("completions {shell}"));
        assert!(script.contains("measure") && script.contains("fail-if"), "{shell}");
    }
}

#[test]
fn manual_pages_are_written_one_a_command() {
    assert!(printed("man").contains(".TH reprise 1"));
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("man1");
    Reprise::line("man").arg(&pages).run().exits(0);
    for page in ["reprise.1", "reprise-measure.1", "reprise-trace.1", "reprise-load.1"] {
        assert!(std::fs::read_to_string(pages.join(page)).unwrap().contains(".SH"), "{page}");
    }
    Reprise::line("man /dev/null/x").run().exits(2);
}

#[test]
fn colour_is_as_it_is_asked_for() {
    let explain = |flags| Reprise::line("explain not-offered").flags(flags);
    let is_coloured = |call: Reprise| call.run().exits(0).page.contains('\u{1b}');
    assert!(!is_coloured(explain("")), "no terminal");
    assert!(is_coloured(explain("--color always")));
    assert!(is_coloured(Reprise::line("--color=always explain not-offered")));
    assert!(!is_coloured(explain("--color never").env("CLICOLOR_FORCE", "1")));
    assert!(!is_coloured(explain("").env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1")));
    Reprise::line("explain --color mauve").run().exits(2);
}

#[test]
fn pages_and_help_are_as_wide_as_columns_says() {
    for columns in [60, 80] {
        for line in ["explain not-offered", "trace --help"] {
            let page = Reprise::line(line).env("COLUMNS", columns.to_string()).run().exits(0).page;
            // What cannot be broken, a directive or an example, runs over.
            let over = page.lines().filter(|line| line.chars().count() > columns).count();
            assert!(over * 10 <= page.lines().count(), "{over} lines over {columns}: {page}");
        }
    }
}

#[test]
fn quiet_is_a_flag_of_every_command() {
    for command in ["measure", "trace", "diagnose", "explain", "load", "board", "compare", "layers", "stacks", "report"] {
        let help = printed(&format!("{command} --help"));
        assert!(help.contains("--quiet") && help.contains("--color"), "{command}");
    }
    printed("-q explain");
    printed("explain -q");
}
