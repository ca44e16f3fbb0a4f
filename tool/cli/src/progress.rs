//! A progress bar for whatever takes over a second, on standard error.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use reprise_probe::Observer;

use crate::notice::notice;

/// Nothing is drawn before, so that what is quick leaves no trace.
const PATIENCE: Duration = Duration::from_secs(1);

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether no progress is to be shown; said once, at the start.
pub(crate) fn be_quiet(is_quiet: bool) {
    QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Whether no progress is to be shown.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// A bar over all connections.
pub(crate) struct Progress {
    bar: ProgressBar,
    steps: String,
    begun: Instant,
}

impl Progress {
    /// A bar over steps of this kind, in the plural.
    pub(crate) fn of(steps: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template(&format!("[{{bar:32}}] {{pos}}/{{len}} {steps}, {{eta}} left{{msg}}"))
        {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar, steps: steps.to_owned(), begun: Instant::now() }
    }

    /// How many steps will be taken by [`Self::step`]: they are long, and the bar is shown at once.
    pub(crate) fn plan(&self, steps: u64) {
        self.bar.set_length(steps);
        if !is_quiet() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(PATIENCE);
        }
    }

    /// Takes a step. Its name is beside the bar meanwhile; without a terminal, it is in a line afterwards.
    pub(crate) fn step<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        self.bar.set_message(format!(": {name}"));
        let result = work();
        self.bar.inc(1);
        if !is_quiet() && self.bar.is_hidden() {
            let (done, planned) = (self.bar.position(), self.bar.length().unwrap_or_default());
            notice(format_args!("{done}/{planned} {}, {:#} left: {name}", self.steps, HumanDuration(self.bar.eta())));
        }
        result
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn proceeded(&self, done: u64, planned: u64) {
        if is_quiet() {
            return;
        }
        if self.bar.is_hidden() && self.begun.elapsed() > PATIENCE && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(planned);
        self.bar.set_position(done);
    }
}
