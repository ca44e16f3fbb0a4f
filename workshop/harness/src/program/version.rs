//! The versions of what tests run against.

use std::fs;
use std::path::Path;
use std::process::Command;

use reprise_servers::find;

/// The first number with dots in what the program says of itself; nothing if it is not installed.
pub fn version(program: &str, arguments: &[&str]) -> String {
    let Some(path) = find(program) else { return String::new() };
    let output = Command::new(path).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut words = said.split(|character: char| !character.is_ascii_digit() && character != '.');
    let number = words.find(|word| word.contains('.') && word.starts_with(|first: char| first.is_ascii_digit()));
    number.unwrap_or_else(|| panic!("{program} {arguments:?} tells no version: {said}")).to_owned()
}

/// The version of a crate that this workspace is built with.
pub fn locked_version(name: &str) -> String {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap();
    let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).unwrap();
    after.split('"').next().unwrap().to_owned()
}
