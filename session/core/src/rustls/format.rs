//! How sessions are written. Nodes share what each can read, whichever builds they are: nothing here comes from a build.

use std::sync::OnceLock;

use rustls::internal::msgs::codec::Codec;
use rustls::internal::msgs::persist::ServerSessionValue;

use crate::policy::PolicyBuilder;
use crate::random::{Random, SystemRandom};

/// This library's own format: what stands before a state, what is sealed with it, and how a policy is digested. It grows when a
/// change lets one version misread another's; `session/tests/vectors` has sessions of each release, which must resume.
const OWN: u8 = 1;

/// The number of the encoding that [`STATE`] is in. It grows with another one.
const OF_RUSTLS: u8 = 1;

/// A state as rustls 0.23 encodes it, each field with a value of its own.
const STATE: &[u8] = b"\x01\x06a.test\x03\x04\x13\x01\x04\x11\x12\x13\x14\x01\x01\x00\x00\x07\x00\x00\x04\x21\x22\x23\x24\
    \x01\x02h2\x00\x03\x31\x32\x33\x41\x42\x43\x44\x45\x46\x47\x48\x51\x52\x53\x54";

/// Begins a policy with both formats.
///
/// A state is in an encoding of rustls' own, which its version does not promise to keep. Where the rustls in use does not read
/// and write [`STATE`] as it is, nobody knows which nodes do as this one does: its sessions are for this process alone.
pub(super) fn policy() -> PolicyBuilder {
    static ALONE: OnceLock<Option<[u8; 32]>> = OnceLock::new();
    let alone = ALONE.get_or_init(|| {
        if is_encoded_by_rustls(STATE) {
            return None;
        }
        tracing::warn!(target: "reprise_session", "this rustls encodes sessions in another way: they are not shared with other processes");
        Some(unique())
    });
    let policy = PolicyBuilder::new().field("format", &[OWN]);
    match alone {
        None => policy.field("rustls", &[OF_RUSTLS]),
        Some(unique) => policy.field("process", unique),
    }
}

fn is_encoded_by_rustls(state: &[u8]) -> bool {
    ServerSessionValue::read_bytes(state).is_ok_and(|read| read.get_encoding() == state)
}

/// Differs from process to process, even where there is no randomness.
fn unique() -> [u8; 32] {
    let mut unique = [0; 32];
    if SystemRandom.fill(&mut unique).is_err() {
        let now = rustls_pki_types::UnixTime::now().as_secs();
        unique[..8].copy_from_slice(&now.to_be_bytes());
        unique[8..12].copy_from_slice(&std::process::id().to_be_bytes());
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_encoding_of_rustls_is_noticed() {
        assert!(is_encoded_by_rustls(STATE));
        // One field more, one less, and one that has become longer.
        assert!(!is_encoded_by_rustls(&[STATE, &[0]].concat()));
        assert!(!is_encoded_by_rustls(&STATE[..STATE.len() - 1]));
        assert!(!is_encoded_by_rustls(&[&STATE[..8], &[0], &STATE[8..]].concat()));
    }

    #[test]
    fn the_same_configuration_is_the_same_policy_in_every_build() {
        let digest: String = policy().build().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        // A change of this digest ends every session of every fleet that upgrades: only with another format.
        assert_eq!(digest, "7c2bbc9c1796c694ea4b74d73da469fe87040f6030925ce2717bceac07a66703");
    }
}
