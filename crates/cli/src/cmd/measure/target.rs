//! Measuring one target, and explaining what was measured.

use reprise_connection::Target;
use reprise_model::Failure;
use reprise_model::document::{MeasureDocument, Provenance};
use reprise_probe::saved::Unused;
use reprise_probe::{Interrupt, Measurement, Observer, Options};
use rustls_pki_types::CertificateDer;

use super::calibration::Calibrating;

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
    pub(super) unused: Unused,
}

pub(super) fn measure(
    target: &Target,
    options: &Options,
    provenance: Provenance,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Measured {
    let calibrating = Calibrating::beside(observer, interrupt);
    let measurement = reprise_probe::measure(target, options, &calibrating, interrupt);
    let (mut document, failure) = explained(target, options, &measurement, provenance);
    document.calibration = calibrating.finish(options.seed);
    Measured { document, failure, unused: measurement.unused }
}

/// What a measurement means, and what ended it before its time.
pub(super) fn explained(
    target: &Target,
    options: &Options,
    measurement: &Measurement,
    provenance: Provenance,
) -> (MeasureDocument, Option<Failure>) {
    let document = reprise_results::measure_document(target, options, measurement, provenance);
    let failure = measurement.ended_by.as_ref().map(|failed| reprise_results::failure_of(failed, options));
    (document, failure)
}
