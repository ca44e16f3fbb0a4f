//! Writes the seeds of every target into `corpus/`, beside what fuzzing has found. One that is there stays as it is, since
//! those with certificates come out otherwise each time.

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
            let path = directory.join(name);
            if !path.exists() {
                fs::write(path, bytes)?;
            }
        }
        println!("{}: {} seeds", target.name, seeds.len());
    }
    Ok(())
}
