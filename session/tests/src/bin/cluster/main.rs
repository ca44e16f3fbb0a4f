//! Which kind of resumption a fleet should choose: five nodes behind HAProxy in tcp mode, measured with each, each part restarted, and one
//! node beside rustls alone.
//!
//! `session-cluster REPRISE [SECONDS] [ROUNDS] [GUIDE PICTURE]`: REPRISE is the program `reprise`, whose `load` measures. Prints three tables in
//! Markdown; with GUIDE writes them into that page, and the picture of the first into PICTURE.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod cluster;
mod cost;
mod load;
mod peers;
mod restarts;

use std::path::PathBuf;

/// Between these lines the tables stand in the guide.
const MARKS: [&str; 2] = ["<!-- begin: just cluster -->", "<!-- end: just cluster -->"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let reprise = arguments.first().expect("session-cluster REPRISE [SECONDS] [ROUNDS] [GUIDE PICTURE]");
    let number = |index: usize, default: usize| arguments.get(index).map_or(default, |text| text.parse().unwrap());
    let (seconds, rounds) = (number(1, 5), number(2, 3));
    let costs = cost::measure(reprise, seconds, rounds);
    let text = format!("{}\n{}\n{}", costs.table(), restarts::table(), peers::table(reprise, seconds, rounds));
    println!("{text}");
    if let [_, _, _, guide, picture] = arguments.as_slice() {
        std::fs::write(picture, costs.picture()).unwrap();
        write_between(&PathBuf::from(guide), &text);
    }
}

fn write_between(guide: &PathBuf, text: &str) {
    let page = std::fs::read_to_string(guide).unwrap();
    let [(before, rest), (_, after)] = MARKS.map(|mark| page.split_once(mark).expect("the guide has both marks"));
    assert!(rest.contains(MARKS[1]), "the marks are in their order");
    std::fs::write(guide, format!("{before}{}\n\n{text}\n{}{after}", MARKS[0], MARKS[1])).unwrap();
}
