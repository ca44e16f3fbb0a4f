//! Plain words: no wording of `docs/words.txt` in the pages, in the flags' help, or in the strings that the program may print.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::programs::output_of;
use crate::workspace::Workspace;

const LIST: &str = "docs/words.txt";

/// Fails, with the place of each, where a wording of the list is used.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let root = workspace.root();
    let list = fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let words = words(&list)?;
    let mut found = Vec::new();
    let mut files = 0;
    for file in tracked(root)? {
        let text = fs::read_to_string(root.join(&file)).with_context(|| format!("cannot read {file}"))?;
        let passages = if file.ends_with(".md") {
            paragraphs(&text)
        } else {
            // What is said beside the flags is their help.
            strings(&text, file.starts_with("tool/cli/")).with_context(|| format!("cannot parse {file}"))?
        };
        files += 1;
        found.extend(passages.iter().flat_map(|passage| complaints(&file, passage, &words)));
    }
    if !found.is_empty() {
        bail!("wording that {LIST} replaces:\n  {}", found.join("\n  "));
    }
    println!("{files} files hold none of the {} wordings of {LIST}", words.len());
    Ok(())
}

/// A wording and what to write instead.
struct Word<'a> {
    odd: String,
    instead: &'a str,
}

/// Text that belongs together, and the line on which it begins.
#[derive(Debug, PartialEq)]
struct Passage {
    line: usize,
    text: String,
}

fn words(list: &str) -> anyhow::Result<Vec<Word<'_>>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (odd, instead) = line.split_once(" -> ").with_context(|| format!("{LIST}: no ' -> ' in '{line}'"))?;
            Ok(Word { odd: odd.to_lowercase(), instead })
        })
        .collect()
}

/// The pages and sources that users read something of: not tests, whose strings are not printed.
fn tracked(root: &Path) -> anyhow::Result<Vec<String>> {
    let listed = output_of(
        Command::new("git")
            .args(["ls-files", "*.md", "t*/*/src/*.rs", "session/*/src/*.rs", "workshop/s*/src/*.rs"])
            .current_dir(root),
    )?;
    let written_by_tests = |file: &str| file.contains("/golden/");
    Ok(listed.lines().filter(|file| root.join(file).exists() && !written_by_tests(file)).map(str::to_owned).collect())
}

/// Lines up to an empty one, as one text: a wording may be broken over two lines.
fn paragraphs(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut goes_on = false;
    for (index, line) in text.lines().map(str::trim).enumerate() {
        match passages.last_mut().filter(|_| goes_on) {
            Some(passage) => {
                passage.text.push(' ');
                passage.text.push_str(line);
            }
            None if !line.is_empty() => passages.push(Passage { line: index + 1, text: line.to_owned() }),
            None => {}
        }
        // A row of a table or an item of a list is long enough by itself to be found by its line.
        goes_on = !line.is_empty() && !line.starts_with('|');
    }
    passages
}

/// Every string literal, and every documentation comment if `with_comments`; what is compiled for tests alone is left out.
fn strings(source: &str, with_comments: bool) -> anyhow::Result<Vec<Passage>> {
    let tokens: TokenStream = source.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
    let mut passages = Vec::new();
    collect(tokens, with_comments, &mut passages);
    Ok(passages)
}

fn collect(tokens: TokenStream, with_comments: bool, passages: &mut Vec<Passage>) {
    let mut tokens = tokens.into_iter();
    // Consecutive lines of a comment are one text, an attribute each.
    let mut comment: Option<Passage> = None;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(_) => {}
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && is_doc(&group.stream()) => {
                for part in with_comments.then(|| literals(group.stream())).into_iter().flatten() {
                    match &mut comment {
                        Some(comment) => comment.text.push_str(&part.text),
                        None => comment = Some(part),
                    }
                }
                continue;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && is_for_tests(&group.stream()) => {
                // The item that follows: up to its body or its semicolon.
                for skipped in tokens.by_ref() {
                    match skipped {
                        TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => break,
                        TokenTree::Punct(end) if end.as_char() == ';' => break,
                        _ => {}
                    }
                }
            }
            TokenTree::Group(group) => {
                passages.extend(comment.take());
                collect(group.stream(), with_comments, passages);
            }
            other => {
                passages.extend(comment.take());
                passages.extend(literals(other.into()));
            }
        }
    }
    passages.extend(comment);
}

fn is_doc(attribute: &TokenStream) -> bool {
    attribute.clone().into_iter().next().is_some_and(|first| first.to_string() == "doc")
}

fn is_for_tests(attribute: &TokenStream) -> bool {
    attribute.to_string().replace(' ', "") == "cfg(test)"
}

/// The strings right in these tokens, with continued lines joined.
fn literals(tokens: TokenStream) -> Vec<Passage> {
    let literals = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Literal(literal) => Some(literal),
        _ => None,
    });
    let strings = literals.filter_map(|literal| {
        let text = literal.to_string();
        let inside =
            text.trim_start_matches(['b', 'c', 'r', '#']).strip_prefix('"')?.trim_end_matches(['"', '#']).to_owned();
        let mut lines = inside.split("\\\n");
        let first = lines.next().unwrap_or_default().to_owned();
        let joined = lines.fold(first, |joined, line| joined + line.trim_start());
        Some(Passage { line: literal.span().start().line, text: joined.replace("\\n", " ") })
    });
    strings.collect()
}

fn complaints(file: &str, passage: &Passage, words: &[Word<'_>]) -> Vec<String> {
    let text: Vec<&str> = passage.text.split_whitespace().collect();
    let text = text.join(" ").to_lowercase();
    let used = words.iter().filter(|word| has(&text, &word.odd));
    used.map(|Word { odd, instead }| format!("{file}:{}: '{odd}': write '{instead}'", passage.line)).collect()
}

/// Whether the wording stands there as whole words. A hyphen is part of a word: a cause's name is none of ours to change.
fn has(text: &str, odd: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let is_cut = |outside: Option<char>, inside: Option<char>| {
        outside.is_some_and(is_word) && inside.is_some_and(|c| c.is_alphanumeric())
    };
    text.match_indices(odd).any(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + odd.len()..).unwrap_or_default());
        !is_cut(before.chars().next_back(), odd.chars().next()) && !is_cut(after.chars().next(), odd.chars().next_back())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "# comment\n\nanew -> again\n' is no -> invalid …\n";

    fn found(passages: &[Passage]) -> Vec<String> {
        let words = words(WORDS).unwrap();
        passages.iter().flat_map(|passage| complaints("it", passage, &words)).collect()
    }

    #[test]
    fn odd_words_are_found_whole_and_over_lines() {
        let page = "# Anew\n\nrenewed, anew-ish\n\nit begins\n anew\n| a |\n| anew |\n";
        let again = |line: usize| format!("it:{line}: 'anew': write 'again'");
        assert_eq!(found(&paragraphs(page)), [again(1), again(5), again(8)]);
    }

    #[test]
    fn strings_and_help_are_read_and_tests_are_not() {
        let source = "/// Begin\n/// anew\nfn f() { g(\"'{x}' is \\\n      no\"); }\n#[cfg(test)]\nmod tests { const A: &str = \"anew\"; }";
        let help = "it:1: 'anew': write 'again'".to_owned();
        let message = "it:3: '' is no': write 'invalid …'".to_owned();
        assert_eq!(found(&strings(source, true).unwrap()), [help, message.clone()]);
        assert_eq!(found(&strings(source, false).unwrap()), [message]);
    }

    #[test]
    fn a_line_without_an_arrow_is_refused() {
        assert!(words("anew again").is_err());
    }
}
