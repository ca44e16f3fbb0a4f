//! One line for people, on standard error.

use std::fmt::Display;
use std::io::Write;

/// Says it, if anybody can hear it: standard error may be closed or full, which is not worth a measurement.
pub(crate) fn notice(words: impl Display) {
    let _ = writeln!(anstream::stderr(), "reprise: {words}");
}
