//! Measuring one target, and explaining what was measured.

use reprise_probe::{Interrupt, Observer, Options, Target};
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

pub(super) fn measure(
    target: &Target,
    options: &Options,
    provenance: Provenance,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> (MeasureDocument, Option<Failure>) {
    let measurement = reprise_probe::measure(target, options, provenance, observer, interrupt);
    let mut document = measurement.document;
    document.findings = reprise_explain::findings(&document);
    (document, measurement.failure)
}
