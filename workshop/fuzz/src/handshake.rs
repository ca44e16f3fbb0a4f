//! The first byte chooses a parser of a message or of an extension, the others are its input: what it accepts, it
//! emits again byte for byte.

use reprise_harness::reemit;

pub(crate) fn run(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let Some(parser) = parsers().nth(usize::from(choice) % parsers().count()) else { return };
    reemit::holds_for(std::slice::from_ref(parser), bytes);
}

/// For each parser that accepts this body, an input that says so.
pub(crate) fn accepting(body: &[u8]) -> Vec<(String, Vec<u8>)> {
    let accept = |(choice, (name, reemit)): (usize, &(&str, reemit::Reemit))| {
        reemit(body).ok().map(|_| (format!("{choice:02}-{name}"), [&[choice as u8], body].concat()))
    };
    parsers().enumerate().filter_map(accept).collect()
}

fn parsers() -> impl Iterator<Item = &'static (&'static str, reemit::Reemit)> {
    reemit::MESSAGES.iter().chain(reemit::EXTENSIONS)
}
