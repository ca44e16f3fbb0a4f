//! Reads `tls/engine/vectors`: `label: hex`, continued on indented lines; `#` begins a comment.

use std::path::Path;

/// Labels and values of one file, in their order.
pub type Values = Vec<(String, Vec<u8>)>;

/// The trace of one section of RFC 8448.
pub fn rfc8448(file: &str) -> Values {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tls/engine/vectors").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut values = Values::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (label, hex) = line.split_once(':').map_or((None, line), |(label, hex)| (Some(label), hex));
        values.extend(label.map(|label| (label.to_owned(), Vec::new())));
        let bytes = hex.split_whitespace().map(|pair| u8::from_str_radix(pair, 16).unwrap());
        values.last_mut().unwrap().1.extend(bytes);
    }
    values
}
