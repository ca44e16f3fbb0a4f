//! A progress bar for whatever takes over a second, on standard error.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reprise_probe::Observer;

/// Nothing is drawn before, so that what is quick leaves no trace.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar over one or several measurements.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    /// What the measurements before this one have done, and how many are still to come after it.
    before: Cell<u64>,
    after: Cell<u64>,
}

impl Progress {
    /// For one measurement.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        draw_as(&bar, TEMPLATE);
        Self { bar, begun: Instant::now(), before: Cell::new(0), after: Cell::new(0) }
    }

    /// The next of several measurements begins; `remaining` are to come after it.
    pub(crate) fn begin(&self, name: &str, remaining: u64) {
        draw_as(&self.bar, &format!("{{prefix:<16}}{TEMPLATE}"));
        self.bar.set_prefix(name.to_owned());
        self.before.set(self.bar.position());
        self.after.set(remaining);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

const TEMPLATE: &str = "[{bar:32}] {pos}/{len} connections, {eta} left";

fn draw_as(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
}

impl Observer for Progress {
    fn proceeded(&self, done: u64, planned: u64) {
        if self.bar.is_hidden() && self.begun.elapsed() > PATIENCE && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(self.before.get() + planned * (1 + self.after.get()));
        self.bar.set_position(self.before.get() + done);
    }
}
