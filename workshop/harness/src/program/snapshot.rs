//! Pages against the texts that they should be, without what differs from one run to the next.

use std::path::Path;

use snapbox::{Assert, Data};

/// Expects the page in this file, in which `...` and `[..]` stand for whatever is there. `SNAPSHOTS=overwrite` writes the file anew.
#[track_caller]
pub fn assert_page(page: &str, file: &Path) {
    let assert = Assert::new().action_env("SNAPSHOTS");
    assert.eq(without_figures(page), Data::read_from(file, None));
}

/// What a page says, however wide its figures make it: the rows of ladders without times and sizes, and each sentence a line, with `#`
/// for its figures. Left out are the table of figures, the legend, and what is said of this machine.
fn without_figures(page: &str) -> String {
    let blocks = page.split("\n\n").map(|block| if block.contains('─') { rows(block) } else { sentences(block) });
    let is_left_out =
        |block: &String| block.contains("messages round") || block.starts_with("→ sent") || block.starts_with("reprise ");
    blocks.filter(|block| !is_left_out(block)).collect::<Vec<_>>().join("\n\n") + "\n"
}

fn rows(block: &str) -> String {
    let is_kept = |word: &&str| !is_figure(word) && !["µs", "ms", "s", "B"].contains(word);
    let row = |line: &str| {
        let words = line.split_whitespace().filter(is_kept).collect::<Vec<_>>().join(" ");
        // Where the left one of two columns is empty.
        if line.starts_with(&" ".repeat(20)) { format!("- {words}") } else { words }
    };
    block.lines().filter(|line| !line.contains(['─', '╌'])).map(row).collect::<Vec<_>>().join("\n")
}

fn sentences(block: &str) -> String {
    let mut before = "";
    let word = |word| {
        let is_name = ["TLS", "RFC", "(RFC", "section"].contains(&std::mem::replace(&mut before, word));
        match word.split_once("127.0.0.1:") {
            Some((scheme, port)) => {
                format!("{scheme}127.0.0.1:#{}", port.trim_start_matches(|it: char| it.is_ascii_digit()))
            }
            None if is_figure(word) && !is_name => "#".to_owned(),
            None => word.to_owned(),
        }
    };
    block.split_whitespace().map(word).collect::<Vec<_>>().join(" ").replace(". ", ".\n")
}

/// Digits, with a sign, a point or a comma.
fn is_figure(word: &str) -> bool {
    word.contains(|it: char| it.is_ascii_digit()) && word.chars().all(|it| it.is_ascii_digit() || "−.,".contains(it))
}

#[test]
fn figures_are_left_out_and_names_are_not() {
    let page = "https://127.0.0.1:4711/ TLS 1.3\n\n  µs  −1  → x\n─────\n 4.02  65  skipped\n\nIt took 3 of 44,\nas (RFC 9846, \
                says. So.\n\nreprise 0.1.0\n";
    let expected = "https://127.0.0.1:#/ TLS 1.3\n\n→ x\nskipped\n\nIt took # of # as (RFC 9846, says.\nSo.\n";
    assert_eq!(without_figures(page), expected);
}
