//! Every flag that a text names exists in the commands that print the text.
//!
//! Texts are the string literals of the sources, each file with the commands that print it; the causes, with the commands that
//! find them; and the help of each flag.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::Command;
use reprise_connection::Fault;
use reprise_diagnosis::{Cause, cause, causes};
use reprise_model::{Failure, FailureClass, FaultName};
use reprise_results::failure;
use reprise_results::fault::FaultContext;

use crate::command_line_page::{built, commands, flags_known_to, is_archive, root};

/// The commands that tell of a connection's fault; `load` tells of those before TLS alone, see below.
const CONNECTING: &[&str] = &["measure", "trace", "diagnose"];
const GATED: &[&str] = &["measure", "load", "compare", "diagnose"];
const SESSIONS: &[&str] = &["measure", "trace"];

/// Files whose texts name flags, by the beginning of their path, with the commands that print them. Those of `cli/src/cmd/NAME` are
/// printed by NAME.
const PRINTED_BY: &[(&str, &[&str])] = &[
    ("connection/src/target.rs", CONNECTING),
    ("layers/src/", &["layers"]),
    ("report/src/page/clients.rs", &["measure"]),
    ("report/src/page/explain.rs", &["explain"]),
    ("report/src/page/fingerprints.rs", &["trace", "diagnose"]),
    ("explain/src/", &["load"]),
    ("compare/src/resume.rs", &["compare"]),
    ("board/src/fault.rs", &["board"]),
    ("cli/src/ending.rs", &["measure"]),
    ("cli/src/gate.rs", GATED),
    ("cli/src/connection_flags.rs", &["measure", "trace", "diagnose", "load"]),
    ("cli/src/outputs.rs", &["trace"]),
    ("cli/src/probe_flags.rs", CONNECTING),
    ("cli/src/resumption_flags.rs", SESSIONS),
    ("cli/src/saved_result.rs", &["measure"]),
    ("cli/src/server_process.rs", &["measure", "diagnose", "load"]),
    ("cli/src/session_files.rs", SESSIONS),
    ("cli/src/values.rs", &["measure"]),
    ("results/src/clear_text.rs", CONNECTING),
    ("diagnosis/src/client/", &["diagnose"]),
    ("diagnosis/src/fleet/", &["diagnose"]),
    ("diagnosis/src/isolation.rs", &["diagnose"]),
    ("results/src/condition/compare.rs", &["compare"]),
    ("results/src/condition/diagnose.rs", &["diagnose"]),
    ("results/src/condition/load.rs", &["load"]),
    ("results/src/condition/parse.rs", GATED),
    ("results/src/condition/measure.rs", &["measure"]),
    ("diagnosis/src/diagnose/", &["diagnose"]),
    ("results/src/fault", CONNECTING),
    ("diagnosis/src/findings", &["measure", "diagnose"]),
    ("results/src/load_", &["load"]),
    ("results/src/response_words.rs", CONNECTING),
    ("results/src/sentences.rs", &["measure"]),
    ("results/src/side_by_side.rs", &["load"]),
    ("probe/src/credentials.rs", CONNECTING),
    ("probe/src/saved/", SESSIONS),
    ("report/src/junit.rs", &["measure"]),
    ("report/src/openmetrics.rs", &["measure"]),
    ("report/src/page/trace.rs", &["trace"]),
    ("report/src/page/compare.rs", &["compare"]),
    ("page/src/conditions.rs", GATED),
    ("report/src/page/diagnose.rs", &["diagnose"]),
    ("report/src/page/load/", &["load"]),
    ("report/src/page/trace/", &["trace"]),
    ("stack/src/", &["compare"]),
];

/// Files whose flags are other programs', or nothing that is printed.
const OTHERS: &[&str] = &[
    "compare/src/callgrind.rs",
    "board/src/image.rs",
    "cli/src/args.rs",
    "cli/src/cmd/stacks/install.rs",
    "cli/src/command_line_page.rs",
    "cli/src/help.rs",
    "cli/src/printed_flags.rs",
    "cli/src/secrets.rs",
    "cli/src/version.rs",
];

/// Where each cause has a file, with its rules. The texts of its page are looked at one by one; fixes name the flags of other programs.
const CAUSES: &str = "diagnosis/src/causes/";

/// What is named only to somebody who set it: a proxy's fault needs a proxy, a binder's a PSK.
const SET_BEFORE: &[&str] = &["--proxy", "--psk-identity", "--psk-key", "--psk-hash", "--psk-mode"];

#[test]
fn flags_in_the_sources_texts_exist_where_they_are_printed() {
    if is_archive() {
        return;
    }
    let program = built();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for folder in ["tls", "tool"].map(|name| root().join(name)) {
        for (path, text) in sources(&folder).into_iter().filter(|(path, _)| path.contains("/src/")) {
            let file = Path::new(&path).strip_prefix(&folder).unwrap().display().to_string();
            let of_cause = file.strip_prefix(CAUSES).map(|name| cause(&name.replace(".rs", "").replace('_', "-")));
            // What several causes share stands in others of these files.
            if let Some(None) = of_cause {
                continue;
            }
            let flags: Vec<Flag> = literals(&text).iter().flat_map(|literal| flags(&program, literal)).collect();
            if flags.is_empty() || OTHERS.iter().any(|other| file.starts_with(other)) {
                continue;
            }
            let own = file.strip_prefix("cli/src/cmd/").and_then(|rest| rest.split(['/', '.']).next());
            let own = own.map(|name| name.replace('_', "-"));
            let listed = PRINTED_BY.iter().find(|(begin, _)| file.starts_with(begin)).map(|(_, by)| by.to_vec());
            let of_cause = of_cause.flatten().map(commands_that_find);
            let Some(printed_by) = own.as_deref().map(|own| vec![own]).or(listed).or(of_cause) else {
                wrong.push(format!("{file} is not in PRINTED_BY"));
                continue;
            };
            for flag in flags.iter().filter(|it| !SET_BEFORE.contains(&&*it.name)) {
                seen += 1;
                let lacking = flag.held_against(&printed_by).into_iter().filter(|by| !has(&program, by, &flag.name));
                wrong.extend(lacking.map(|by| format!("{file}: {} is not a flag of {by}", flag.name)));
            }
        }
    }
    assert!(seen > 100, "only {seen} flags were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn flags_in_causes_exist_in_the_commands_that_find_them() {
    let program = built();
    let mut wrong = Vec::new();
    for cause in causes() {
        let found_by = commands_that_find(cause);
        for flag in flags(&program, cause.page.advice).iter().filter(|it| !SET_BEFORE.contains(&&*it.name)) {
            let lacking = flag.held_against(&found_by).into_iter().filter(|by| !has(&program, by, &flag.name));
            wrong.extend(lacking.map(|by| format!("{}: {by} advises {}", cause.slug, flag.name)));
        }
        for text in [cause.page.happens, cause.page.seen, cause.page.confirm, cause.page.costs] {
            for flag in flags(&program, text) {
                let known = flag.held_against(&found_by).into_iter().any(|by| has(&program, by, &flag.name));
                wrong.extend((!known).then(|| format!("{}: {}", cause.slug, flag.name)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn flags_in_hints_before_tls_exist_in_load() {
    let program = built();
    for name in FaultName::NAMED {
        let Failure { class, hint, .. } = failure(&Fault::new(*name), &FaultContext::default());
        let is_of_load = matches!(class, FailureClass::Resolve | FailureClass::Connect);
        for flag in hint.filter(|_| is_of_load).iter().flat_map(|hint| flags(&program, hint)) {
            assert!(has(&program, "load", &flag.name), "{name}: {}", flag.name);
        }
    }
}

#[test]
fn flags_in_help_are_those_of_the_command() {
    let program = built();
    let mut wrong = Vec::new();
    for (name, command) in commands(&program) {
        let known = flags_known_to(command);
        let about = [command.get_long_about(), command.get_after_help()].into_iter().flatten().map(ToString::to_string);
        let help = command.get_arguments().filter_map(|arg| arg.get_long_help().or(arg.get_help())).map(ToString::to_string);
        for flag in about.chain(help).flat_map(|text| flags(&program, &text)) {
            let is_known = flag.of.as_ref().map_or_else(|| known.contains(&flag.name), |of| has(&program, of, &flag.name));
            wrong.extend((!is_known).then(|| format!("{name} --help: {}", flag.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A flag in a text.
struct Flag {
    name: String,
    /// The command that stands before it, `reprise measure --kinds`.
    of: Option<String>,
}

impl Flag {
    /// The command that is named, or those that print it.
    fn held_against<'a>(&'a self, printed_by: &[&'a str]) -> Vec<&'a str> {
        self.of.as_deref().map_or_else(|| printed_by.to_vec(), |of| vec![of])
    }
}

/// The flags that a text names. What stands behind the name of another program is its own.
fn flags(program: &Command, text: &str) -> Vec<Flag> {
    let mut found = Vec::new();
    for (place, part) in text.split("```").enumerate() {
        if place % 2 == 1 {
            part.lines().for_each(|line| flags_in_code(program, line, &mut None, &mut found));
            continue;
        }
        let mut of = None;
        for (place, part) in part.split('`').enumerate() {
            match place % 2 {
                1 => flags_in_code(program, part, &mut of, &mut found),
                _ => flags_in_words(program, part, &mut of, &mut found),
            }
        }
    }
    found
}

fn flags_in_code(program: &Command, code: &str, of: &mut Option<String>, found: &mut Vec<Flag>) {
    let first = code.split_whitespace().next().unwrap_or_default();
    if first == "reprise" || first.starts_with('-') {
        flags_in_words(program, code, of, found);
    }
}

/// `of` is the command that was named last.
fn flags_in_words(program: &Command, text: &str, of: &mut Option<String>, found: &mut Vec<Flag>) {
    let mut before = "";
    for word in text.split_whitespace() {
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '-');
        if before == "cargo" {
            return;
        }
        if let Some(command) = program.find_subcommand(word).filter(|_| before == "reprise") {
            *of = Some(command.get_name().to_owned());
        }
        let end = word.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-');
        let name = word[..end.unwrap_or(word.len())].trim_end_matches('-');
        if name.strip_prefix("--").is_some_and(|it| it.starts_with(|c: char| c.is_ascii_lowercase())) {
            found.push(Flag { name: name.to_owned(), of: of.clone() });
        }
        before = word;
    }
}

/// Whether a command, or one of its own commands, has it.
fn has(program: &Command, name: &str, flag: &str) -> bool {
    let command = program.find_subcommand(name).unwrap_or_else(|| panic!("no command {name}"));
    let all = std::iter::once(command).chain(command.get_subcommands());
    all.map(flags_known_to).any(|known: BTreeSet<String>| known.contains(flag))
}

fn commands_that_find(cause: &Cause) -> Vec<&'static str> {
    cause.found_by().iter().filter_map(|by| by.name().split(' ').next()).collect()
}

/// The files below, each up to its tests.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() {
            files.extend(if path.ends_with("tests") { Vec::new() } else { sources(&path) });
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            files.push((path.display().to_string(), code.to_owned()));
        }
    }
    files
}

/// The string literals of a source, with what `\` at a line's end joins.
fn literals(source: &str) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let code = code.replace("'\"'", "' '").replace("\\\\", "").replace("\\\"", "'");
    let strings = code.split('"').skip(1).step_by(2);
    strings.map(|it| it.split("\\\n").map(str::trim_start).collect::<String>().replace("\\n", "\n")).collect()
}
