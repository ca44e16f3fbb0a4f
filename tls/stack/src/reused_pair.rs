//! One ephemeral key pair for all connections of a server, by aws-lc-rs: for comparison alone. rustls' own pairs end with their use.

use std::fmt;

use aws_lc_rs::agreement::{Algorithm, ECDH_P256, ECDH_P384, PrivateKey, UnparsedPublicKey, X25519, agree};
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved};

/// A group with one pair.
#[derive(Clone)]
pub(crate) struct ReusedPair {
    group: NamedGroup,
    // Shared with the exchanges that are under way.
    pair: std::sync::Arc<(PrivateKey, Vec<u8>)>,
}

impl ReusedPair {
    /// `None` where the group is none of these curves.
    pub(crate) fn make(group: NamedGroup) -> Option<Result<Self, Error>> {
        let algorithm: &'static Algorithm = match group {
            NamedGroup::X25519 => &X25519,
            NamedGroup::secp256r1 => &ECDH_P256,
            NamedGroup::secp384r1 => &ECDH_P384,
            _ => return None,
        };
        let made = PrivateKey::generate(algorithm).and_then(|private| {
            let public = private.compute_public_key()?.as_ref().to_vec();
            Ok(Self { group, pair: std::sync::Arc::new((private, public)) })
        });
        Some(made.map_err(|_| Error::FailedToGetRandomBytes))
    }
}

impl SupportedKxGroup for ReusedPair {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(self.clone()))
    }

    fn name(&self) -> NamedGroup {
        self.group
    }
}

impl ActiveKeyExchange for ReusedPair {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = UnparsedPublicKey::new(self.pair.0.algorithm(), peer);
        agree(&self.pair.0, peer, Error::from(PeerMisbehaved::InvalidKeyShare), |secret| Ok(SharedSecret::from(secret)))
    }

    fn pub_key(&self) -> &[u8] {
        &self.pair.1
    }

    fn group(&self) -> NamedGroup {
        self.group
    }
}

impl fmt::Debug for ReusedPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReusedPair({:?})", self.group)
    }
}
