//! The page of a cause: `SLUG.md`, beside its rules. Texts and fixes are read from it, and it is a page of Markdown like any other.
//!
//! Its headings are those of [`CausePage::TEXTS`] and [`CausePage::TABLES`]. A row of a table is a fix: software, directive or code, what else
//! is to be known. Where a table is another cause's, a line stands in its place:
//!
//! ```text
//! As for [`not-offered`](not-offered.md).
//! ```
//!
//! With ", but:" instead of the full stop, a table follows: what it says of a protocol replaces what the other says.

use std::borrow::Cow;

/// Texts and fixes of a cause. Texts are Markdown of paragraphs, lists and fenced commands.
#[derive(Debug, Default)]
pub struct CausePage {
    /// The name in its heading.
    pub(super) slug: &'static str,
    /// Shorter names under which it is looked up.
    pub other_names: Vec<&'static str>,
    /// One line.
    pub title: &'static str,
    /// What happens, and where it comes from.
    pub happens: &'static str,
    /// How it shows on the wire, and how Reprise tells it from what looks like it; or why it cannot.
    pub seen: &'static str,
    /// How to confirm it by hand.
    pub confirm: &'static str,
    /// What it costs.
    pub costs: &'static str,
    /// What to do, whatever the software is; empty where the fixes say it all.
    pub advice: &'static str,
    /// What to do in servers, the most common first.
    pub server: Fixes,
    /// What to do in clients, the most common first.
    pub client: Fixes,
    /// What to do in services that begin with STARTTLS, or in those of a port.
    pub services: Fixes,
}

/// A table of a page.
#[derive(Debug, Default)]
pub struct Fixes {
    /// Its rows.
    pub own: Vec<Fix>,
    /// The cause whose fixes these are too.
    pub as_for: Option<&'static str>,
}

/// What fixes a cause in one software.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The protocols whose servers are meant, by their names in documents: "imap, pop3"; empty but in other services.
    pub protocols: &'static str,
    /// `nginx`, `OpenSSL API`.
    pub software: &'static str,
    /// The directive, flag or code, as it is written into a file; empty where there is none.
    pub set: Cow<'static, str>,
    /// Where it belongs, from which version it exists, what else is to be known; may be empty.
    pub note: Cow<'static, str>,
}

/// What is wrong with a page, and in which of its lines.
pub(super) type Fault = (usize, String);

/// What stands between two headings.
struct Section {
    /// Of its heading, and of its first text.
    line: usize,
    first: usize,
    heading: &'static str,
    text: &'static str,
}

impl CausePage {
    /// Headings of texts, in their order. Each page has all of them.
    pub const TEXTS: [&str; 5] = ["What happens", "How it shows", "By hand", "What it costs", "What fixes it"];

    /// Headings of tables of fixes, behind them.
    pub const TABLES: [&str; 3] = ["In the server", "In the client", "In other services"];

    /// The head of a table.
    pub const COLUMNS: [&str; 3] = ["software", "directive or code", "where, from which version, what else"];
    /// What stands before them in that of other services.
    pub const PROTOCOL: &str = "protocol";

    /// What this page says; of what is wrong with it, which a test finds, nothing.
    pub fn of(markdown: &'static str) -> Self {
        Self::read(markdown).0
    }

    pub(super) fn read(markdown: &'static str) -> (Self, Vec<Fault>) {
        let (head, sections) = sections(markdown);
        let mut faults = faults_of_order(&sections);
        let mut page = Self::default();
        page.read_head(head, &mut faults);
        let text = |heading| sections.iter().find(|it| it.heading == heading).map(|it| it.text).unwrap_or_default();
        [page.happens, page.seen, page.confirm, page.costs, page.advice] = Self::TEXTS.map(text);
        let tables = [&mut page.server, &mut page.client, &mut page.services];
        for (heading, table) in Self::TABLES.into_iter().zip(tables) {
            for section in sections.iter().filter(|it| it.heading == heading) {
                *table = Fixes::read(section, &mut faults);
            }
        }
        (page, faults)
    }

    /// The texts under their headings, in reading order.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        Self::TEXTS.into_iter().zip([self.happens, self.seen, self.confirm, self.costs, self.advice])
    }

    /// "# `nagle`: Title", and perhaps "Other names: `a`, `b`".
    fn read_head(&mut self, head: &'static str, faults: &mut Vec<Fault>) {
        let (first, rest) = head.split_once('\n').unwrap_or((head, ""));
        match first.strip_prefix("# `").and_then(|it| it.split_once("`: ")) {
            Some((slug, title)) => (self.slug, self.title) = (slug, title),
            None => faults.push((1, "no heading \"# `slug`: title\"".to_owned())),
        }
        match (rest.trim(), rest.trim().strip_prefix("Other names: ")) {
            ("", _) => {}
            (_, Some(names)) => self.other_names = names.split(", ").map(|name| name.trim_matches('`')).collect(),
            (other, None) => faults.push((3, format!("before the first section: {other}"))),
        }
    }
}

/// What stands above the first heading of a section, and the sections. A heading within commands is none.
fn sections(markdown: &'static str) -> (&'static str, Vec<Section>) {
    let (mut headings, mut is_fenced, mut offset) = (Vec::new(), false, 0);
    for (index, line) in markdown.split_inclusive('\n').enumerate() {
        is_fenced ^= line.starts_with("```");
        let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")).filter(|_| !is_fenced);
        headings.extend(heading.map(|heading| (index + 1, heading.trim_end(), offset, offset + line.len())));
        offset += line.len();
    }
    let ends = headings.iter().skip(1).map(|(_, _, start, _)| *start).chain([markdown.len()]);
    let between = |from, to| markdown.get(from..to).unwrap_or_default();
    let section = |((line, heading, _, from), to)| {
        let text: &str = between(from, to);
        let empty = text.lines().take_while(|line| line.trim().is_empty()).count();
        Section { line, first: line + 1 + empty, heading, text: text.trim() }
    };
    let head = between(0, headings.first().map_or(markdown.len(), |(_, _, start, _)| *start)).trim();
    (head, headings.iter().copied().zip(ends).map(section).collect())
}

/// All texts, then tables, each once and in their order.
fn faults_of_order(sections: &[Section]) -> Vec<Fault> {
    let has = |heading: &&str| sections.iter().any(|it| it.heading == *heading);
    let expected: Vec<&str> = CausePage::TEXTS.into_iter().chain(CausePage::TABLES.into_iter().filter(has)).collect();
    let mut faults = Vec::new();
    for (index, Section { line, heading, text, .. }) in sections.iter().enumerate() {
        match expected.get(index) {
            Some(expected) if expected == heading => {}
            Some(expected) => return vec![(*line, format!("\"{heading}\" stands where \"{expected}\" belongs"))],
            None => faults.push((*line, format!("\"{heading}\" is no section, or a second one"))),
        }
        if text.matches("```").count() % 2 == 1 {
            faults.push((*line, format!("\"{heading}\" opens commands and does not end them")));
        }
        if text.is_empty() && *heading != "What fixes it" {
            faults.push((*line, format!("nothing stands under \"{heading}\"")));
        }
    }
    faults.extend(expected.iter().skip(sections.len()).map(|missing| (1, format!("no \"{missing}\""))));
    faults
}

impl Fixes {
    fn read(section: &Section, faults: &mut Vec<Fault>) -> Self {
        let mut fixes = Self::default();
        let of_services = section.heading == CausePage::TABLES[2];
        let head: Vec<&str> = of_services.then_some(CausePage::PROTOCOL).into_iter().chain(CausePage::COLUMNS).collect();
        let rule = vec![":---"; head.len()];
        let mut before = [head, rule].into_iter();
        for (line, text) in (section.first..).zip(section.text.lines()).filter(|(_, text)| !text.is_empty()) {
            let Some(cells) = cells(text) else {
                let other = text.strip_prefix("As for [`").and_then(|it| it.split_once("`](")).map(|(slug, _)| slug);
                let written = other.map(|slug| format!("As for [`{slug}`]({slug}.md)"));
                let is_so = written.is_some_and(|it| [format!("{it}."), format!("{it}, but:")].contains(&text.to_owned()));
                fixes.as_for = other;
                faults.extend((!is_so).then(|| (line, format!("neither a row nor a cause's table: {text}"))));
                continue;
            };
            match before.next() {
                Some(expected) if cells == expected => {}
                Some(expected) => faults.push((line, format!("expected the cells {expected:?}"))),
                None => match Fix::read(&cells, of_services) {
                    Ok(fix) => fixes.own.push(fix),
                    Err(what) => faults.push((line, what)),
                },
            }
        }
        fixes
    }
}

impl Fix {
    pub(super) fn protocols(&self) -> impl Iterator<Item = &'static str> {
        self.protocols.split(", ").filter(|it| !it.is_empty())
    }

    pub(super) fn serves(&self, protocol: &str) -> bool {
        self.protocols().any(|it| it == protocol)
    }

    fn read(cells: &[&'static str], has_protocol: bool) -> Result<Self, String> {
        let (protocols, cells) = match (cells, has_protocol) {
            ([protocols, cells @ ..], true) if !protocols.is_empty() => (*protocols, cells),
            (cells, false) => ("", cells),
            _ => return Err("no protocol".to_owned()),
        };
        let [software, set, note] = cells else { return Err(format!("{} cells", cells.len())) };
        let code = code(set).ok_or_else(|| format!("not in backticks: {set}"))?;
        let fix = Self { protocols, software, set: code, note: unescaped(note) };
        match (software.is_empty(), set.is_empty() && note.is_empty()) {
            (false, false) => Ok(fix),
            _ => Err("no software, or nothing that fixes it there".to_owned()),
        }
    }
}

/// The cells of a row; `None` of what is no row.
fn cells(line: &'static str) -> Option<Vec<&'static str>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    let ends = row.match_indices('|').map(|(at, _)| at).filter(|at| !row.get(..*at).is_some_and(|it| it.ends_with('\\')));
    let mut from = 0;
    let cells = ends.chain([row.len()]).map(|end| row.get(std::mem::replace(&mut from, end + 1)..end).unwrap_or_default());
    Some(cells.map(str::trim).collect())
}

/// What stands between backticks: one on either side, or more where the code has some. A bar within a table has a backslash before it.
fn code(cell: &'static str) -> Option<Cow<'static, str>> {
    if cell.is_empty() {
        return Some(Cow::Borrowed(""));
    }
    let fence = cell.get(..cell.find(|letter| letter != '`')?).filter(|it| !it.is_empty())?;
    let inner = cell.strip_prefix(fence)?.strip_suffix(fence)?;
    let inner = inner.strip_prefix(' ').and_then(|it| it.strip_suffix(' ')).unwrap_or(inner);
    let is_one_span = inner.split(|letter| letter != '`').all(|run| run != fence);
    is_one_span.then(|| if inner.contains("\\|") { inner.replace("\\|", "|").into() } else { inner.into() })
}

/// Text as GitHub shows it: without the backslashes that let punctuation mean itself, and without entities.
fn unescaped(text: &'static str) -> Cow<'static, str> {
    if !text.contains(['\\', '&']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let meant = letters.next_if(|next| letter == '\\' && next.is_ascii_punctuation());
        out.push(meant.unwrap_or(letter));
    }
    // The ampersand comes last: "&amp;lt;" is "&lt;".
    Cow::Owned(out.replace("&lt;", "<").replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# `slow`: It is slow

Other names: `lame`, `late`

## What happens

One
two.

## How it shows

```sh
# not a heading
## nor this
```

## By hand

Look.

## What it costs

Time.

## What fixes it

Do this:

### In the server

| software | directive or code | where, from which version, what else |
| :--- | :--- | :--- |
| nginx | `a \\| b` | 1 \\| 2 \\*, &lt;x> |
| OpenSSL API | `` a ` b `` | |
| Go | | by itself |

### In other services

As for [`not-offered`](not-offered.md), but:

| protocol | software | directive or code | where, from which version, what else |
| :--- | :--- | :--- | :--- |
| imap, pop3 | Dovecot | `x = 1` | |
";

    #[test]
    fn a_page_says_what_stands_in_it() {
        let (page, faults) = CausePage::read(PAGE);
        assert_eq!(faults, []);
        assert_eq!((page.slug, page.title, &page.other_names[..]), ("slow", "It is slow", &["lame", "late"][..]));
        let texts = ["One\ntwo.", "```sh\n# not a heading\n## nor this\n```", "Look.", "Time.", "Do this:"];
        assert!(page.texts().map(|(_, text)| text).eq(texts));
        let rows: Vec<(&str, &str, &str)> = page.server.own.iter().map(|it| (it.software, &*it.set, &*it.note)).collect();
        assert_eq!(rows, [("nginx", "a | b", "1 | 2 *, <x>"), ("OpenSSL API", "a ` b", ""), ("Go", "", "by itself")]);
        let [dovecot] = &page.services.own[..] else { panic!("{:?}", page.services) };
        assert!(dovecot.serves("imap") && dovecot.serves("pop3") && !dovecot.serves("pop") && !dovecot.serves(""));
        assert_eq!((page.services.as_for, page.client.as_for), (Some("not-offered"), None));
    }

    /// Whatever is wrong, its line is told, and the page is read without it.
    #[test]
    fn a_fault_has_its_line() {
        let wrong = [
            ("# `slow`: It", "# slow: It", 1, "no heading"),
            ("Other names", "Names", 3, "before the first section"),
            ("## By hand", "## By Hand", 17, "\"By Hand\" stands where \"By hand\" belongs"),
            ("Look.", "", 17, "nothing stands under"),
            ("## nor this\n```\n", "", 1, "no \"What fixes it\""),
            ("### In the server", "### In the clients", 29, "\"In the clients\" stands where"),
            ("| software | d", "| software | a d", 31, "expected the cells"),
            ("`a \\| b`", "a", 33, "not in backticks: a"),
            ("`a \\| b`", "`a | b`", 33, "4 cells"),
            ("`` a ` b ``", "` a ` b `", 34, "not in backticks"),
            ("| Go | | by itself |", "| Go | | |", 35, "nothing that fixes it"),
            ("| Go | | by itself |", "| Go | | by itself", 35, "neither a row"),
            ("(not-offered.md), but", "(not-offered.md) but", 39, "neither a row"),
            ("| imap, pop3 |", "| |", 43, "no protocol"),
        ];
        for (right, other, line, what) in wrong {
            assert!(PAGE.contains(right), "{right}");
            let (_, faults) = CausePage::read(PAGE.replacen(right, other, 1).leak());
            assert!(faults.iter().any(|fault| fault.0 == line && fault.1.contains(what)), "{other}: {faults:?}");
        }
    }

    #[test]
    fn no_page_stops_the_program() {
        for end in 0..PAGE.len() {
            CausePage::of(PAGE.get(end..).unwrap_or_default());
            CausePage::of(PAGE.get(..end).unwrap_or_default());
        }
        for odd in ["", "|", "```", "## ", "#", "|\\|", "### In the server\n|", "### In the server\n| `` |"] {
            CausePage::of(odd);
        }
    }
}
