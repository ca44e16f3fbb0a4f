//! Reads `tests/vectors`: `label: hex`, continued on indented lines; `#` begins a comment.

use std::path::Path;

/// Labels and values of one file, in their order.
pub(crate) type Values = Vec<(String, Vec<u8>)>;

/// The trace of one section of RFC 8448.
pub(crate) fn rfc8448(file: &str) -> Values {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/rfc8448").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text)
}

fn parse(text: &str) -> Values {
    let mut values = Values::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let hex = match line.split_once(':') {
            Some((label, first)) => {
                values.push((label.to_owned(), Vec::new()));
                first
            }
            None => line,
        };
        let bytes = hex.split_whitespace().map(|pair| u8::from_str_radix(pair, 16).expect(pair));
        values.last_mut().expect("a label comes first").1.extend(bytes);
    }
    values
}
