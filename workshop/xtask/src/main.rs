//! The workshop: checks that a compiler cannot do. Run as `cargo xtask COMMAND`.

// A program for the terminal of whoever works here: what it finds goes to standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bogo;
mod causes;
mod docs;
mod firmware;
mod floors;
mod generated;
mod judge;
mod like;
mod package;
mod picture;
mod programs;
mod road;
mod schema;
mod servers;
mod stacks;
mod targets;
mod test_times;
mod words;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Checks of the floors, of the documents, of the schema and of the engine.")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fail when a crate imports one of its own or of a higher floor, or when files of a crate import each other in a circle.
    Floors,
    /// Run every shell command in README.md and docs/guide, and look for every relative link.
    Docs {
        /// Only print the README's test command.
        #[arg(long)]
        test_command: bool,
    },
    /// Run BoGo, the TLS test runner of BoringSSL, against the engine, and print how many tests passed, were out of scope
    /// and failed. Needs go and openssl.
    Bogo {
        /// Names of tests, with * for anything: only these are run.
        tests: Vec<String>,
    },
    /// Build every firmware image and print its sizes. Needs make, gcc-arm-none-eabi and gcc-xtensa-lx106.
    Firmware {
        /// Build each a second time, and fail where a byte differs.
        #[arg(long)]
        twice: bool,
    },
    /// Print how many files and lines of each crate one run of a command executes. Needs cargo-llvm-cov.
    Road {
        /// The command, which is run against a server of the lab.
        command: road::Walked,
    },
    /// Have the judge of resumption examine simulated servers, and print what it concluded rightly and wrongly.
    Judge(judge::JudgeArguments),
    /// Draw docs/measure.svg, the picture in the README, from a run of `reprise measure`.
    Picture,
    /// Run every test program and print its processor time, the most expensive first.
    TestTimes {
        /// Parts of names, as `reprise-cli::cli`: only these are run.
        programs: Vec<String>,
    },
    /// Check that the program compiles for Windows and macOS.
    Targets,
    /// Pack every package that is published, then build and test it from its archive.
    Package {
        /// Only pack.
        #[arg(long)]
        no_verify: bool,
    },
    /// Write the JSON Schema of every document into docs/schema.
    Schema {
        /// Write nothing; fail when the committed files differ.
        #[arg(long)]
        check: bool,
    },
    /// Write the page of every cause into docs/causes.
    Causes {
        /// Write nothing; fail when the committed files differ.
        #[arg(long)]
        check: bool,
    },
    /// Have real clients send their ClientHello, and write it into the rows of `--like`: those of the clients that are installed, or of
    /// these.
    Like {
        /// The names of rows.
        names: Vec<String>,
        /// Write nothing; fail where a client sends something else than its row says.
        #[arg(long)]
        check: bool,
    },
    /// Build plugins for `reprise compare` into target/stacks, and check that they export nothing but their one function.
    Stacks {
        /// Of the TLS libraries that are installed, by their development packages.
        #[arg(long, required_unless_present = "source")]
        system: bool,
        /// Of these libraries, or of all but those under the GPL and BoringSSL, from sources that cargo and apt-get fetch.
        #[arg(long, num_args = 0.., value_name = "NAME", conflicts_with = "system")]
        source: Option<Vec<String>>,
    },
    /// Measure every server of the lab and write the table of docs/guide/21-servers.md.
    Servers,
    /// Write docs/guide/20-command-line.md from the flags.
    CommandLine,
    /// Fail where a page, a flag's help or a message uses a wording that docs/words.txt replaces.
    Words,
    /// Have tests misconfigure servers and write the table of docs/guide/22-causes-seen.md.
    CausesSeen,
}

fn main() -> ExitCode {
    let task = Arguments::parse().task;
    match Workspace::find().and_then(|workspace| run(&workspace, task)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, task: Task) -> anyhow::Result<()> {
    match task {
        Task::Floors => floors::check(workspace),
        Task::Judge(arguments) => judge::run(&arguments),
        Task::Docs { test_command: false } => docs::check(workspace),
        Task::Docs { test_command: true } => docs::print_test_command(workspace),
        Task::TestTimes { programs } => test_times::print(workspace, &programs),
        Task::Targets => targets::check(workspace),
        Task::Package { no_verify } => package::check(workspace, no_verify),
        Task::Bogo { tests } => bogo::run(workspace, &tests),
        Task::Firmware { twice } => firmware::build(workspace, twice),
        Task::Road { command } => road::show(workspace, command),
        Task::Picture => picture::draw(workspace),
        Task::Schema { check: false } => schema::generated()?.write(workspace),
        Task::Schema { check: true } => schema::generated()?.check(workspace),
        Task::Causes { check: false } => causes::generated().write(workspace),
        Task::Causes { check: true } => causes::generated().check(workspace),
        Task::Like { names, check } => like::run(workspace, &names, check),
        Task::Stacks { source, .. } => stacks::build(workspace, source),
        Task::Servers => servers::write(workspace, &servers::SERVERS),
        Task::CommandLine => servers::write(workspace, &servers::COMMAND_LINE),
        Task::Words => words::check(workspace),
        Task::CausesSeen => servers::write(workspace, &servers::CAUSES_SEEN),
    }
}
