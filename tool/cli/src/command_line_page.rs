//! `docs/guide/20-command-line.md` is what clap knows, and the flags that the other pages name are the program's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command};

use crate::{args, ending};

const PAGE: &str = "docs/guide/20-command-line.md";

/// Set to write the page instead.
const WRITE: &str = "REPRISE_WRITE_COMMAND_LINE";

const INTRODUCTION: &str = "\
# Command line

Every command and flag of `reprise`. `reprise COMMAND --help` prints the same, with examples. [The guide](README.md) shows the
commands at work, and has [the exit codes](README.md#exit-codes).

This page is written by `cargo xtask command-line`; its source is `tool/cli/src/`.
";

#[test]
fn the_page_is_what_the_program_says() {
    if is_archive() {
        return;
    }
    let path = root().join(PAGE);
    let page = page();
    if env::var_os(WRITE).is_some() {
        fs::write(&path, page).unwrap();
    } else {
        assert!(fs::read_to_string(&path).unwrap() == page, "{PAGE} differs: `cargo xtask command-line` writes it");
    }
}

#[test]
fn commands_in_the_documents_use_known_flags() {
    if is_archive() {
        return;
    }
    let program = built();
    let mut seen = 0;
    let mut unknown = Vec::new();
    for (name, text) in documents() {
        let text = text.replace("\\\n", " ");
        for line in text.lines() {
            for command_line in line.split("reprise ").skip(1) {
                let Some((command, flags)) = flags_of(&program, command_line) else { continue };
                let known = flags_known_to(command);
                seen += flags.len();
                unknown.extend(
                    flags.into_iter().filter(|flag| !known.contains(flag)).map(|flag| format!("{name}: {flag}: {line}")),
                );
            }
        }
    }
    assert!(seen > 200, "only {seen} flags were found");
    assert!(unknown.is_empty(), "flags that the command does not have:\n{}", unknown.join("\n"));
}

#[test]
fn flags_named_in_the_guide_exist() {
    if is_archive() {
        return;
    }
    let program = built();
    let known: BTreeSet<String> = commands(&program).into_iter().flat_map(|(_, command)| flags_known_to(command)).collect();
    let mut unknown = Vec::new();
    for (name, text) in documents() {
        // Code that begins with a flag, outside of blocks: other programs' flags stand behind their names.
        let prose: String = text.split("```").step_by(2).collect();
        let code = prose.split('`').skip(1).step_by(2).filter(|code| code.starts_with("--"));
        let flags = code
            .map(|code| code.split(|c: char| c.is_whitespace() || "=[,".contains(c)).next().unwrap_or_default().to_owned());
        unknown.extend(
            flags
                .filter(|flag| !known.contains(flag) && !OF_OTHERS.contains(&flag.as_str()))
                .map(|flag| format!("{name}: {flag}")),
        );
    }
    assert!(unknown.is_empty(), "flags that no command has:\n{}", unknown.join("\n"));
}

#[test]
fn the_guide_lists_the_exit_codes() {
    if is_archive() {
        return;
    }
    for page in ["README.md", "01-measure.md"] {
        let page = fs::read_to_string(root().join("docs/guide").join(page)).unwrap();
        assert_eq!(exit_codes(&page), [CODES]);
    }
}

const CODES: [u8; 5] = [0, ending::BAD_ANSWER, ending::USAGE, ending::UNREACHABLE, ending::INTERRUPTED];

/// The numbers in the first column of the tables of codes.
fn exit_codes(page: &str) -> Vec<Vec<u8>> {
    let tables = page.split("| code | meaning |\n").skip(1);
    let rows = |table: &str| {
        let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
        rows.map(|row| row.split('|').nth(1).unwrap().trim().parse().unwrap()).collect()
    };
    tables.map(rows).collect()
}

/// Flags of other programs that pages name by themselves.
const OF_OTHERS: [&str; 12] = [
    "--earlydata",
    "--enable-intelasm",
    "--enable-sp",
    "--enable-sp-asm",
    "--extended",
    "--no-sessionid",
    "--nodb",
    "--noticket",
    "--priority",
    "--pskpasswd",
    "--source",
    "--ssl-sessions",
];

/// Cargo puts this file into the package's archive, which has no guide.
pub(crate) fn is_archive() -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo_vcs_info.json").exists()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn built() -> Command {
    let mut program = args::program();
    program.build();
    program
}

/// The README and the pages of the guide that people write, with their names.
fn documents() -> Vec<(String, String)> {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let pages = guide.filter(|path| path.extension().is_some_and(|it| it == "md") && !path.ends_with("20-command-line.md"));
    let read = |path: PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
    [root().join("README.md")].into_iter().chain(pages).map(read).collect()
}

/// Every command that is shown, with its whole name, `stacks check`.
pub(crate) fn commands(program: &Command) -> Vec<(String, &Command)> {
    let shown = program.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
    let with_children = shown.flat_map(|command| {
        let name = command.get_name().to_owned();
        let children = commands(command).into_iter().map({
            let name = name.clone();
            move |(child, it)| (format!("{name} {child}"), it)
        });
        std::iter::once((name, command)).chain(children).collect::<Vec<_>>()
    });
    with_children.collect()
}

pub(crate) fn flags_known_to(command: &Command) -> BTreeSet<String> {
    let long = command.get_arguments().flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default());
    let short = command.get_arguments().flat_map(|arg| arg.get_short_and_visible_aliases().unwrap_or_default());
    let long: Vec<String> = long.map(|it| format!("--{it}")).collect();
    short.map(|it| format!("-{it}")).chain(long).collect()
}

/// What follows `reprise ` in a document: the command and its flags, up to what is another program's. `None` for what is no
/// command line.
fn flags_of<'a>(program: &'a Command, text: &str) -> Option<(&'a Command, Vec<String>)> {
    let text = text.split(['`', '|', ';', '>', '#', '&', ')', '"']).next().unwrap_or_default();
    let text = text.split(" -- ").next().unwrap_or_default();
    let mut words = text.split_whitespace().peekable();
    let first = *words.peek()?;
    let (_, mut command) = match program.find_subcommand(first) {
        Some(command) => (words.next(), command),
        // A target alone means `measure`.
        None if first.contains('.') || first.contains(':') => (None, program.find_subcommand("measure")?),
        None => return None,
    };
    if let Some(child) = words.peek().and_then(|word| command.find_subcommand(*word)) {
        command = child;
    }
    let is_flag = |word: &&str| word.starts_with('-') && word.len() > 1 && !word.starts_with("-1");
    let flags = words
        .filter(is_flag)
        .map(|word| word.split('=').next().unwrap_or(word).trim_end_matches(['.', ',', ':']).to_owned());
    Some((command, flags.collect()))
}

fn page() -> String {
    let program = built();
    let mut page = INTRODUCTION.to_owned();
    for (name, command) in commands(&program) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        page += &format!("\n## reprise {name}\n\n{about}.\n");
        let mut headings: Vec<Option<&str>> = Vec::new();
        let arguments: Vec<&Arg> =
            command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help").collect();
        for arg in &arguments {
            if !headings.contains(&arg.get_help_heading()) {
                headings.push(arg.get_help_heading());
            }
        }
        for heading in headings {
            page += &format!("\n| {} | |\n| --- | --- |\n", heading.unwrap_or("General"));
            for arg in arguments.iter().filter(|arg| arg.get_help_heading() == heading) {
                page += &format!("| {} | {} |\n", names(arg), meaning(arg));
            }
        }
    }
    page
}

/// `-n`, `--count COUNT`
fn names(arg: &Arg) -> String {
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let values: Vec<String> = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let value = if takes_value { values.join(" ") } else { String::new() };
    let long = arg.get_long().map(|long| format!("--{long} {value}").trim().to_owned());
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).map(|name| format!("`{name}`")).collect();
    if names.is_empty() { format!("`{value}`") } else { names.join(", ") }.replace('|', "\\|")
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;");
    let is_switch = !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let values: Vec<PossibleValue> = if is_switch { Vec::new() } else { arg.get_possible_values() };
    let shown: Vec<String> = values.iter().filter(|value| !value.is_hide_set()).map(value_in_words).collect();
    if !shown.is_empty() {
        meaning += &format!(". Values: {}", shown.join("; "));
    }
    let defaults: Vec<String> = arg.get_default_values().iter().map(|it| it.to_string_lossy().into_owned()).collect();
    if !is_switch && !defaults.is_empty() {
        meaning += &format!(". Default: `{}`", defaults.join(","));
    }
    let aliases: Vec<String> = arg.get_visible_aliases().unwrap_or_default().iter().map(|it| format!("`--{it}`")).collect();
    if !aliases.is_empty() {
        meaning += &format!(". Also {}", aliases.join(", "));
    }
    meaning
}

fn value_in_words(value: &PossibleValue) -> String {
    match value.get_help() {
        Some(help) => format!("`{}` ({help})", value.get_name()),
        None => format!("`{}`", value.get_name()),
    }
}
