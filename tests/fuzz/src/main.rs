//! Writes the seeds of every target into `corpus/`, beside those that fuzzing has found.

#![allow(clippy::print_stdout, reason = "a program for the terminal of whoever works here")]

use std::fs;
use std::io;
use std::path::Path;

use reprise_fuzz_targets::TARGETS;

fn main() -> io::Result<()> {
    for target in TARGETS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
        fs::create_dir_all(&directory)?;
        let seeds = (target.seeds)();
        for (name, bytes) in &seeds {
            fs::write(directory.join(name), bytes)?;
        }
        println!("{}: {} seeds", target.name, seeds.len());
    }
    Ok(())
}
