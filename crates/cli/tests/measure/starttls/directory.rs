//! LDAP by OpenLDAP.

use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_servers::{PartialWitness, Slapd};

use super::bystander::Bystander;
use super::{COUNT, VERSIONS, assert_known, assert_phases, measure};
use reprise_harness::Lab;

/// OpenLDAP on GnuTLS neither stores sessions nor asks for tickets; of an ID that it gave it knows nothing.
#[test]
fn a_directory_that_keeps_no_sessions() {
    reprise_servers::require!("slapd", "openssl");
    for key in [KeyKind::P256, KeyKind::Rsa2048] {
        let lab = Lab::new();
        let server = Slapd::start(Some(&lab.identity(key))).unwrap();
        let outcome = measure(&lab, server.address(), "ldap");
        assert_known(&outcome.document(), &server);
        let id = outcome.measured(Version::Tls12, Kind::Id);
        assert_eq!((id.n, id.observed.kinds.of(Kind::Full)), (0, u64::from(COUNT)));
        for tls in VERSIONS {
            let full = outcome.measured(tls, Kind::Full);
            assert_eq!((full.n, full.observed.tickets_given), (u64::from(COUNT), 0), "{tls}");
            assert_phases(&full);
            assert!(!Bystander::of_ldap(server.address()).resumes(tls), "{tls}");
        }
        // StartTLS is one round trip, the handshake another.
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(2));
        outcome.shows(&["TLS 1.3 offers no resumption", "OpenLDAP"]);
    }
}

#[test]
fn a_directory_without_tls_says_so() {
    reprise_servers::require!("slapd");
    let lab = Lab::new();
    let server = Slapd::start(None).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "ldap"]).run().exits(3);
    outcome.says(&["the server refuses StartTLS: result code 2 (protocolError)"]);
}
