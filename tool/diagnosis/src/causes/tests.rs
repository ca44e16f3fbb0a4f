//! What holds of all causes; the folder has what the rules of each find.

mod connections;
mod examined;
mod handshakes;
mod measured;
mod watched;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use reprise_probe::diagnose::{CONTROL, EXPERIMENTS};

use super::*;
use crate::guide;

/// Parts of what a finding tells (see [`told`]); empty where there is none.
type Expected = &'static [&'static str];

fn assert_tells(cause: &Cause, place: usize, finding: Option<Finding>, expected: &[&str]) {
    assert!(finding.as_ref().is_none_or(|finding| finding.id == cause.slug), "{finding:?}");
    let told = finding.as_ref().map(told).unwrap_or_default();
    let tells_all = expected.iter().all(|part| told.contains(part));
    assert!(tells_all && finding.is_none() == expected.is_empty(), "{} in {place}: {expected:?}, not {told}", cause.slug);
}

/// A finding in words: "Risk, Possible, cost 312000 ns", then its title, evidence and remedy.
fn told(finding: &Finding) -> String {
    let Finding { severity, confidence, title, evidence, .. } = finding;
    let cost = finding.cost_ns.map_or("no cost".to_owned(), |cost| format!("cost {} ns", cost.0));
    let remedy = finding.remedy.as_ref().map(|remedy| remedy.text.as_str()).unwrap_or_default();
    let (lines, count) = (evidence.join("\n"), evidence.len());
    format!("{severity:?}, {confidence:?}, {cost}\n{title}\n{lines}\n{count} lines of evidence\n{remedy}")
}

#[test]
fn slugs_are_unique() {
    let mut slugs: Vec<&str> = causes().map(|cause| cause.slug).collect();
    slugs.sort_unstable();
    let count = slugs.len();
    slugs.dedup();
    assert_eq!(slugs.len(), count);
}

#[test]
fn every_page_is_whole() {
    let mut wrong = Vec::new();
    for cause in causes() {
        let file = format!("{}.md", cause.slug);
        let markdown = fs::read_to_string(folder().join(&file)).unwrap();
        let (page, faults) = CausePage::read(markdown.leak());
        wrong.extend(faults.into_iter().map(|(line, what)| format!("{file}:{line}: {what}")));
        wrong.extend((page.slug != cause.slug).then(|| format!("{file}:1: the page of {}", page.slug)));
        for (heading, fixes) in CausePage::TABLES.into_iter().zip([&page.server, &page.client, &page.services]) {
            let table = |other: &Cause| match heading {
                "In the server" => !other.page.server.own.is_empty(),
                "In the client" => !other.page.client.own.is_empty(),
                _ => !other.page.services.own.is_empty(),
            };
            let lacks = fixes.as_for.filter(|slug| !super::cause(slug).is_some_and(table));
            wrong.extend(lacks.map(|slug| format!("{file}: {slug} has no table \"{heading}\" of its own")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_page_has_its_cause() {
    let pages = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|it| it == "md"));
    for slug in pages.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()) {
        assert!(causes().any(|cause| cause.slug == slug), "{slug}");
    }
}

/// What computes a confidence for several rules: it comes to likely or possible.
const LIKELY_OR_POSSIBLE: [&str; 7] = [
    ".loses(",
    ".loses_after_many(",
    ".gains(",
    "each_time(",
    "confidence_of_refusal(",
    "resumes_without",
    ".found_unlike(",
];

#[test]
fn a_cause_has_every_level_that_its_rules_name() {
    for cause in causes().filter(|cause| !cause.found_by().is_empty()) {
        let text = production(&folder().join(format!("{}.rs", cause.slug.replace('-', "_"))));
        let says_levels = |line: &&str| ["severities:", "confidences:"].iter().any(|it| line.trim_start().starts_with(it));
        let rules: Vec<&str> = text.lines().filter(|line| !says_levels(line)).collect();
        let rules = rules.join("\n").replace("!= Severity::", "").replace("== Severity::", "");
        let severities = Severity::ALL.into_iter().filter(|it| rules.contains(&format!("Severity::{it:?}")));
        // As sure as it is that answers follow the kind.
        let is_of_answers = rules.contains("first.confidence");
        let judged = cause.judged.is_some()
            || is_of_answers
            || (rules.contains("confidence_of_refusal(") && !rules.contains(".max(Confidence::Likely)"));
        let computed = LIKELY_OR_POSSIBLE.iter().any(|name| rules.contains(name));
        let confidences = Confidence::ALL.into_iter().filter(|it| {
            rules.contains(&format!("Confidence::{it:?}")) || (computed && *it != Confidence::Certain) || judged
        });
        assert_eq!(cause.severities, severities.collect::<Vec<_>>(), "{}", cause.slug);
        assert_eq!(cause.confidences, confidences.collect::<Vec<_>>(), "{}", cause.slug);
    }
}

#[test]
fn what_is_found_has_levels_and_what_is_not_has_none() {
    for cause in causes() {
        assert_eq!(cause.found_by().is_empty(), cause.severities.is_empty(), "{}", cause.slug);
        assert_eq!(cause.found_by().is_empty(), cause.confidences.is_empty(), "{}", cause.slug);
    }
}

#[test]
fn each_rule_has_a_rank_of_its_own() {
    let ranks: [Vec<u8>; 3] = [
        causes().filter_map(|cause| Some(cause.measured?.rank)).collect(),
        causes().filter_map(|cause| Some(cause.examined?.rank)).collect(),
        causes().filter_map(|cause| Some(cause.watched?.rank)).collect(),
    ];
    for ranks in ranks {
        assert_eq!(ranks.iter().collect::<BTreeSet<_>>().len(), ranks.len(), "{ranks:?}");
    }
}

#[test]
fn causes_name_experiments_that_are_made() {
    let known: Vec<&str> = EXPERIMENTS.iter().chain([&CONTROL]).map(|it| it.name).collect();
    for name in causes().flat_map(|cause| cause.separated_by) {
        assert!(known.contains(name), "{name}");
    }
}

/// Names of causes that an experiment has too, with the files that name it.
const ALSO_EXPERIMENTS: [(&str, &str); 6] = [
    ("probe/src/diagnose/experiment.rs", "large-client-hello"),
    ("diagnosis/src/causes/offer_breaks_connection.rs", "large-client-hello"),
    ("diagnosis/src/causes/ech_grease_refused.rs", "large-client-hello"),
    ("probe/src/diagnose/experiment.rs", "hello-retry-request"),
    ("diagnosis/src/causes/offer_breaks_connection.rs", "hello-retry-request"),
    ("diagnosis/src/causes/early_data_hrr.rs", "hello-retry-request"),
];

/// What concludes causes from below, and what holds its conclusions against the truth.
const OF_THE_JUDGE: [&str; 2] = ["judge/src/cause.rs", "xtask/src/judge/families.rs"];

#[test]
fn only_its_own_file_names_a_cause() {
    if guide::is_archive() {
        return;
    }
    let (mut named, root) = (Vec::new(), Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap());
    let files = ["tls", "session", "tool", "workshop"].into_iter().flat_map(|folder| sources(&root.join(folder)));
    for file in files.filter(|file| !OF_THE_JUDGE.iter().any(|end| file.ends_with(end))) {
        let text = production(&file);
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        for cause in causes().filter(|cause| code.contains(&format!("\"{}\"", cause.slug))) {
            let is_own = file == folder().join(format!("{}.rs", cause.slug.replace('-', "_")));
            let may = ALSO_EXPERIMENTS.iter().any(|(end, slug)| file.ends_with(end) && *slug == cause.slug);
            named.extend((!is_own && !may).then(|| format!("{}: {}", file.display(), cause.slug)));
        }
    }
    assert!(named.is_empty(), "use the cause's own constant:\n{}", named.join("\n"));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/causes")
}

/// The Rust files below the `src` folders.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_tests =
        |path: &Path| ["tests", "benches", "examples", "tests.rs", "target"].iter().any(|name| path.ends_with(name));
    let below = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => Vec::from_iter(path.extension().is_some_and(|it| it == "rs").then_some(path)),
    };
    entries.filter(|path| !is_tests(path)).flat_map(below).collect()
}

/// A file's text without its tests.
fn production(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

#[test]
fn a_client_is_told_of_its_own_software() {
    let cause = cause("client-never-offers").unwrap();
    let first = |software| cause.client_remedies(software).into_iter().find_map(|it| it.software).unwrap();
    assert_eq!(first(Some("Go")), "Go");
    assert_eq!(first(Some("OpenSSL")), "OpenSSL API");
    for unknown in [None, Some("unheard-of"), Some("Erlang")] {
        let [general] = &cause.client_remedies(unknown)[..] else { panic!("{unknown:?}") };
        assert_eq!(
            (&general.software, general.text.trim_end_matches('.')),
            (&None, cause.page.advice.trim_end_matches(':')),
            "{unknown:?}"
        );
    }
    let of = |software| cause.client_remedies(software).into_iter().filter_map(|it| it.software).collect::<Vec<_>>();
    assert!(of(Some("Go")).iter().all(|it| it == "Go"));
    assert!(of(Some("Python")).iter().any(|it| it == "requests"), "it may be that");
}

#[test]
fn each_side_is_told_what_it_can_change() {
    let cause = cause("tickets-run-out").unwrap();
    let has = |remedies: Vec<Remedy>, software: &str| remedies.iter().any(|it| it.software.as_deref() == Some(software));
    let (server, client) = (ResponsibleSide::Server, ResponsibleSide::Client);
    assert!(has(cause.every_remedy(server), "nginx") && !has(cause.every_remedy(client), "nginx"));
    assert!(has(cause.every_remedy(client), "rustls") && !has(cause.every_remedy(client), "Apache"));
}

/// Advice that announces fixes does not where the reader's side has none.
#[test]
fn no_colon_is_left_without_what_it_announces() {
    for cause in causes() {
        for remedies in [cause.every_remedy(ResponsibleSide::Server), cause.client_remedies(None)] {
            assert!(remedies.len() != 1 || !remedies[0].text.ends_with(':'), "{}", cause.slug);
        }
    }
}

#[test]
fn each_service_is_told_of_its_own_servers() {
    let first = |starttls| {
        let remedies = cause("not-offered").unwrap().remedies_in(starttls);
        remedies.into_iter().find_map(|it| it.software).unwrap()
    };
    assert_eq!(first(None), "nginx");
    let protocols = ["smtp", "imap", "pop3", "ftp", "ldap", "postgres", "mysql", "xmpp"].map(Some);
    let servers = ["Exim", "Dovecot", "Dovecot", "ProFTPD", "OpenLDAP", "PostgreSQL", "MySQL", "Prosody"];
    assert_eq!(protocols.map(first), servers);
    assert_eq!(first(Some("sieve")), "nginx", "a protocol of which nothing is known");
}

/// Postfix needs something else for session IDs than for tickets.
#[test]
fn own_fixes_of_a_service_replace_those_of_another_page() {
    let of = |slug, starttls| {
        let remedies = cause(slug).unwrap().remedies_in(Some(starttls)).into_iter();
        remedies.filter(|it| it.software.is_some()).map(|it| it.text).collect::<Vec<_>>()
    };
    let (ids, tickets) = (of("id-never-accepted", "smtp"), of("not-offered", "smtp"));
    assert!(ids.len() == 2 && ids[1].starts_with("smtpd_tls_session_cache_database"), "{ids:?}");
    assert!(tickets.len() == 2 && tickets[1].starts_with("smtpd_tls_session_cache_timeout"), "{tickets:?}");
    assert_eq!(of("id-never-accepted", "ftp"), of("not-offered", "ftp"));
}

#[test]
fn known_software_gets_its_own_remedies_alone() {
    let (cause, cause_of_nodes) = (cause("not-offered").unwrap(), cause("hidden-nodes").unwrap());
    let of = |software| cause.remedies(software).into_iter().filter_map(|it| it.software).collect::<Vec<_>>();
    assert!(of(Some("nginx/1.22.1")).iter().all(|it| it == "nginx"));
    assert_eq!(of(Some("Dovecot")), ["Dovecot"]);
    assert_eq!(of(Some("unheard-of/1")), of(None));
    assert!(of(None).len() > 8 && !of(None).contains(&"Dovecot".to_owned()));
    // Python's ssl has no setting for ticket keys.
    let [general] = &cause_of_nodes.remedies(Some("SimpleHTTP/0.6 Python/3.11"))[..] else { panic!() };
    assert!(general.software.is_none() && general.text.ends_with('.'), "{general:?}");
}
