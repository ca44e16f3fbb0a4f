//! Where the accounts differ, and may.

use reprise_model::Version;

use crate::differential::account::Difference;
use crate::differential::combination::Combination;

const CURVE_OF_SERVER: &str = "OpenSSL's client refuses, under TLS 1.2, a server's ECDSA certificate whose curve it did not \
    offer in supported_groups (RFC 8422 §5.1 says that a server should not send one); we report what the server does";
const CURVE_OF_CLIENT: &str = "OpenSSL's client keeps its ECDSA certificate back, under TLS 1.2, where it did not offer the \
    certificate's curve, and GnuTLS's offers no curves at all with RSA key exchange; we send what we were told to send, and an \
    OpenSSL server refuses it";

/// Every reason; each must still occur.
pub(crate) const ALL: [&str; 2] = [CURVE_OF_SERVER, CURVE_OF_CLIENT];

/// Why this difference is no fault of anyone's.
pub(crate) fn reason(peer: &str, combination: &Combination, difference: &Difference) -> Option<&'static str> {
    // All ECDSA certificates here, the client's and those that these servers send under TLS 1.2, are for P-256.
    let curve_is_missing = combination.version == Version::Tls12 && combination.group != "secp256r1";
    if !curve_is_missing || !matches!(difference.what, "the handshake" | "resumption") {
        return None;
    }
    // What follows on the second connection follows from the first.
    let refused_to_us = if difference.second { difference.ours == "no" } else { difference.ours == "refused" };
    let exchange = combination.suite.gnutls.1;
    match (peer, refused_to_us) {
        ("openssl", false) if exchange == "ECDHE-ECDSA" => Some(CURVE_OF_SERVER),
        ("openssl", true) if combination.certificate => Some(CURVE_OF_CLIENT),
        ("gnutls", true) if combination.certificate && exchange == "RSA" => Some(CURVE_OF_CLIENT),
        _ => None,
    }
}
