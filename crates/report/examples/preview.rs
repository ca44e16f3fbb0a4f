//! Shows the pages of the documents in `tests/documents`: `cargo run -p reprise-report --example preview -- nginx 100`.

use std::io::{self, Write};
use std::path::Path;

use reprise_model::document::{LabDocument, MeasureDocument};
use reprise_report::Shown;
use reprise_report::terminal::{self, Style};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "nginx".to_owned());
    let width = arguments.next().and_then(|width| width.parse().ok());
    let style = Style { color: std::env::var_os("NO_COLOR").is_none(), width };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents").join(name).with_extension("json");
    let json = std::fs::read_to_string(file)?;
    let page = match serde_json::from_str::<LabDocument>(&json) {
        Ok(document) => terminal::lab(&document, style),
        Err(_) => terminal::measure(&serde_json::from_str::<MeasureDocument>(&json)?, style, Shown::default()),
    };
    io::stdout().write_all(page.as_bytes())
}
