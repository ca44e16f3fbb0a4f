//! Pages as text for a terminal, or for a file that is read like one.

mod ladder;
mod table;

use std::fmt::Write;

use anstyle::{AnsiColor, Effects};

use crate::page::{Block, Fact, Item, Page};
use crate::table::Tone;

/// How to write for the reader's terminal. The caller knows whether there is one, how wide, and about `NO_COLOR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour.
    pub color: bool,
    /// Columns of text; `None` where there is no terminal: 100 then, and with -v as many as tables have.
    pub width: Option<usize>,
}

/// Prose is not set wider than this, however wide the terminal.
const PROSE: usize = 100;

/// Less is narrow.
const NARROW: usize = 60;

/// Where the text of an item begins: behind the longest label, `warning`.
const LABEL: usize = 9;

const TITLE: anstyle::Style = anstyle::Style::new().bold();
const QUIET: anstyle::Style = anstyle::Style::new().effects(Effects::DIMMED);

/// The page as text.
pub fn render(page: &Page, style: Style) -> String {
    let mut out = String::new();
    wrapped(&page.title, "", "", style).iter().for_each(|text| line(&mut out, &style.paint(TITLE, text)));
    let mut previous: Option<&Block> = None;
    let is_terminal = style.width.is_some();
    let style = Style { width: style.width.or((!page.in_full).then_some(PROSE)), ..style };
    let blocks: Vec<&Block> = page.written(page.in_full).collect();
    // Above the last line, which says where the result comes from.
    let left_out = page.left_out(|table| !is_terminal && table::is_cut(table, style)).map(Block::Aside);
    let (last, above) = blocks.split_last().map_or((None, &[][..]), |(last, above)| (Some(*last), above));
    for block in above.iter().copied().chain(&left_out).chain(last) {
        if !belongs_to(previous, block) {
            out.push('\n');
        }
        match block {
            Block::Heading(text) => {
                wrapped(text, "", "  ", style).iter().for_each(|text| line(&mut out, &style.paint(TITLE, text)));
            }
            Block::Facts(facts) => {
                let shown = facts.iter().filter(|fact| page.in_full || !fact.is_secondary);
                shown.for_each(|fact| self::fact(&mut out, fact, facts, style));
            }
            Block::Table(table) => {
                let table = if page.in_full { table.clone() } else { table.clone().without_secondary() };
                out.push_str(&table::render(table, style, is_terminal));
            }
            Block::Ladder(ladder) => out.push_str(&ladder::render(ladder, style)),
            Block::Paragraph(text) => wrapped(text, "", "", style).iter().for_each(|text| line(&mut out, text)),
            Block::Code(commands) => commands.lines().for_each(|text| line(&mut out, &format!("    {}", visible(text)))),
            Block::Aside(text) => {
                wrapped(text, "", "", style).iter().for_each(|text| line(&mut out, &style.paint(QUIET, text)));
            }
            Block::Item(item) => self::item(&mut out, item, style),
            // Not among what is written.
            Block::Chart(_) | Block::Summary(_) | Block::Secondary(_) => {}
        }
        previous = Some(block);
    }
    out
}

/// Whether a block stands directly below the one before it: facts below the title, a table below its heading, a sentence
/// below a sentence, an aside below another.
fn belongs_to(previous: Option<&Block>, block: &Block) -> bool {
    // Warnings of a line or two are a list.
    let is_short = |item: &Item| item.evidence.is_empty() && item.remedy.is_empty();
    if let (Some(Block::Item(above)), Block::Item(item)) = (previous, block) {
        return is_short(above) && is_short(item);
    }
    matches!(
        (previous, block),
        (None, Block::Facts(_))
            | (Some(Block::Heading(_)), Block::Table(_) | Block::Facts(_))
            | (Some(Block::Paragraph(_)), Block::Paragraph(_))
            | (Some(Block::Aside(_) | Block::Table(_)), Block::Aside(_))
    )
}

fn fact(out: &mut String, fact: &Fact, facts: &[Fact], style: Style) {
    let width = facts.iter().map(|fact| fact.name.chars().count()).max().unwrap_or_default() + 2;
    let name = format!("{:<width$}", fact.name);
    let indent = " ".repeat(width);
    // A suite's name is longer than a narrow line, and nothing that anybody copies.
    let value = options(style.width.unwrap_or(PROSE).min(PROSE), &indent, &indent).break_words(true);
    for (index, text) in filled(&fact.value, value).iter().enumerate() {
        match (index, text.strip_prefix(&indent)) {
            (0, Some(value)) => line(out, &format!("{}{value}", style.paint(QUIET, &name))),
            _ => line(out, text),
        }
    }
}

fn item(out: &mut String, item: &Item, style: Style) {
    let indent = " ".repeat(LABEL);
    // A name and how sure it is stand together where a line has room for both.
    let gap = if style.width.is_some_and(|width| width < NARROW) { ' ' } else { '\u{a0}' };
    let text = match (&item.slug, item.confidence) {
        (Some(slug), Some(confidence)) => format!("{} [{slug},{gap}{confidence}]", item.text),
        (Some(slug), None) => format!("{} [{slug}]", item.text),
        (None, _) => item.text.clone(),
    };
    for (index, text) in wrapped(&text, &indent, &indent, style).iter().enumerate() {
        match (index, text.strip_prefix(&indent)) {
            (0, Some(text)) => {
                let label = style.paint(tone(item.tone), item.label);
                let gap = " ".repeat(LABEL.saturating_sub(item.label.len()));
                line(out, &format!("{label}{gap}{}", style.paint(TITLE, text)));
            }
            _ => line(out, &style.paint(TITLE, text)),
        }
    }
    for evidence in &item.evidence {
        wrapped(evidence, &indent, &indent, style).iter().for_each(|text| line(out, text));
    }
    for (index, step) in item.remedy.iter().enumerate() {
        let arrow = if index == 0 { "→ " } else { "  " };
        let first = format!("{indent}{arrow}");
        let rest = format!("{indent}    ");
        wrapped(step, &first, &rest, style).iter().for_each(|text| line(out, text));
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}", text.trim_end());
}

/// Prose in lines.
fn wrapped(text: &str, first: &str, rest: &str, style: Style) -> Vec<String> {
    in_lines(text, first, rest, style.width.unwrap_or(PROSE).min(PROSE))
}

/// Text in lines of so many columns. A figure is never parted from its unit.
pub fn in_lines(text: &str, first: &str, rest: &str, width: usize) -> Vec<String> {
    filled(text, options(width, first, rest))
}

fn options<'i>(width: usize, first: &'i str, rest: &'i str) -> textwrap::Options<'i> {
    textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

fn filled(text: &str, options: textwrap::Options<'_>) -> Vec<String> {
    const TOGETHER: [(&str, &str); 6] = [
        (" ms", "\u{a0}ms"),
        (" µs", "\u{a0}µs"),
        (" %", "\u{a0}%"),
        (" ·", "\u{a0}·"),
        ("± ", "±\u{a0}"),
        ("TLS 1.", "TLS\u{a0}1."),
    ];
    let bound = TOGETHER.iter().fold(visible(text), |text, (parted, bound)| text.replace(parted, bound));
    textwrap::wrap(&bound, options).into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// Text from a server, a file or a flag, without what a terminal would obey.
pub fn visible(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

fn tone(tone: Tone) -> anstyle::Style {
    match tone {
        Tone::Plain => anstyle::Style::new(),
        Tone::Gain => AnsiColor::Green.on_default(),
        Tone::Quiet => QUIET,
        Tone::Warning => AnsiColor::Yellow.on_default(),
        Tone::Fault => AnsiColor::Red.on_default(),
    }
}

impl Style {
    fn paint(self, style: anstyle::Style, text: &str) -> String {
        if self.color && !text.is_empty() && style != anstyle::Style::new() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Style = Style { color: false, width: Some(24) };

    #[test]
    fn a_figure_is_not_parted_from_its_unit() {
        assert_eq!(wrapped("the handshake takes 3.42 ms in all", "", "", NARROW), ["the handshake takes", "3.42 ms in all"]);
    }

    #[test]
    fn a_line_that_cannot_be_broken_runs_over() {
        let directive = "ssl_session_cache=shared:SSL:10m;";
        assert_eq!(wrapped(directive, "→ ", "  ", NARROW), [format!("→ {directive}")]);
    }

    #[test]
    fn the_value_of_a_fact_never_runs_over() {
        let mut out = String::new();
        let value = "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 · x25519".to_owned();
        let facts = [Fact { name: "TLS 1.2".to_owned(), value, is_secondary: false }];
        fact(&mut out, &facts[0], &facts, NARROW);
        assert!(out.lines().all(|line| line.chars().count() <= 24), "{out}");
        assert_eq!(out.split_whitespace().collect::<String>(), "TLS1.2TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256·x25519");
    }

    #[test]
    fn what_a_server_says_cannot_drive_the_terminal() {
        assert_eq!(visible("h2\u{1b}[2J\r\n"), "h2\u{fffd}[2J\u{fffd}\u{fffd}");
    }

    #[test]
    fn nothing_is_painted_without_colour() {
        assert_eq!(Style::default().paint(TITLE, "a"), "a");
        let coloured = Style { color: true, width: None };
        assert_eq!(coloured.paint(TITLE, "a"), "\u{1b}[1ma\u{1b}[0m");
        assert_eq!(coloured.paint(tone(Tone::Plain), "a"), "a");
    }
}
