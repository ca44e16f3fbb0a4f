//! Measuring one target, and explaining what was measured.

use reprise_probe::saved::Left;
use reprise_probe::{Interrupt, Measurement, Observer, Options, Target};
use reprise_trace::Failure;
use reprise_trace::document::{MeasureDocument, Provenance};
use rustls_pki_types::CertificateDer;

/// Whom to trust where no flag says.
pub(super) enum Trust {
    /// The system's roots, or those of `--ca`.
    Roots,
    /// The lab's own authority.
    Authority(CertificateDer<'static>),
}

/// What came of one target.
pub(super) struct Measured {
    pub(super) document: MeasureDocument,
    pub(super) failure: Option<Failure>,
    pub(super) left: Left,
}

pub(super) fn measure(
    target: &Target,
    options: &Options,
    provenance: Provenance,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Measured {
    let Measurement { mut document, failure, left } =
        reprise_probe::measure(target, options, provenance, observer, interrupt);
    document.findings = reprise_explain::findings(&document);
    Measured { document, failure, left }
}
