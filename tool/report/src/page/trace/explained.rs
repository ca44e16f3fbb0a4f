//! Each message of a trace: what it is for, why a resumed handshake does without it, what it says.

use reprise_model::document::Trace;
use reprise_model::{Event, Extension, Field, Version};
use reprise_page::{Block, Fact};

use super::sentences;
use super::steps::{Step, paired};

/// A heading for each message, in the order of the ladder. What a message is for is told once.
pub(super) fn messages(trace: &Trace) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut told = Vec::new();
    for (first, second) in paired(trace).concat() {
        let Some(step) = first.or(second) else { continue };
        let key = (step.event.direction, step.name().to_owned());
        let is_new = !told.contains(&key);
        let facts = facts(trace, first, second);
        if !is_new && facts.is_empty() {
            continue;
        }
        let only = match (first, second) {
            (None, Some(_)) if trace.full.is_some() => format!(", {} only", sentences::name_of_second(trace)),
            (Some(_), None) if trace.resumed.is_some() && !step.is_skipped => ", full only".to_owned(),
            _ => String::new(),
        };
        blocks.push(Block::Heading(format!("{} {}{only}", step.arrow(), step.name())));
        if is_new {
            let sentences = [
                sentences::purpose(&step, trace.asked.tls).map(str::to_owned),
                second.and_then(|_| sentences::on_resumption(&step, trace)).map(str::to_owned),
                step.is_skipped.then(|| sentences::of_skipping(&step, trace).to_owned()),
            ];
            let sentences: Vec<String> = sentences.into_iter().flatten().collect();
            blocks.extend((!sentences.is_empty()).then(|| Block::Paragraph(sentences.join(" "))));
            told.push(key);
        }
        blocks.extend((!facts.is_empty()).then_some(Block::Facts(facts)));
    }
    blocks
}

/// The fields and then the extensions of both sides, by their names.
fn facts(trace: &Trace, first: Option<Step<'_>>, second: Option<Step<'_>>) -> Vec<Fact> {
    let of = |step: Option<Step<'_>>| step.map(|step| values(step.event, trace.asked.tls)).unwrap_or_default();
    let (full, resumed) = (of(first), of(second));
    let value = |values: &[(String, String)], name: &str| {
        values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<String> = full.iter().map(|(name, _)| name.clone()).collect();
    names.extend(resumed.iter().map(|(name, _)| name.clone()).filter(|name| value(&full, name).is_none()));
    let fact = |name: String| {
        let title = || sentences::name_of_second(trace);
        let both = match (value(&full, &name), value(&resumed, &name)) {
            (Some(one), Some(other)) if one != other => format!("full: {one}; {}: {other}", title()),
            (Some(one), None) if second.is_some() => format!("full only: {one}"),
            (None, Some(other)) if first.is_some() => format!("{} only: {other}", title()),
            (one, other) => one.or(other).unwrap_or_default(),
        };
        Fact::new(name, both)
    };
    names.into_iter().map(fact).collect()
}

fn values(event: &Event, version: Version) -> Vec<(String, String)> {
    // What every hello of TLS 1.3 carries for old middleboxes says nothing.
    let is_news = |field: &&Field| version == Version::Tls12 || field.name != "legacy_version";
    let fields = event.fields.iter().filter(is_news).map(|Field { name, value }| (name.to_string(), value.clone()));
    let extensions = event.extensions.iter().map(|Extension { number, name, size, value }| {
        let value = value.clone().unwrap_or_else(|| match size.0 {
            0 => "empty".to_owned(),
            1 => "1 byte".to_owned(),
            size => format!("{size} bytes"),
        });
        (format!("{name} ({number})"), value)
    });
    fields.chain(extensions).collect()
}
