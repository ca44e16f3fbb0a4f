//! What is known of a cause. Its texts are Markdown: in a page they become paragraphs and commands.

pub mod markdown;

use reprise_diagnosis::{Cause, CausePage, Fix, ResponsibleSide};
use reprise_model::document::Remedy;
use reprise_page::{Block, Fact, Page};

/// All that is known of one.
pub fn page(cause: &Cause) -> Page {
    let mut blocks = Vec::new();
    for (heading, text) in cause.page.texts() {
        blocks.push(Block::Heading(heading.to_owned()));
        blocks.extend(parts(text));
    }
    for (heading, fixes) in fixes(cause) {
        blocks.extend(heading.map(|heading| Block::Heading(heading.to_owned())));
        blocks.push(Block::Facts(fixes.into_iter().map(|fix| fact(Remedy::from(fix))).collect()));
    }
    blocks.push(Block::Heading("Found by".to_owned()));
    blocks.push(Block::Paragraph(found_by(cause)));
    Page::new("explain", format!("{}: {}", cause.slug, cause.page.title), blocks)
}

/// The names of all, with their titles.
pub fn list(causes: impl Iterator<Item = &'static Cause>) -> Page {
    let facts = causes.map(|cause| Fact::new(cause.slug, cause.page.title)).collect();
    let more = Block::Aside("reprise explain ID: what happens, how it shows, how to fix it".to_owned());
    let title = "Why a connection does not resume, or gains nothing from resuming";
    Page::new("explain", title, vec![Block::Facts(facts), more])
}

/// The fixes of each side that has any, under its heading if both have.
fn fixes(cause: &Cause) -> Vec<(Option<&'static str>, Vec<&'static Fix>)> {
    let [server, client, _] = tables(cause);
    let has_both = !server.1.is_empty() && !client.1.is_empty();
    let filled = [server, client].into_iter().filter(|(_, fixes)| !fixes.is_empty());
    filled.map(|(heading, fixes)| (has_both.then_some(heading), fixes)).collect()
}

/// All fixes under their headings; none where there are none.
fn tables(cause: &Cause) -> [(&'static str, Vec<&'static Fix>); 3] {
    let [server, client, services] = CausePage::TABLES;
    [
        (server, cause.fixes_of(ResponsibleSide::Server).collect()),
        (client, cause.fixes_of(ResponsibleSide::Client).collect()),
        (services, cause.fixes_in_services().collect()),
    ]
}

/// The commands that find it, or that none does.
pub(crate) fn found_by(cause: &Cause) -> String {
    match cause.found_by().as_slice() {
        [] => "Nothing: one run cannot detect it from outside.".to_owned(),
        commands => commands.iter().map(|it| format!("`{}`", it.command())).collect::<Vec<_>>().join(", "),
    }
}

fn fact(remedy: Remedy) -> Fact {
    Fact::new(remedy.software.unwrap_or_default(), remedy.text)
}

/// A paragraph for each, and commands as they are.
fn parts(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    // Every second piece stands within a fence.
    for (index, piece) in text.split("```").enumerate() {
        if index % 2 == 1 {
            let commands = piece.split_once('\n').map_or(piece, |(_language, commands)| commands);
            blocks.push(Block::Code(commands.trim_end().to_owned()));
        } else {
            // Each item of a list stands by itself.
            let listed = piece.replace("\n- ", "\n\n- ");
            let paragraphs = listed.split("\n\n").map(|text| text.trim().replace('\n', " "));
            blocks.extend(paragraphs.filter(|text| !text.is_empty()).map(Block::Paragraph));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_paragraphs_and_commands() {
        let blocks = parts("One\nline.\n\nTwo:\n\n```sh\nls -l\npwd\n```\n\nThree:\n- a\nb\n- c");
        let texts: Vec<String> = blocks
            .into_iter()
            .map(|block| match block {
                Block::Paragraph(text) => text,
                Block::Code(commands) => format!("$ {commands}"),
                _ => String::new(),
            })
            .collect();
        assert_eq!(texts, ["One line.", "Two:", "$ ls -l\npwd", "Three:", "- a b", "- c"]);
    }

    #[test]
    fn fixes_stand_under_their_side_where_there_are_two() {
        let headings = |slug| {
            let fixes = fixes(reprise_diagnosis::cause(slug).unwrap());
            fixes.into_iter().map(|(heading, _)| heading).collect::<Vec<_>>()
        };
        assert_eq!(headings("tickets-run-out"), [Some("In the server"), Some("In the client")]);
        assert_eq!(headings("client-never-offers"), [None]);
        assert_eq!(headings("clock-skew"), []);
    }
}
