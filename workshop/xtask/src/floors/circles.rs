//! Circles of files: two or more of one crate that import each other round, so that none can be read or moved by itself.
//!
//! A file's module is the front of its folder: what it uses of the files below it counts as its own. Nor does code count that only tests compile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use cargo_metadata::{Package, TargetKind};

use super::modules::Modules;

/// The circles of all crates.
pub(super) fn faults<'p>(packages: impl Iterator<Item = &'p Package>) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for package in packages {
        let mut circles = Vec::new();
        for folder in source_folders(package) {
            circles.extend(circles_of(&Modules::read(&sources(&folder)?)?));
        }
        faults.extend(faults_of(&package.name, &circles));
    }
    Ok(faults)
}

fn faults_of(package: &str, circles: &[Circle]) -> Vec<String> {
    circles.iter().map(|circle| format!("{package}: files import each other in a circle:{}", circle.edges())).collect()
}

/// The folders of its libraries and programs; tests, benchmarks and examples have others.
fn source_folders(package: &Package) -> BTreeSet<PathBuf> {
    let for_others = [TargetKind::Test, TargetKind::Bench, TargetKind::Example, TargetKind::CustomBuild];
    let programs = package.targets.iter().filter(|target| !for_others.iter().any(|kind| target.kind.contains(kind)));
    programs.filter_map(|target| Some(target.src_path.parent()?.as_std_path().to_owned())).collect()
}

/// The text of each source file, by its path from `folder` on.
fn sources(folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let (mut texts, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                texts.insert(path.strip_prefix(folder)?.to_owned(), text);
            }
        }
    }
    Ok(texts)
}

/// For each file what it uses of which others, as its code writes it.
type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, String>>;

/// Files, each of which leads to all others, and what they use of each other.
struct Circle(Uses);

impl Circle {
    fn edges(&self) -> String {
        let edges = self.0.iter().flat_map(|(from, used)| used.iter().map(move |(to, name)| (from, to, name)));
        edges.map(|(from, to, name)| format!("\n    {} uses {}: {name}", from.display(), to.display())).collect()
    }
}

fn circles_of(modules: &Modules) -> Vec<Circle> {
    let uses = uses_between_files(modules);
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        uses.keys().map(|file| (file.as_path(), reached_from(file, &uses))).collect();
    let reaches = |from: &Path, to: &Path| reached.get(from).is_some_and(|files| files.contains(to));
    let (mut circles, mut seen) = (Vec::new(), BTreeSet::new());
    for file in uses.keys().filter(|file| reaches(file, file)) {
        if seen.contains(file) {
            continue;
        }
        let is_in = |other: &Path| reaches(file, other) && reaches(other, file);
        let mut circle = Uses::new();
        for (from, used) in uses.iter().filter(|(from, _)| is_in(from)) {
            let within = used.iter().filter(|(to, _)| is_in(to));
            circle.insert(from.clone(), within.map(|(to, name)| (to.clone(), name.clone())).collect());
        }
        seen.extend(circle.keys().cloned());
        circles.push(Circle(circle));
    }
    circles
}

fn uses_between_files(modules: &Modules) -> Uses {
    let mut uses = Uses::new();
    for (from, name) in modules.uses() {
        let Some(to) = modules.defining(from, name) else { continue };
        let (Some(from), Some(to)) = (modules.file(from), modules.file(&to)) else { continue };
        if !to.module.starts_with(&from.module) {
            let used = uses.entry(from.path.clone()).or_default();
            used.entry(to.path.clone()).or_insert_with(|| name.join("::"));
        }
    }
    uses
}

/// The files that it uses, and those that they use, and so on.
fn reached_from<'u>(file: &'u Path, uses: &'u Uses) -> BTreeSet<&'u Path> {
    let mut reached = BTreeSet::new();
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        let used = uses.get(file).into_iter().flat_map(BTreeMap::keys);
        next.extend(used.map(PathBuf::as_path).filter(|file| reached.insert(*file)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a crate of these files.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let texts = files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
        faults_of("toy", &circles_of(&Modules::read(&texts).unwrap()))
    }

    const NONE: [String; 0] = [];

    #[test]
    fn a_circle_of_two_is_refused_with_both_edges() {
        let found = found(&[
            ("lib.rs", "mod fault; mod hello; mod apart;"),
            ("fault.rs", "use crate::hello::Hello;\npub struct Fault(Hello);"),
            ("hello.rs", "pub struct Hello;\nfn check() -> Result<(), super::fault::Fault> { Ok(()) }"),
            ("apart.rs", "use crate::hello::Hello;"),
        ]);
        let edges = "\n    fault.rs uses hello.rs: crate::hello::Hello\n    hello.rs uses fault.rs: super::fault::Fault";
        assert_eq!(found, [format!("toy: files import each other in a circle:{edges}")]);
    }

    #[test]
    fn circles_that_do_not_touch_are_told_apart() {
        let found = found(&[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::{a::A, d::D}; pub struct B;"),
            ("c.rs", "use crate::d::D; pub struct C;"),
            ("d.rs", "use crate::c::C; pub struct D;"),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(!found[0].contains("d.rs"), "{found:?}");
    }

    #[test]
    fn an_ancestor_may_use_what_is_below_it() {
        let files = [
            ("lib.rs", "mod store; pub use store::Store; pub struct Error; fn start() -> store::shard::Shard { todo!() }"),
            ("store/mod.rs", "pub mod shard; use shard::Shard; pub struct Store(Shard); pub struct Limits;"),
            ("store/shard.rs", "use super::Limits; use crate::Error; pub struct Shard;"),
        ];
        assert_eq!(found(&files), NONE);
    }

    #[test]
    fn what_only_tests_compile_does_not_count() {
        let uses_b = "use crate::b::B;";
        let files =
            |a: String| [("lib.rs", String::new()), ("a.rs", a), ("b.rs", "use crate::a::A; pub struct B;".to_owned())];
        let count = |a: String| {
            let files = files(a);
            let tests = [("a/tests.rs", uses_b)];
            found(&files.iter().map(|(path, text)| (*path, text.as_str())).chain(tests).collect::<Vec<_>>()).len()
        };
        assert_eq!(count(format!("{uses_b} #[cfg(test)] mod tests;")), 1);
        assert_eq!(count("#[cfg(test)] mod tests;".to_owned()), 0);
        assert_eq!(count(format!("#[cfg(test)] {uses_b} #[cfg(test)] mod tests;")), 0);
        assert_eq!(count(format!("#[cfg(all(test, unix))] mod more {{ {uses_b} }} #[cfg(test)] mod tests;")), 0);
        assert_eq!(count(format!("impl A {{ #[cfg(test)] fn b() {{ {uses_b} }} }} #[cfg(test)] mod tests;")), 0);
        assert_eq!(
            count("#[cfg(test)] #[path = \"a/tests.rs\"] mod others; /// [`B`](crate::b::B)\nfn a() {}".to_owned()),
            0
        );
    }

    #[test]
    fn names_are_followed_to_where_they_are_defined() {
        for (root, used) in [
            ("mod a; mod b; pub use b::B;", "crate::B"),
            ("mod a; mod b; use b::B as Other;", "super::Other"),
            ("mod a; mod b; pub use b::*;", "crate::B"),
            ("mod a; mod b; pub mod names { pub use crate::b::B; }", "crate::names::B"),
        ] {
            let a = format!("use {used}; pub struct A;");
            let found = found(&[("lib.rs", root), ("a.rs", &a), ("b.rs", "use crate::a::A; pub struct B;")]);
            assert!(found.concat().contains(&format!("a.rs uses b.rs: {used}")), "{root}: {found:?}");
        }
        // It is the root's own.
        let root = "mod a; mod b; pub struct B; pub use b::*;";
        assert_eq!(found(&[("lib.rs", root), ("a.rs", "use crate::B;"), ("b.rs", "use crate::a::A;")]), NONE);
    }

    #[test]
    fn paths_in_macros_and_attributes_count() {
        for a in [
            "fn a() { println!(\"{}\", crate::b::B) }",
            "use crate::b; fn a() { b::c() }",
            "#[error(\"{}\", crate::b::B)] struct A;",
            "macro_rules! a { () => { $crate::b::c() } }",
        ] {
            let found = found(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "use crate::a;")]);
            assert_eq!(found.len(), 1, "{a}: {found:?}");
        }
    }
}
