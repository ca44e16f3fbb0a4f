//! Saved results: the text of a file, and the document in it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

/// More than any result of a million connections takes; a larger file is refused.
const LARGEST: u64 = 1 << 30;

/// How many characters of an unreadable line an error quotes.
const LONGEST_LINE: usize = 100;

/// A file that says which document it holds.
pub(crate) struct Saved {
    /// Its name, as messages say it.
    pub(crate) file: String,
    pub(crate) schema: String,
    text: String,
}

/// What every document says of itself.
#[derive(Deserialize)]
#[serde(expecting = "an object with the field `schema`")]
struct Named {
    schema: String,
}

impl Saved {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let (file, text) = (shown(path), read_text(path)?);
        let Named { schema } = parse(&text).with_context(|| format!("{file} is not a result of reprise"))?;
        Ok(Self { file, schema, text })
    }

    pub(crate) fn document<T: for<'a> Deserialize<'a>>(&self) -> anyhow::Result<T> {
        let Self { file, schema, text } = self;
        parse(text).with_context(|| format!("{file} claims to be {schema}, but does not match that schema"))
    }
}

/// The name of a file as a message says it; `-` is standard input.
fn shown(path: &Path) -> String {
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
        ensure!(length <= LARGEST, "{shown} is too large for a result");
        Box::new(file)
    };
    let mut text = String::new();
    source.take(LARGEST + 1).read_to_string(&mut text).with_context(cannot_read)?;
    ensure!(text.len() as u64 <= LARGEST, "{shown} is too large for a result");
    Ok(text)
}

/// The one document in a text.
fn parse<T: for<'a> Deserialize<'a>>(text: &str) -> anyhow::Result<T> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let first = match documents.next() {
        Some(Err(error)) if error.is_eof() => {
            bail!("it is cut off at line {}, as a full disk or a killed process leaves it: measure again", error.line())
        }
        Some(first) => first.context("as JSON")?,
        None => bail!("it is empty"),
    };
    match text.get(documents.byte_offset()..).unwrap_or_default().trim() {
        "" => Ok(first),
        another if another.starts_with('{') => {
            bail!("it contains several results, as --every writes them: extract one line, for example with 'tail -n 1'")
        }
        // A container's log holds standard error as well, which says why a run failed. Escaped, since a terminal obeys.
        rest => {
            let line: String = rest.lines().next().unwrap_or_default().chars().take(LONGEST_LINE).collect();
            bail!("it contains other text, {line:?}: if the run failed, omit this file")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_result_is_said() {
        let result = "{\n  \"schema\": \"reprise.load/1\"\n}\n";
        let refusal = |rest: &str| parse::<Named>(&format!("{result}{rest}")).err().map(|error| error.to_string());
        assert_eq!(refusal(" \n"), None);
        assert!(refusal(result).unwrap().contains("several results"));
        let log = refusal("reprise: no connection completed: 128 failed\x1b[2J\n  a hint\n").unwrap();
        assert!(log.contains("\"reprise: no connection completed: 128 failed\\u{1b}[2J\""), "{log}");
        assert!(!log.contains("hint") && !log.contains("several results"), "{log}");
    }
}
