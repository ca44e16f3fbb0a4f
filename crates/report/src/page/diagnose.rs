//! What was found out about each target: the verdict, the findings, what each mechanism came to.

use reprise_trace::document::{DiagnoseDocument, Diagnosis};

use super::{Block, Item, Page, source};

/// All that is shown of a diagnosis.
pub(crate) fn diagnose(document: &DiagnoseDocument) -> Page {
    let mut blocks: Vec<Block> = document.targets.iter().flat_map(about).collect();
    blocks.push(source(&document.provenance));
    Page { title: "diagnose".to_owned(), blocks }
}

fn about(target: &Diagnosis) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(format!("{}: {}", target.target, target.verdict))];
    blocks.extend(target.findings.iter().map(|finding| Block::Item(finding.into())));
    blocks.extend(target.warnings.iter().map(|warning| Block::Item(Item::warning(warning))));
    blocks.extend(target.failure.iter().map(|failure| Block::Item(failure.into())));
    let Diagnosis { connections, seconds, .. } = target;
    blocks.push(Block::Aside(format!("{connections} connections in {seconds:.1} s")));
    blocks
}
