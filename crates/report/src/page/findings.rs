//! What was found: the items, and what is left out of them.

use reprise_diagnosis::cause;
use reprise_model::document::Finding;

use super::{Block, Item};
use crate::document::Shown;

/// The findings as items, in this order. A remedy that the finding before has too is not said twice. `software` is what the server or
/// client says that it is, or what somebody says of it.
pub(super) fn items(findings: &[&Finding], software: Option<&str>, shown: Shown) -> Vec<Block> {
    let mut previous = Vec::new();
    let item = |finding: &&Finding| {
        let mut item = Item::from(*finding);
        item.remedy = steps(finding, software, shown);
        let is_said = !item.remedy.is_empty() && item.remedy == previous;
        previous.clone_from(&item.remedy);
        if is_said {
            item.remedy = vec!["as above".to_owned()];
        }
        Block::Item(item)
    };
    findings.iter().filter(|finding| shown.shows(finding)).map(item).collect()
}

/// How many findings are left out, and how to see them.
pub(super) fn left_out<'a>(findings: impl Iterator<Item = &'a Finding>, shown: Shown) -> Option<Block> {
    let line = match findings.filter(|finding| !shown.shows(finding)).count() {
        0 => return None,
        1 => "1 note that asks for nothing: -v shows it".to_owned(),
        count => format!("{count} notes that ask for nothing: -v shows them"),
    };
    Some(Block::Aside(line))
}

impl Shown {
    pub(super) fn shows(self, finding: &Finding) -> bool {
        self.in_full || !finding.asks_for_nothing()
    }
}

/// What to do: in full the remedies of every software where the finding has those of its cause.
fn steps(finding: &Finding, software: Option<&str>, shown: Shown) -> Vec<String> {
    let named = software.and_then(reprise_diagnosis::software);
    if !shown.in_full {
        let has_own = finding.remedies.iter().any(|remedy| remedy.software.as_deref() == named);
        return finding.steps(named.filter(|_| has_own));
    }
    let of_all = cause(&finding.id).into_iter().flat_map(|cause| [cause.remedies(None), cause.client_remedies(None)]);
    let wider = of_all.filter(|all| finding.remedies.iter().all(|remedy| all.contains(remedy)));
    match wider.max_by_key(Vec::len).filter(|all| all.len() > finding.remedies.len()) {
        Some(all) if !finding.remedies.is_empty() => finding.clone().fixed_by(all).steps(None),
        _ => finding.steps(None),
    }
}
