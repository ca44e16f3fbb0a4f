//! What the client itself computes stands in the phase that it belongs to, through the library's own interface.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use reprise_engine::{CertificateError, CertificatePolicy, ChainVerifier};
use reprise_harness::Lab;
use reprise_harness::load::{document, load, options};
use reprise_load::{LoadEnd, LoadOptions, TlsOptions};
use reprise_model::{Kind, Phase, Version};
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
    let server = Lab::new().server_with(|_| {});
    for version in [Version::Tls12, Version::Tls13] {
        let certificates = CertificatePolicy::Verify(Arc::new(SlowVerifier));
        let options = LoadOptions {
            tls: Arc::new(TlsOptions { certificates, ..TlsOptions::new(version) }),
            end: LoadEnd::Count(9),
            ..options(server.address(), version)
        };
        let document = document(&load(&options), &options);
        let latency = |phase| Duration::from_nanos(document.latency_ns[&Kind::Full][&phase].p50);
        assert!(latency(Phase::Tls) >= SLOW, "{version}: {:?}", document.latency_ns);
        for phase in [Phase::Connect, Phase::Wait, Phase::Receive] {
            assert!(latency(phase) < SLOW, "{version} {phase}: {:?}", document.latency_ns);
        }
    }
}
