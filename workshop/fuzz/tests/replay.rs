//! The corpora, and a bounded number of mutants of each input, through the functions that fuzzing calls: so that what
//! fuzzing once found stays found, on any compiler.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use reprise_fuzz_targets::{TARGETS, Target, find};

/// Mutants of each input.
const MUTANTS: usize = 8;
/// What all corpora may weigh in the tree.
const MOST_BYTES: u64 = 300 * 1024;

#[test]
fn every_corpus_and_its_mutants_keep_their_promises() {
    thread::scope(|scope| TARGETS.iter().for_each(|target| drop(scope.spawn(|| replay(target)))));
}

#[test]
fn every_corpus_is_small_and_belongs_to_a_target() {
    assert!(TARGETS.iter().all(|target| corpora().join(target.name).is_dir()), "a target has no corpus");
    let mut bytes = 0;
    for directory in fs::read_dir(corpora()).unwrap() {
        let directory = directory.unwrap();
        let name = directory.file_name().into_string().unwrap();
        assert!(find(&name).is_some(), "no target is called {name}");
        bytes += inputs(&directory.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>();
    }
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

fn replay(target: &Target) {
    let paths = inputs(&corpora().join(target.name));
    assert!(!paths.is_empty(), "{} has no corpus", target.name);
    for path in paths {
        let input = fs::read(&path).unwrap();
        let mut chance =
            ChaCha8Rng::seed_from_u64(input.iter().fold(8446, |sum, &byte| sum * 31 % 0xffff_fffb + u64::from(byte)));
        run(target, &path, &input);
        for _ in 0..MUTANTS {
            run(target, &path, &mutant(&input, &mut chance));
        }
    }
}

fn run(target: &Target, path: &Path, input: &[u8]) {
    let _shown = ShownOnPanic { path, input };
    (target.run)(input);
}

/// Names the input that broke a promise, so that it can be kept.
struct ShownOnPanic<'a> {
    path: &'a Path,
    input: &'a [u8],
}

impl Drop for ShownOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let hex: String = self.input.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(io::stderr(), "the input, or a mutant of it: {}\n{hex}", self.path.display());
        }
    }
}

fn mutant(input: &[u8], chance: &mut ChaCha8Rng) -> Vec<u8> {
    let mut mutant = input.to_vec();
    for _ in 0..=chance.next_u32() % 3 {
        let at = chance.next_u32() as usize % (mutant.len() + 1);
        let byte = chance.next_u32() as u8;
        match chance.next_u32() % 4 {
            0 => mutant.insert(at, byte),
            1 => mutant.truncate(at),
            _ => {
                if let Some(place) = mutant.get_mut(at) {
                    *place ^= byte;
                }
            }
        }
    }
    mutant
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn inputs(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
