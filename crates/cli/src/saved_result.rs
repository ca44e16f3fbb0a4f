//! A saved result: the text of its file, and the document in it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

/// More than any result of a million connections takes; what is larger is no result.
const LARGEST: u64 = 1 << 30;

/// What every document says of itself.
#[derive(Deserialize)]
#[serde(expecting = "an object with the field `schema`")]
pub(crate) struct Named {
    pub(crate) schema: String,
}

/// The name of a file as a message says it; `-` is standard input.
pub(crate) fn shown(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// The text of a file that is no larger than a result. A device or a pipe may have no end.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    let shown = shown(path);
    let cannot_read = || format!("cannot read {shown}");
    let source: Box<dyn Read> = if is_standard_input(path) {
        Box::new(io::stdin())
    } else {
        let file = File::open(path).with_context(cannot_read)?;
        let length = file.metadata().with_context(cannot_read)?.len();
        ensure!(length <= LARGEST, "{shown} is larger than any result");
        Box::new(file)
    };
    let mut text = String::new();
    source.take(LARGEST + 1).read_to_string(&mut text).with_context(cannot_read)?;
    ensure!(text.len() as u64 <= LARGEST, "{shown} is larger than any result");
    Ok(text)
}

/// The one document in a text.
pub(crate) fn parse<T: for<'a> Deserialize<'a>>(text: &str) -> anyhow::Result<T> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let first = match documents.next() {
        Some(first) => first.context("as JSON")?,
        None => bail!("it is empty"),
    };
    let rest = text.get(documents.byte_offset()..).unwrap_or_default();
    ensure!(rest.trim().is_empty(), "it holds more than one, as --every writes them: take one line, 'tail -n 1'");
    Ok(first)
}
