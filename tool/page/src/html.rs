//! Pages as one HTML file each: no script, nothing loaded from elsewhere, charts as inline SVG. Readable on a phone, on paper, in
//! dark mode and with a screen reader. What a server says is text and stays text: every value goes through `maud`, which escapes
//! it, and a policy in the file forbids whatever it could ask for.

mod chart;
mod drawing;
mod ladder;
mod lines;
pub mod picture;
mod rows;
mod scale;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::page::{Block, Fact, Item, Page, grouped};
use crate::table::Tone;

const STYLE: &str = include_str!("html/style.css");

/// Nothing but the style in the file itself. A server's string that got through would still load and run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A page of one command as one HTML file.
pub fn render(page: &Page) -> String {
    let (title, command) = (page.headline.as_ref().unwrap_or(&page.title), format!("reprise {}", page.command));
    let sections = sections(page);
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="reprise";
                title { (title) " – " (command) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    p.kicker { (command) }
                    h1 { (title) }
                    @for (index, section) in sections.iter().enumerate() { (self::section(index, section, page)) }
                }
                @if let Some(source) = source(page) { footer { p { (source) } } }
            }
        }
    };
    visible(&document.into_string())
}

/// A heading and what stands under it.
#[derive(Default)]
struct Section<'p> {
    heading: Option<&'p str>,
    blocks: Vec<&'p Block>,
    is_folded: bool,
}

/// What it comes to stands first, and how it was measured last: who opens a page wants the answer, who doubts it the circumstances.
/// A page without such a part keeps its order.
fn sections(page: &Page) -> Vec<Section<'_>> {
    let mut summary = Section { heading: Some("What it comes to"), ..Section::default() };
    let mut circumstances = Section { heading: Some("How it was measured"), ..Section::default() };
    let mut rest = vec![Section::default()];
    let has_summary = page.blocks.iter().any(|block| matches!(block, Block::Summary(blocks) if !blocks.is_empty()));
    let end = page.blocks.len().saturating_sub(usize::from(source(page).is_some()));
    for (index, block) in page.blocks.iter().take(end).enumerate() {
        match block {
            Block::Heading(text) => rest.push(Section { heading: Some(text), ..Section::default() }),
            Block::Secondary(blocks) => {
                let heading =
                    blocks.iter().find_map(|it| if let Block::Heading(text) = it { Some(text.as_str()) } else { None });
                rest.push(Section { heading, blocks: blocks.iter().collect(), is_folded: true });
                rest.push(Section::default());
            }
            Block::Summary(blocks) => summary.blocks.extend(blocks),
            Block::Facts(_) if index == 0 && has_summary => circumstances.blocks.push(block),
            block => rest.last_mut().into_iter().for_each(|last| last.blocks.push(block)),
        }
    }
    let all = std::iter::once(summary).chain(rest).chain([circumstances]);
    all.filter(|section| !section.blocks.is_empty()).collect()
}

/// Where the result comes from: the last words of a page.
fn source(page: &Page) -> Option<&str> {
    match page.blocks.last() {
        Some(Block::Aside(text)) => Some(text),
        _ => None,
    }
}

fn section(index: usize, section: &Section<'_>, page: &Page) -> Markup {
    // Findings stand one level below what they belong to.
    let has_heading = section.heading.is_some();
    let name = section.heading.unwrap_or(page.headline.as_ref().unwrap_or(&page.title));
    let blocks = html! {
        @for (place, block) in section.blocks.iter().enumerate() {
            (self::block(block, name, &format!("p{index}-{place}"), has_heading))
        }
    };
    match section.heading {
        Some(heading) if section.is_folded => {
            html! { details.more open[page.in_full] { summary { h2 { (heading) } } (blocks) } }
        }
        Some(heading) => {
            let id = format!("s{index}");
            html! { section aria-labelledby=(id) { h2 id=(id) { (heading) } (blocks) } }
        }
        None => blocks,
    }
}

fn block(block: &Block, name: &str, id: &str, is_below_heading: bool) -> Markup {
    match block {
        // These were taken apart before.
        Block::Heading(_) | Block::Summary(_) | Block::Secondary(_) => Markup::default(),
        Block::Facts(facts) => self::facts(facts),
        Block::Table(table) => table::render(table, name),
        Block::Chart(chart) => chart::chart(chart, id),
        Block::Ladder(ladder) => ladder::render(ladder, id),
        Block::Paragraph(text) => html! { p { (marked_up(text)) } },
        Block::Code(commands) => html! { pre tabindex="0" { code { (commands) } } },
        Block::Aside(text) => html! { p.aside { (text) } },
        Block::Item(item) => self::item(item, is_below_heading),
    }
}

/// A name stands once, with all its values, as HTML asks.
fn facts(facts: &[Fact]) -> Markup {
    html! {
        dl {
            @for (name, facts) in grouped(facts, |fact| &fact.name) {
                div {
                    dt { (name) }
                    @for fact in facts { dd { (marked_up(&fact.value)) } }
                }
            }
        }
    }
}

/// Severity stands in words; colour only repeats it.
fn item(item: &Item, is_below_heading: bool) -> Markup {
    let heading = html! { span.label { (item.label) } " " (item.text) };
    html! {
        section.item.(tone(item.tone)) {
            @if is_below_heading { h3 { (heading) } } @else { h2 { (heading) } }
            @if item.slug.is_some() || item.confidence.is_some() {
                p.aside {
                    @if let Some(slug) = &item.slug { code { (slug) } }
                    @if let Some(confidence) = item.confidence { ", " (confidence) }
                }
            }
            @if !item.evidence.is_empty() {
                ul { @for evidence in &item.evidence { li { (marked_up(evidence)) } } }
            }
            @if !item.remedy.is_empty() {
                p.fix { "What to do" }
                ul.fix { @for step in &item.remedy { li { (marked_up(step)) } } }
            }
        }
    }
}

/// Text in which names and commands stand between backquotes.
fn marked_up(text: &str) -> Markup {
    // An odd number of quotes means none of them.
    if text.matches('`').count() % 2 == 1 {
        return html! { (text) };
    }
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Gain => "gain",
        Tone::Quiet => "quiet",
        Tone::Warning => "warning",
        Tone::Fault => "fault",
    }
}

/// The page without characters that HTML forbids, or that turn the direction of what follows: a server's name must not read as
/// another's.
fn visible(page: &str) -> String {
    let is_hidden = |letter: char| {
        (letter.is_control() && letter != '\n')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}')
            || u32::from(letter) & 0xfffe == 0xfffe
    };
    page.chars().map(|letter| if is_hidden(letter) { '\u{fffd}' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(name: &str, value: &str) -> Fact {
        Fact { name: name.to_owned(), value: value.to_owned(), is_secondary: false }
    }

    fn of(blocks: Vec<Block>) -> String {
        render(&Page { command: "measure", title: "a page".to_owned(), headline: None, blocks, in_full: false })
    }

    #[test]
    fn what_it_comes_to_stands_first_and_circumstances_last() {
        let page = of(vec![
            Block::Facts(vec![fact("samples", "100")]),
            Block::Heading("Latency".to_owned()),
            Block::Paragraph("Slow.".to_owned()),
            Block::Summary(vec![Block::Paragraph("The server was the bottleneck.".to_owned())]),
            Block::Aside("reprise 1".to_owned()),
        ]);
        let places = ["<h1>a page", "bottleneck", "Latency</h2>", "Slow.", "<dt>samples", "<footer>"];
        let places: Vec<usize> = places.iter().map(|text| page.find(text).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}: {page}");
    }

    #[test]
    fn a_name_with_several_values_stands_once() {
        let list = facts(&[fact("nginx", "one"), fact("Apache", "two"), fact("nginx", "three")]).into_string();
        assert!(list.contains("<dt>nginx</dt><dd>one</dd><dd>three</dd></div><div><dt>Apache"), "{list}");
    }

    #[test]
    fn names_between_backquotes_are_code() {
        assert_eq!(marked_up("set `a` or `b`").into_string(), "set <code>a</code> or <code>b</code>");
        assert_eq!(marked_up("a ` alone").into_string(), "a ` alone");
    }

    #[test]
    fn what_turns_the_direction_of_text_is_replaced() {
        let page = of(vec![Block::Paragraph("evil\u{202e}moc.elpmaxe \u{1b}[2J\0\u{ffff}".to_owned())]);
        assert!(page.contains("evil\u{fffd}moc.elpmaxe \u{fffd}[2J\u{fffd}\u{fffd}"), "{page}");
    }
}
