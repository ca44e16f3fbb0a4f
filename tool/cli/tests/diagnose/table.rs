//! The table of causes and software that each was seen with, as it stands in the guide.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use reprise_model::document::Finding;

use crate::diagnose::broken::Broken;
use crate::diagnose::{
    apache, caddy, envoy, gnutls_api, haproxy, nginx, nodes, offers, openssl, openssl_api, postfix, programs, python,
    services, slow, stunnel,
};

/// The page, from the root of the workspace.
const PAGE: &str = "docs/guide/22-causes-seen.md";
/// Set by `cargo xtask causes-seen`.
const WRITE: &str = "REPRISE_WRITE_CAUSES";

const BEGIN: &str = "<!-- causes: seen, written by `cargo xtask causes-seen` -->\n\n";
const END: &str = "\n<!-- causes: end -->";
const HEADINGS: &str = "| cause | software | version | configuration | found as | what is printed and fixes it |\n| --- | --- | --- | --- | --- | --- |\n";

/// One misconfiguration, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    cause: String,
    software: String,
    told: String,
    version: String,
    found: String,
    fixed: String,
}

/// Every misconfiguration that a test examines.
fn all() -> impl Iterator<Item = &'static Broken> {
    [
        nginx::ALL,
        apache::ALL,
        haproxy::ALL,
        nodes::ALL,
        offers::ALL,
        openssl::ALL,
        openssl_api::ALL,
        gnutls_api::ALL,
        programs::ALL,
        caddy::ALL,
        envoy::ALL,
        postfix::ALL,
        python::ALL,
        services::ALL,
        slow::ALL,
        stunnel::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

impl Row {
    pub(crate) fn new(broken: &Broken, finding: &Finding, fixed: &[String]) -> Self {
        Self {
            cause: code(broken.cause),
            software: broken.software.name.to_owned(),
            told: lines(broken.told),
            version: broken.software.version(),
            found: format!("{}, {}", finding.severity.name(), finding.confidence.name()),
            fixed: if fixed.is_empty() { "–".to_owned() } else { lines(fixed) },
        }
    }

    fn parse(line: &str) -> Self {
        let mut fields = line.trim_matches('|').split(" | ").map(|field| field.trim().to_owned());
        let mut next = || fields.next().unwrap_or_default();
        let [cause, software, version, told, found, fixed] = [next(), next(), next(), next(), next(), next()];
        Self { cause, software, told, version, found, fixed }
    }

    /// Not how sure it is: that depends on which node a connection reaches, and on how many the limits leave.
    fn severity(&self) -> &str {
        self.found.split_once(',').map_or(&self.found, |(severity, _)| severity)
    }

    fn key(&self) -> (&str, &str, &str) {
        (&self.cause, &self.software, &self.told)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, software, told, version, found, fixed } = self;
        write!(formatter, "| {cause} | {software} | {version} | {told} | {found} | {fixed} |")
    }
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "¦"))
}

fn lines(lines: &[impl AsRef<str>]) -> String {
    lines.iter().map(|line| code(line.as_ref())).collect::<Vec<_>>().join("<br>")
}

/// The guide says what was seen. Software of another version than the guide's may behave otherwise: that is not compared.
#[track_caller]
pub(crate) fn compare(row: &Row) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(page()).unwrap();
    let mut written = rows(&text);
    if env::var_os(WRITE).is_some() {
        written.retain(|other| other.key() != row.key());
        written.push(row.clone());
        return write(&text, written);
    }
    let of_guide = written.iter().find(|other| other.key() == row.key());
    let Some(of_guide) = of_guide else { panic!("{PAGE} lacks what `cargo xtask causes-seen` would write:\n{row}") };
    if of_guide.version == row.version {
        let same = (of_guide.severity(), &of_guide.fixed) == (row.severity(), &row.fixed);
        assert!(same, "{PAGE} says otherwise; `cargo xtask causes-seen` would write\n{row}");
    }
}

#[test]
fn the_guide_shows_what_tests_examine_and_nothing_else() {
    let text = fs::read_to_string(page()).unwrap();
    let key = |broken: &Broken| (code(broken.cause), broken.software.name.to_owned(), lines(broken.told));
    let known: Vec<_> = all().map(key).collect();
    let is_known = |row: &Row| known.iter().any(|(cause, software, told)| row.key() == (cause, software, told));
    let (rows, gone): (Vec<Row>, Vec<Row>) = rows(&text).into_iter().partition(is_known);
    if env::var_os(WRITE).is_some() {
        return write(&text, rows);
    }
    assert_eq!(gone, [], "no test examines these");
    assert_eq!(rows.len(), known.len(), "two of them look the same, or the guide lacks one");
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE)
}

fn parts(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    (before, table, after)
}

fn rows(text: &str) -> Vec<Row> {
    parts(text).1.lines().skip(2).map(Row::parse).collect()
}

fn write(text: &str, mut rows: Vec<Row>) {
    rows.sort();
    let (before, _, after) = parts(text);
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(page(), format!("{before}{BEGIN}{HEADINGS}{rows}{END}{after}")).unwrap();
}
