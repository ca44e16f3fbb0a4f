//! What is shown of a result, before any format.

use reprise_model::Failure;
use reprise_model::document::{Finding, Severity};

use crate::chart::Chart;
use crate::ladder::Ladder;
use crate::table::{Table, Tone};

/// A title and what stands below it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The command that it is a result of.
    pub command: &'static str,
    /// Above all.
    pub title: String,
    /// The title where no command line stands above the page.
    pub headline: Option<String>,
    /// From the top.
    pub blocks: Vec<Block>,
    /// Whether what is secondary is shown too.
    pub in_full: bool,
}

/// One part of a page.
#[derive(Clone, Debug)]
pub enum Block {
    /// Opens a section.
    Heading(String),
    /// Names and values.
    Facts(Vec<Fact>),
    /// Rows and columns.
    Table(Table),
    /// Drawn where something can be drawn. A table of the same page says the same.
    Chart(Chart),
    /// Two handshakes side by side.
    Ladder(Ladder),
    /// A sentence or several.
    Paragraph(String),
    /// Commands, as they are typed.
    Code(String),
    /// Told in passing, a legend or a footer.
    Aside(String),
    /// A finding, a failure, a warning.
    Item(Item),
    /// What the page comes to: a format that is read from the top shows it there.
    Summary(Vec<Block>),
    /// A heading and what can wait below it: a terminal shows it with -v, HTML folds it.
    Secondary(Vec<Block>),
}

impl Page {
    /// A page without a headline of its own, of which all that is secondary stays folded.
    pub fn new(command: &'static str, title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { command, title: title.into(), headline: None, blocks, in_full: false }
    }

    /// The blocks for a format that draws nothing and is read as it was written, from the top or from the end.
    pub fn written(&self, has_secondary: bool) -> impl Iterator<Item = &Block> {
        let blocks = self.blocks.iter().flat_map(move |block| match block {
            Block::Secondary(_) if !has_secondary => &[],
            Block::Summary(blocks) | Block::Secondary(blocks) => blocks.as_slice(),
            block => std::slice::from_ref(block),
        });
        blocks.filter(|block| !matches!(block, Block::Chart(_)))
    }

    /// What a terminal shows with -v alone: "all rows and columns; Skipped". `is_cut` says whether a table loses columns.
    pub fn left_out(&self, is_cut: impl Fn(&Table) -> bool) -> Option<String> {
        let has_facts = |block: &Block| matches!(block, Block::Facts(facts) if facts.iter().any(|fact| fact.is_secondary));
        let has_rows = |block: &Block| matches!(block, Block::Table(table) if table.has_secondary() || is_cut(table));
        let facts = self.written(false).any(has_facts).then_some("all facts");
        let rows = self.written(false).any(has_rows).then_some("all rows and columns");
        let headings = self.blocks.iter().filter_map(|block| match block {
            Block::Secondary(blocks) => blocks.first(),
            _ => None,
        });
        let headings =
            headings.filter_map(|block| if let Block::Heading(text) = block { Some(text.as_str()) } else { None });
        let named: Vec<&str> = facts.into_iter().chain(rows).chain(headings).collect();
        (!self.in_full && !named.is_empty()).then(|| format!("-v also shows: {}", named.join("; ")))
    }
}

/// A name and its value.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The same for facts that belong together.
    pub name: String,
    /// What it is.
    pub value: String,
    /// Whether it can wait: a terminal shows it with -v.
    pub is_secondary: bool,
}

/// Something to be looked at: a finding, a failure, a warning.
#[derive(Clone, Debug)]
pub struct Item {
    /// `fault`, `warning`.
    pub label: &'static str,
    /// How it stands out.
    pub tone: Tone,
    /// What is to be looked at.
    pub text: String,
    /// The fixed name by which it is known.
    pub slug: Option<String>,
    /// How sure it is.
    pub confidence: Option<&'static str>,
    /// What says so.
    pub evidence: Vec<String>,
    /// What to do, one step or one software a line.
    pub remedy: Vec<String>,
}

impl Fact {
    /// A fact that is shown at once.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), is_secondary: false }
    }

    /// The same fact as one that can wait.
    pub fn secondary(self) -> Self {
        Self { is_secondary: true, ..self }
    }
}

impl From<&Finding> for Item {
    fn from(finding: &Finding) -> Self {
        let tone = match finding.severity {
            Severity::Fault => Tone::Fault,
            Severity::Risk => Tone::Warning,
            Severity::Note => Tone::Quiet,
        };
        Self {
            slug: Some(finding.id.clone()),
            confidence: Some(finding.confidence.name()),
            evidence: finding.evidence.iter().cloned().chain(finding.costs()).collect(),
            ..Self::new(finding.severity.name(), tone, &finding.title)
        }
    }
}

impl From<&Failure> for Item {
    fn from(failure: &Failure) -> Self {
        Self {
            slug: Some(failure.name.clone()),
            remedy: failure.hint.clone().into_iter().collect(),
            ..Self::new("failed", Tone::Fault, &failure.message)
        }
    }
}

impl Item {
    /// An item of one sentence.
    pub fn new(label: &'static str, tone: Tone, text: impl Into<String>) -> Self {
        Self { label, tone, text: text.into(), slug: None, confidence: None, evidence: Vec::new(), remedy: Vec::new() }
    }
}

impl Block {
    /// A warning of one sentence.
    pub fn warning(text: impl Into<String>) -> Self {
        Self::Item(Item::new("warning", Tone::Warning, text))
    }

    /// A heading and what can wait below it; nothing where there is nothing.
    pub fn secondary(blocks: Vec<Block>) -> Option<Self> {
        (!blocks.is_empty()).then_some(Self::Secondary(blocks))
    }
}

/// A heading, a table and what stands below it; nothing where the table has no row.
pub fn section(heading: &str, table: Table, below: impl IntoIterator<Item = Block>) -> Vec<Block> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    [Block::Heading(heading.to_owned()), Block::Table(table)].into_iter().chain(below).collect()
}

/// What has the same key in one group, in the order in which the keys first occur.
pub fn grouped<'a, T, K: PartialEq>(
    items: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&'a T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut groups: Vec<(K, Vec<&'a T>)> = Vec::new();
    for item in items {
        let key = key(item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// How much of a result its page shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// What is secondary too: rows, tables, notes that ask for nothing, the remedies of every software, what each message of a trace says.
    pub in_full: bool,
    /// Each experiment of a diagnosis.
    pub experiments: bool,
}

impl Shown {
    /// Whether a finding is shown among those that ask for something.
    pub fn shows(self, finding: &Finding) -> bool {
        self.in_full || !finding.asks_for_nothing()
    }
}
