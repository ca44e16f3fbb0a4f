//! What people expect of any command line: suggestions, colours, widths, completions, manual pages, versions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::process::Command;

use reprise_harness::{Reprise, not_run};

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
        // Scripts of clap for other shells complete no values.
        let has_values = ["bash", "zsh", "fish"].contains(&shell);
        assert_eq!(script.contains("ticket-key-zero") && script.contains("tls.p99"), has_values, "{shell}");
    }
}

#[test]
fn bash_completes_causes_and_the_figures_of_conditions() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("reprise");
    std::fs::write(&script, printed("completions bash")).unwrap();
    for (words, expected) in [
        ("measure --fail-if tls.p9", vec!["tls.p90", "tls.p95", "tls.p99"]),
        ("measure --fail-if baseline.tls.sl", vec!["baseline.tls.slower"]),
        ("load --fail-if not_", vec!["not_started"]),
        ("load --fail-if baseline", vec![]),
        ("diagnose --fail-if isolation.br", vec!["isolation.broken"]),
        ("compare --fail-if baseline.instr", vec!["baseline.instructions"]),
        ("explain ticket-key-z", vec!["ticket-key-zero"]),
    ] {
        let words: Vec<&str> = std::iter::once("reprise").chain(words.split(' ')).collect();
        let [.., before, current] = words.as_slice() else { panic!() };
        let line = format!(
            "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _reprise reprise '{current}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            words.join(" "),
            words.len() - 1
        );
        let Ok(output) = Command::new("bash").args(["--norc", "-c", &line]).output() else { return not_run("bash") };
        let completed = String::from_utf8(output.stdout).unwrap();
        let completed: Vec<&str> = completed.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(completed, expected, "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn manual_pages_are_written_one_a_command() {
    assert!(printed("man").contains(".TH reprise 1"));
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("man1");
    Reprise::line("man").arg(&pages).run().exits(0);
    for page in ["reprise.1", "reprise-measure.1", "reprise-trace.1", "reprise-load.1"] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        for section in ["NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"] {
            assert_eq!(
                text.matches(&format!(".SH \"{section}\"\n")).count() + text.matches(&format!(".SH {section}\n")).count(),
                1,
                "{page}: {section}"
            );
        }
        let (_, others) = text.rsplit_once("SEE ALSO").unwrap();
        assert!(
            others.contains("(1)") && !others.contains(&page.replace(".1", "(1)").replace('-', "\\-")),
            "{page}: {others}"
        );
    }
    // The guide's table of exit codes is theirs.
    let page = std::fs::read_to_string(pages.join("reprise.1")).unwrap().replace("\\-", "-").replace("\n", " ");
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/README.md")).unwrap();
    let (_, table) = guide.split_once("| code | meaning |").unwrap();
    let rows: Vec<_> =
        table.lines().skip(2).map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")).collect();
    assert_eq!(rows.len(), 5);
    for (code, meaning) in rows {
        assert!(page.contains(&format!("{code}\\fR {meaning}")), "{code} {meaning}");
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
