//! What a format of documents says of itself.

use std::io;

use crate::FORMATS;
use crate::document::Report;

/// A format of documents.
#[derive(Debug)]
pub struct Format {
    /// The name of its flag, which takes a file.
    pub name: &'static str,
    /// What the flag does.
    pub help: &'static str,
    /// The schemas of the documents that it can write.
    pub schemas: &'static [&'static str],
    pub(crate) write: fn(&Report<'_>, &mut Vec<u8>) -> io::Result<()>,
}

impl Format {
    /// Writes the document in this format; nothing where the format does not have such documents.
    pub fn write(&self, report: &Report<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        (self.write)(report, out)
    }

    /// Whether documents of this schema can be written in it.
    pub fn writes(&self, schema: &str) -> bool {
        self.schemas.contains(&schema)
    }

    /// The formats that documents of this schema have.
    pub fn of(schema: &str) -> impl Iterator<Item = &'static Self> {
        FORMATS.into_iter().filter(move |format| format.writes(schema))
    }
}
