//! Between the connections to a target, connections to a server of our own: how fast is this machine meanwhile?

use std::cell::RefCell;

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec, Versions};
use reprise_model::document::Calibration;
use reprise_probe::{Interrupt, Observer, Reference};

/// What a connection to it costs, as documents say it: another work is no comparison.
const WORK: &str = "TLS 1.3 handshakes, alternately full and resumed, P-256, over loopback, both ends in this process";

/// Tells an observer of a measurement, and makes a connection of its own after each of the target's.
pub(super) struct Calibrating<'a> {
    observer: &'a dyn Observer,
    /// The server ends with it; `None` where it could not be started, which is no reason not to measure the target.
    running: RefCell<Option<(Reference, EmbeddedServer)>>,
}

impl<'a> Calibrating<'a> {
    pub(super) fn beside(observer: &'a dyn Observer, interrupt: &Interrupt) -> Self {
        Self { observer, running: RefCell::new(start(interrupt)) }
    }

    /// What came of it. The intervals follow from `seed`.
    pub(super) fn finish(self, seed: u64) -> Option<Calibration> {
        let (reference, _server) = self.running.into_inner()?;
        reference.calibration(seed)
    }
}

fn start(interrupt: &Interrupt) -> Option<(Reference, EmbeddedServer)> {
    let authority = Authority::new().ok()?;
    let identity = authority.server(&ServerSpec::new(KeyKind::P256)).ok()?;
    let config = EmbeddedConfig {
        versions: Versions::Tls13,
        resumption: EmbeddedResumption::Ticket,
        tickets: 1,
        ..EmbeddedConfig::new(identity)
    };
    let server = EmbeddedServer::start(config).ok()?;
    let reference = Reference::new(server.address(), authority.certificate(), WORK, interrupt).ok()?;
    Some((reference, server))
}

impl Observer for Calibrating<'_> {
    fn proceeded(&self, done: u64, planned: u64) {
        self.observer.proceeded(done, planned);
    }

    fn completed(&self, nth: u64) {
        if let Ok(mut running) = self.running.try_borrow_mut()
            && let Some((reference, _)) = running.as_mut()
        {
            reference.connect(nth);
        }
    }
}
