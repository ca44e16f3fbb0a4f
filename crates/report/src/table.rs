//! A table before any format: columns, rows, and what each row is for.

use crate::figures::{Figure, align};

/// Columns and lines. Every row has a cell for each column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
}

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// What it holds.
    pub(crate) name: String,
    /// In what unit, or the second half of a long name.
    pub(crate) unit: String,
    /// Words stand left, figures right.
    pub(crate) alignment: Alignment,
    /// Where space is short, the columns of the lowest rank go first; `None` stays.
    pub(crate) rank: Option<u8>,
}

/// On which side a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    Left,
    Right,
}

/// A row, or space between groups of rows.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    Row(Row),
    Gap,
}

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<String>,
    /// Said in place of the figures that are not there.
    pub(crate) note: Option<String>,
    pub(crate) tone: Tone,
}

/// What a line is for, by which a format may colour it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// A saving.
    Gain,
    /// Told in passing.
    Quiet,
    /// To be looked at.
    Warning,
    /// Broken.
    Fault,
}

impl Column {
    /// A column of words.
    pub(crate) fn words(name: &str) -> Self {
        Self { name: name.to_owned(), unit: String::new(), alignment: Alignment::Left, rank: None }
    }

    /// A column of figures.
    pub(crate) fn figures(name: &str, unit: &str) -> Self {
        Self { unit: unit.to_owned(), alignment: Alignment::Right, ..Self::words(name) }
    }

    /// The same, to be left out where space is short, the lowest rank first.
    pub(crate) fn dispensable(self, rank: u8) -> Self {
        Self { rank: Some(rank), ..self }
    }
}

/// Columns of words, then columns of figures, each with its unit.
pub(crate) fn columns(words: &[&str], figures: &[(&str, &str)]) -> Vec<Column> {
    let figures = figures.iter().map(|(name, unit)| Column::figures(name, unit));
    words.iter().map(|name| Column::words(name)).chain(figures).collect()
}

impl Line {
    /// A row without a note.
    pub(crate) fn row(cells: Vec<String>, tone: Tone) -> Self {
        Self::Row(Row { cells, note: None, tone })
    }
}

/// A row whose figures are not aligned yet.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) words: Vec<String>,
    pub(crate) figures: Vec<Option<Figure>>,
    pub(crate) note: Option<String>,
    pub(crate) tone: Tone,
}

impl Draft {
    /// A row without a note.
    pub(crate) fn new(words: Vec<String>, figures: Vec<Option<Figure>>, tone: Tone) -> Self {
        Self { words, figures, note: None, tone }
    }
}

impl Table {
    /// Lays out rows of words and then figures under these columns; `None` is a gap. Columns that no row fills are left
    /// out.
    pub(crate) fn of_drafts(columns: Vec<Column>, drafts: Vec<Option<Draft>>) -> Self {
        let mut lines: Vec<Line> = drafts.iter().map(|draft| draft.as_ref().map_or(Line::Gap, words_of)).collect();
        let words = drafts.iter().flatten().map(|draft| draft.words.len()).max().unwrap_or_default();
        for index in 0..columns.len().saturating_sub(words) {
            let figure = |draft: &Option<Draft>| draft.as_ref()?.figures.get(index).cloned().flatten();
            let column: Vec<Option<Figure>> = drafts.iter().map(figure).collect();
            for (line, cell) in lines.iter_mut().zip(align(&column)) {
                if let Line::Row(row) = line {
                    row.cells.push(cell);
                }
            }
        }
        Self { columns, lines }.without_empty_columns()
    }

    /// The rows, without the gaps.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::Gap => None,
        })
    }

    /// The same table without the column at this place.
    pub(crate) fn without_column(mut self, index: usize) -> Self {
        if index < self.columns.len() {
            self.columns.remove(index);
        }
        for line in &mut self.lines {
            if let Line::Row(row) = line
                && index < row.cells.len()
            {
                row.cells.remove(index);
            }
        }
        self
    }

    fn without_empty_columns(self) -> Self {
        let is_empty = |index: usize| self.rows().all(|row| row.cells.get(index).is_none_or(|cell| cell.trim().is_empty()));
        let empty: Vec<usize> = (0..self.columns.len()).filter(|index| is_empty(*index)).collect();
        empty.into_iter().rev().fold(self, Self::without_column)
    }
}

fn words_of(draft: &Draft) -> Line {
    Line::Row(Row { cells: draft.words.clone(), note: draft.note.clone(), tone: draft.tone })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(word: &str, figures: Vec<Option<Figure>>) -> Option<Draft> {
        Some(Draft::new(vec![word.to_owned()], figures, Tone::Plain))
    }

    #[test]
    fn a_column_that_no_row_fills_is_left_out() {
        let columns = vec![Column::words("kind"), Column::figures("resolve", "ms"), Column::figures("n", "")];
        let drafts =
            vec![draft("full", vec![None, Some(Figure::count(100))]), None, draft("id", vec![None, Some(Figure::count(7))])];
        let table = Table::of_drafts(columns, drafts);
        assert_eq!(table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["kind", "n"]);
        assert_eq!(table.rows().map(|row| row.cells.join("|")).collect::<Vec<_>>(), ["full|100", "id|  7"]);
        assert_eq!(table.lines.len(), 3);
    }
}
