//! The run: rows that child processes make samples of, in turn.

use crate::failed::Failed;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Samples of each row.
    pub samples: u32,
    /// CPU time that one sample is to take, in nanoseconds: as many connections or operations as that makes.
    pub sample_ns: u64,
}

impl Effort {
    /// What intervals of a per cent or two take.
    pub const USUAL: Self = Self { samples: 30, sample_ns: 10_000_000 };
    /// Enough for an order of the stacks.
    pub const QUICK: Self = Self { samples: 10, sample_ns: 4_000_000 };
}

/// Whoever waits for it.
pub trait Audience {
    /// From now on steps are of this kind, in the plural.
    fn begins(&mut self, steps: &'static str);
    /// So many steps of so many are done.
    fn proceeded(&mut self, done: u64, planned: u64);
    /// Whether it is to stop, with what there is.
    fn stops(&self) -> bool;
}

/// What is measured in turn with others: a row of a table.
pub trait Row {
    /// The child process, or those, that make its samples.
    type Process;

    /// A row that has no figures, as its document has it.
    type Skipped;

    /// One more sample.
    ///
    /// # Errors
    /// Why there are no more.
    fn sample(&mut self, process: &mut Self::Process) -> Result<(), Failed>;

    /// This row without figures.
    fn skipped(&self, failed: &Failed) -> Self::Skipped;
}

/// Rows, and the processes that make their samples.
pub struct Run<R: Row> {
    processes: Vec<R::Process>,
    rows: Vec<Prepared<R>>,
    /// What could not be measured.
    pub skipped: Vec<R::Skipped>,
}

struct Prepared<R> {
    row: R,
    /// The number of its process.
    process: usize,
    /// Whether a sample failed: then no more are made.
    is_lost: bool,
}

impl<R: Row> Default for Run<R> {
    fn default() -> Self {
        Self { processes: Vec::new(), rows: Vec::new(), skipped: Vec::new() }
    }
}

impl<R: Row> Run<R> {
    /// A further process: its number.
    pub fn start(&mut self, process: R::Process) -> usize {
        self.processes.push(process);
        self.processes.len() - 1
    }

    /// A further row, made ready by the process of this number.
    ///
    /// # Errors
    /// If it cannot be made ready.
    pub fn add(&mut self, process: usize, prepare: impl FnOnce(&mut R::Process) -> Result<R, Failed>) -> Result<(), Failed> {
        let Some(of_row) = self.processes.get_mut(process) else { return Ok(()) };
        self.rows.push(Prepared { row: prepare(of_row)?, process, is_lost: false });
        Ok(())
    }

    /// So many samples of each row, in a random order in which each row precedes each equally often.
    pub fn measure(&mut self, samples: u32, seed: u64, audience: &mut dyn Audience) {
        let order = reprise_stats::balanced_order(self.rows.len(), samples as usize, 0, seed);
        let planned = order.len() as u64;
        for (done, index) in order.into_iter().enumerate() {
            if audience.stops() {
                return;
            }
            audience.proceeded(done as u64, planned);
            let Some(prepared) = self.rows.get_mut(index).filter(|prepared| !prepared.is_lost) else { continue };
            let Some(process) = self.processes.get_mut(prepared.process) else { continue };
            if let Err(failed) = prepared.row.sample(process) {
                prepared.is_lost = true;
                self.skipped.push(prepared.row.skipped(&failed));
            }
        }
    }

    /// Something beside the samples, of each row that is not lost. Where it fails, the row keeps its figures, and is among what was skipped too.
    pub fn beside(
        &mut self,
        audience: &mut dyn Audience,
        mut work: impl FnMut(&mut R, &mut R::Process) -> Result<(), Failed>,
    ) {
        let planned = self.rows.len() as u64;
        for (done, prepared) in self.rows.iter_mut().enumerate() {
            if audience.stops() {
                return;
            }
            audience.proceeded(done as u64, planned);
            let Some(process) = self.processes.get_mut(prepared.process).filter(|_| !prepared.is_lost) else { continue };
            if let Err(failed) = work(&mut prepared.row, process) {
                self.skipped.push(prepared.row.skipped(&failed));
            }
        }
    }

    /// Every row that was made ready.
    pub fn rows(&self) -> impl Iterator<Item = &R> {
        self.rows.iter().map(|prepared| &prepared.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Alone;

    impl Audience for Alone {
        fn begins(&mut self, _: &'static str) {}
        fn proceeded(&mut self, _: u64, _: u64) {}
        fn stops(&self) -> bool {
            false
        }
    }

    /// Fails after so many samples.
    struct Failing(&'static str, u32);

    impl Row for Failing {
        /// Samples that it has made.
        type Process = u32;
        type Skipped = (&'static str, String);

        fn sample(&mut self, process: &mut u32) -> Result<(), Failed> {
            *process += 1;
            self.1 = self.1.checked_sub(1).ok_or_else(|| Failed::because("no more"))?;
            Ok(())
        }

        fn skipped(&self, failed: &Failed) -> Self::Skipped {
            (self.0, failed.reason.clone())
        }
    }

    #[test]
    fn a_row_that_fails_is_skipped_once_and_the_others_go_on() {
        let mut run = Run::default();
        let [first, second] = [run.start(0), run.start(0)];
        run.add(first, |_| Ok(Failing("short", 2))).unwrap();
        run.add(second, |_| Ok(Failing("long", 100))).unwrap();
        assert!(run.add(second, |_| Err(Failed::because("never"))).is_err());
        run.measure(10, 1, &mut Alone);
        assert_eq!(run.skipped, [("short", "no more".to_owned())]);
        assert_eq!(run.processes, [3, 10]);
        assert_eq!(run.rows().map(|row| row.1).collect::<Vec<_>>(), [0, 90]);
        run.beside(&mut Alone, |row, _| Err(Failed::because(row.0)));
        assert_eq!(run.skipped.len(), 2, "what is lost is not asked again");
    }
}
