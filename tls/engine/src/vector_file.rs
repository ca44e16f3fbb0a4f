//! Reads `vectors`: `label: hex`, continued on indented lines; `#` begins a comment.

use std::path::Path;

/// The trace of one section of RFC 8448.
pub(crate) struct Trace {
    values: Vec<(String, Vec<u8>)>,
}

impl Trace {
    pub(crate) fn read(file: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut values: Vec<(String, Vec<u8>)> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (label, hex) = line.split_once(':').map_or((None, line), |(label, hex)| (Some(label), hex));
            values.extend(label.map(|label| (label.to_owned(), Vec::new())));
            let bytes = hex.split_whitespace().map(|pair| u8::from_str_radix(pair, 16).unwrap());
            values.last_mut().unwrap().1.extend(bytes);
        }
        Self { values }
    }

    /// The value with this label.
    pub(crate) fn get(&self, label: &str) -> &[u8] {
        self.find(label).unwrap_or_else(|| panic!("no value {label:?}"))
    }

    /// The value with this label, if the section has one.
    pub(crate) fn find(&self, label: &str) -> Option<&[u8]> {
        self.values.iter().find(|(known, _)| known == label).map(|(_, value)| &**value)
    }
}
