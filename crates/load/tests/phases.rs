//! What the client itself computes stands in the phase that it belongs to, through the library's own interface.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use reprise_engine::{CertificateError, CertificatePolicy, ChainVerifier};
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, ServerSpec};
use reprise_load::{Arrival, LoadEnd, Options, Silent, TlsOptions, engine_configs, run};
use reprise_trace::document::{Provenance, Target};
use reprise_trace::{Kind, Phase, Version};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

const SLOW: Duration = Duration::from_millis(60);

/// Trusts every chain, after a while.
struct SlowVerifier;

impl ChainVerifier for SlowVerifier {
    fn verify(&self, _: &[CertificateDer<'_>], _: &ServerName<'_>, _: UnixTime) -> Result<(), CertificateError> {
        thread::sleep(SLOW);
        Ok(())
    }
}

#[test]
fn a_slow_verifier_stands_in_tls_and_not_in_wait() {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig::new(identity)).unwrap();
    for version in [Version::Tls12, Version::Tls13] {
        let tls = TlsOptions::new(version);
        let policy = CertificatePolicy::Verify(Arc::new(SlowVerifier));
        let engine = engine_configs(&tls, "localhost", &policy, None).unwrap();
        let options = Options {
            tls: Arc::new(TlsOptions { engine, ..tls }),
            arrival: Arrival::Closed { connections: 1 },
            end: LoadEnd::Count(9),
            ..Options::new(server.address(), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
        };
        let outcome = run(&options, &|| false, &Silent).unwrap();
        let document = outcome.document(&options, Target::default(), false, Provenance::default());
        let latency = |phase| Duration::from_nanos(document.latency_ns[&Kind::Full][&phase].p50);
        assert!(latency(Phase::Tls) >= SLOW, "{version}: {:?}", document.latency_ns);
        for phase in [Phase::Connect, Phase::Wait, Phase::Receive] {
            assert!(latency(phase) < SLOW, "{version} {phase}: {:?}", document.latency_ns);
        }
    }
}
