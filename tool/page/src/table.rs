//! Tables before any format: each row is something to tell of, each column says what there is to tell of a row.

use reprise_model::document::Statistics;

use crate::figures::{Figure, Scale, Unit, align};

/// Columns and rows. Every row has a cell for each column.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// From the left.
    pub columns: Vec<Column>,
    /// From the top.
    pub rows: Vec<Row>,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// What it holds.
    pub name: String,
    /// In what unit, or the second half of a long name.
    pub unit: String,
    /// Words stand left, figures right.
    pub alignment: Alignment,
    /// Where space is short, the columns of the lowest rank go first; `None` stays.
    pub rank: Option<u8>,
    /// Whether it can wait: a terminal shows it with -v.
    pub is_secondary: bool,
}

/// On which side a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// From the left.
    pub cells: Vec<String>,
    /// Of each cell, whether it is a gain or none; else as the row.
    pub gains: Vec<Option<bool>>,
    /// Said in place of the figures that are not there.
    pub note: Option<String>,
    /// What the row is for.
    pub tone: Tone,
    /// Whether there is space between it and the row above.
    pub begins_group: bool,
    /// Whether it can wait: a terminal shows it with -v.
    pub is_secondary: bool,
}

/// What a line is for, by which a format may colour it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
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

impl Table {
    /// Whether some of it can wait.
    pub fn has_secondary(&self) -> bool {
        self.columns.iter().any(|column| column.is_secondary) || self.rows.iter().any(|row| row.is_secondary)
    }

    /// The same table without what can wait.
    pub fn without_secondary(mut self) -> Self {
        while let Some(index) = self.columns.iter().position(|column| column.is_secondary) {
            self = self.without_column(index);
        }
        self.rows.retain(|row| !row.is_secondary);
        self
    }

    /// The same table without the column at this place.
    pub fn without_column(mut self, index: usize) -> Self {
        self.columns.remove(index);
        for row in &mut self.rows {
            row.cells.remove(index);
            row.gains.remove(index);
        }
        self
    }
}

/// What a table has a row of each, and the table as far as its columns are known.
pub struct Rows<T> {
    items: Vec<T>,
    table: Table,
    /// Of each row, whether all that was asked of it by [`Rows::once`] is as in the row above.
    repeats: Vec<bool>,
}

impl<T: Copy> Rows<T> {
    /// A table with a row for each of these, and no column yet.
    pub fn of(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        let row = Row {
            cells: Vec::new(),
            gains: Vec::new(),
            note: None,
            tone: Tone::Plain,
            begins_group: false,
            is_secondary: false,
        };
        let table = Table { columns: Vec::new(), rows: vec![row; items.len()] };
        Self { table, repeats: (0..items.len()).map(|index| index > 0).collect(), items }
    }

    /// A column of words.
    pub fn words<S: Into<String>>(self, name: &str, cell: impl Fn(T) -> S) -> Self {
        let cells = self.items.iter().map(|item| cell(*item).into()).collect();
        self.column(name, "", Alignment::Left, cells)
    }

    /// A column of figures.
    pub fn figures<F: Into<Option<Figure>>>(self, name: &str, unit: &str, cell: impl Fn(T) -> F) -> Self {
        let figures: Vec<Option<Figure>> = self.items.iter().map(|item| cell(*item).into()).collect();
        let mut rows = self.column(name, unit, Alignment::Right, align(&figures));
        for (row, figure) in rows.table.rows.iter_mut().zip(&figures) {
            let is_gain = figure.as_ref().and_then(|figure| figure.is_gain);
            row.gains.last_mut().into_iter().for_each(|last| *last = is_gain);
        }
        rows
    }

    /// A column of medians, all with the same decimals.
    pub fn medians<'s>(self, name: &str, unit: Unit, of: impl Fn(T) -> Option<&'s Statistics>) -> Self {
        let scale = Scale::of_column(unit, self.items.iter().filter_map(|item| of(*item)));
        self.figures(name, unit.symbol(), |item| of(item).map(|statistics| scale.median(statistics)))
    }

    fn column(mut self, name: &str, unit: &str, alignment: Alignment, cells: Vec<String>) -> Self {
        self.table.columns.push(Column {
            name: name.to_owned(),
            unit: unit.to_owned(),
            alignment,
            rank: None,
            is_secondary: false,
        });
        for (row, cell) in self.table.rows.iter_mut().zip(cells) {
            row.cells.push(cell);
            row.gains.push(None);
        }
        self
    }

    /// The last column is left out where space is short, the lowest rank first.
    pub fn dispensable(mut self, rank: impl Into<Option<u8>>) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.rank = rank.into();
        }
        self
    }

    /// The last column can wait.
    pub fn secondary(mut self) -> Self {
        self.table.columns.last_mut().into_iter().for_each(|column| column.is_secondary = true);
        self
    }

    /// Which rows can wait. None of them begins a group.
    pub fn secondary_rows(mut self, is_secondary: impl Fn(T) -> bool) -> Self {
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.is_secondary = is_secondary(*item);
        }
        self
    }

    /// The last column stays blank where this, and what the columns before are asked in the same way, is as in the row above.
    pub fn once<K: PartialEq>(mut self, key: impl Fn(T) -> K) -> Self {
        let keys: Vec<K> = self.items.iter().map(|item| key(*item)).collect();
        for (pair, repeats) in keys.windows(2).zip(self.repeats.iter_mut().skip(1)) {
            *repeats &= matches!(pair, [above, below] if above == below);
        }
        for (row, _) in self.table.rows.iter_mut().zip(&self.repeats).filter(|(_, repeats)| **repeats) {
            row.cells.last_mut().into_iter().for_each(String::clear);
        }
        self
    }

    /// The same, and where it is not as in the row above, a group of rows begins.
    pub fn grouped<K: PartialEq>(self, key: impl Fn(T) -> K) -> Self {
        let mut rows = self.once(key);
        for (row, repeats) in rows.table.rows.iter_mut().zip(&rows.repeats).skip(1) {
            row.begins_group = !repeats;
        }
        rows
    }

    /// What each row is for.
    pub fn toned(mut self, tone: impl Fn(T) -> Tone) -> Self {
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.tone = tone(*item);
        }
        self
    }

    /// What is said of a row in place of figures.
    pub fn noted(mut self, note: impl Fn(T) -> Option<String>) -> Self {
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.note = note(*item);
        }
        self
    }

    /// The table, without the columns that no row fills.
    pub fn table(self) -> Table {
        let Table { columns, rows } = &self.table;
        let is_empty = |index: usize| rows.iter().all(|row| row.cells.get(index).is_none_or(|cell| cell.trim().is_empty()));
        let empty: Vec<usize> = (0..columns.len()).filter(|index| is_empty(*index)).collect();
        empty.into_iter().rev().fold(self.table, Table::without_column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(table: &Table) -> Vec<String> {
        table.rows.iter().map(|row| row.cells.join("|")).collect()
    }

    #[test]
    fn a_column_that_no_row_fills_is_left_out() {
        let rows = Rows::of([("full", 100), ("id", 7)]).words("kind", |(kind, _)| kind);
        let table = rows.figures("resolve", "ms", |_| None).figures("n", "", |(_, n)| Figure::count(n)).table();
        assert_eq!(table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["kind", "n"]);
        assert_eq!(cells(&table), ["full|100", "id|  7"]);
    }

    #[test]
    fn what_a_row_shares_with_the_one_above_is_said_once() {
        let rows = [("a", 1, "x"), ("a", 1, "x"), ("a", 2, "x"), ("b", 2, "x")];
        let rows = Rows::of(rows).words("key", |row| row.0).once(|row| row.0);
        let rows = rows.words("TLS", |row| row.1.to_string()).grouped(|row| row.1).words("kind", |row| row.2);
        let table = rows.words("again", |row| row.2).once(|row| row.2).table();
        assert_eq!(cells(&table), ["a|1|x|x", "||x|", "|2|x|x", "b|2|x|x"]);
        assert_eq!(table.rows.iter().map(|row| row.begins_group).collect::<Vec<_>>(), [false, false, true, true]);
    }
}
