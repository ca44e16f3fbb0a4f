//! Relative links in Markdown, and whether they lead anywhere.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;

use super::page::Fence;

/// Folders that hold no documents of ours.
const FOREIGN: [&str; 3] = [".git", "target", "node_modules"];

/// Every relative link in a Markdown file under `root` whose target does not exist, or lies outside of `root`, as
/// `FILE:LINE: TARGET`.
pub(crate) fn broken(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut documents = Vec::new();
    collect(root, &mut documents)?;
    documents.sort();
    let mut broken = Vec::new();
    for document in documents {
        let text = fs::read_to_string(&document).with_context(|| format!("cannot read {}", document.display()))?;
        let name = document.strip_prefix(root).unwrap_or(&document);
        for (line, link) in links(&text) {
            if is_relative(&link) && !leads_somewhere(root, name, &link) {
                broken.push(format!("{}:{line}: {link}", name.display()));
            }
        }
    }
    Ok(broken)
}

fn collect(folder: &Path, documents: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && !FOREIGN.iter().any(|name| entry.file_name() == *name) {
            collect(&path, documents)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
    Ok(())
}

/// Every link outside of code, with its line from 1: `[text](target)`, `[name]: target`, `src="target"`, `href="target"`.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(fence) = &open {
            if fence.is_closed_by(text) {
                open = None;
            }
            continue;
        }
        open = Fence::open(text);
        if open.is_none() {
            let text = without_code(text);
            let definition = text.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
            let inline = text.split("](").skip(1);
            let attributes = ["src=\"", "href=\""].into_iter().flat_map(|attribute| text.split(attribute).skip(1));
            found.extend(inline.chain(definition).chain(attributes).map(|rest| (line, target(rest).to_owned())));
        }
    }
    found
}

/// The line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The link's target, where `rest` begins with it: up to a space, a quote, or a bracket that it did not open itself.
fn target(rest: &str) -> &str {
    if let Some((target, _)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        return target;
    }
    let mut depth = 0_usize;
    let end = rest.find(|character: char| match character {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth == 0 => true,
        ')' => {
            depth -= 1;
            false
        }
        _ => character.is_whitespace() || character == '"',
    });
    end.and_then(|end| rest.get(..end)).unwrap_or(rest)
}

fn is_relative(link: &str) -> bool {
    let scheme = link
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)));
    !(scheme || link.is_empty() || link.starts_with('#') || link.starts_with("//"))
}

/// `document` and the answer are relative to `root`; a link that begins with a slash is too, as on the forges.
fn leads_somewhere(root: &Path, document: &Path, link: &str) -> bool {
    let file = link.split(['#', '?']).next().unwrap_or_default().replace("%20", " ");
    let mut path = match file.strip_prefix('/') {
        Some(_) => PathBuf::new(),
        None => document.parent().unwrap_or(Path::new("")).to_owned(),
    };
    for component in Path::new(file.trim_start_matches('/')).components() {
        match component {
            Component::ParentDir if !path.pop() => return false,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    root.join(path).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<String> {
        links(text).into_iter().map(|(_, link)| link).collect()
    }

    #[test]
    fn links_are_found_in_every_form() {
        assert_eq!(targets("a [b](c.md) and ![d](e.png \"title\")"), ["c.md", "e.png"]);
        assert_eq!(targets("[b](c_(d).md)"), ["c_(d).md"]);
        assert_eq!(targets("[b](<c d.md>)"), ["c d.md"]);
        assert_eq!(targets("[name]: e.md"), ["e.md"]);
        assert_eq!(targets("<img src=\"f.svg\"> <a href=\"g.md\">"), ["f.svg", "g.md"]);
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(targets("```\n[a](b)\n```\n`[c](d)` [e](f)"), ["f"]);
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(links("\n[a](b)"), [(2, "b".to_owned())]);
    }

    #[test]
    fn only_relative_links_are_looked_for() {
        for link in ["https://example.com", "mailto:a@b", "#part", "//host/x"] {
            assert!(!is_relative(link), "{link}");
        }
        assert!(is_relative("../a.md#part"));
    }

    #[test]
    fn broken_links_are_named_with_their_place() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("docs");
        fs::create_dir(&folder).unwrap();
        fs::write(root.path().join("README.md"), "[good](docs/a.md#part)\n[good](/docs/)\n[bad](docs/c.md)\n").unwrap();
        fs::write(folder.join("a.md"), "[good](../README.md) [outside](../../README.md)").unwrap();
        assert_eq!(broken(root.path()).unwrap(), ["README.md:3: docs/c.md", "docs/a.md:1: ../../README.md"]);
    }
}
