//! Certificates of every key that is compared, made once a run.

use std::collections::BTreeMap;

use reprise_lab::{Authority, Identity, KeyKind, LabError, ServerSpec, rsa_1024_server};
use reprise_model::ServerChain;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::key::Key;

/// The name that every certificate is for.
pub(crate) const SERVER_NAME: &str = "localhost";

/// The name of the external PSK.
pub(crate) const PSK_IDENTITY: &str = "reprise compare";

/// The certificates of one key, in PEM, for both sides; or their external PSK.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Certificates {
    /// What the client trusts.
    pub root: String,
    /// What the server sends, leaf first.
    pub server_chain: String,
    /// The key of its leaf.
    pub server_key: String,
    /// The client's; empty where no client certificate of this key is made.
    pub client_chain: String,
    /// Likewise.
    pub client_key: String,
    /// The key of both sides where there is no certificate.
    pub psk: Vec<u8>,
}

impl Certificates {
    /// With these authorities in the server's chain, the leaf's issuer first.
    fn sending<const N: usize>(mut self, authorities: [Authority; N]) -> Self {
        authorities.iter().for_each(|authority| self.server_chain += &authority.pem());
        self
    }
}

/// Why there is no certificate with a key.
#[derive(Debug, Error)]
#[error("no certificate with the key {key}: {source}")]
pub struct CertificateKeyError {
    /// The key.
    pub key: Key,
    /// Why.
    pub source: LabError,
}

/// Certificates of each key that was asked for.
pub struct Keys(BTreeMap<(Key, ServerChain), Certificates>);

impl Keys {
    /// Makes them. Each chain is of its key alone: the root signs by the same kind.
    ///
    /// # Errors
    /// Where the lab cannot make one.
    pub fn make(keys: impl IntoIterator<Item = (Key, ServerChain)>) -> Result<Self, CertificateKeyError> {
        let mut made = BTreeMap::new();
        for (key, chain) in keys {
            if let std::collections::btree_map::Entry::Vacant(place) = made.entry((key, chain)) {
                place.insert(make(key, chain).map_err(|source| CertificateKeyError { key, source })?);
            }
        }
        Ok(Self(made))
    }

    /// Those of one key and chain; `None` where they were not asked for.
    pub fn of(&self, key: Key, chain: ServerChain) -> Option<&Certificates> {
        self.0.get(&(key, chain))
    }
}

fn make(key: Key, chain: ServerChain) -> Result<Certificates, LabError> {
    const PSK: [u8; 32] = [0x5a; 32];
    let of = |root: String, server: &Identity, client: Option<&Identity>| Certificates {
        root,
        server_chain: server.chain_pem().to_owned(),
        server_key: server.key_pem().to_owned(),
        client_chain: client.map(|client| client.chain_pem().to_owned()).unwrap_or_default(),
        client_key: client.map(|client| client.key_pem().to_owned()).unwrap_or_default(),
        psk: Vec::new(),
    };
    match key {
        Key::None => Ok(Certificates { psk: PSK.to_vec(), ..Certificates::default() }),
        // Signed by itself, and trusted as it is: the crypto library makes no such key.
        Key::Rsa1024 => {
            let server = rsa_1024_server()?;
            Ok(of(server.chain_pem().to_owned(), &server, None))
        }
        Key::MlDsa65Chain => {
            let root = Authority::with_key(KeyKind::MlDsa65)?;
            let issuer = root.intermediate("Reprise lab intermediate", KeyKind::MlDsa65)?;
            let server = issuer.server(&ServerSpec::new(KeyKind::MlDsa65))?;
            let server_chain = format!("{}\n{}", server.chain_pem(), issuer.pem());
            Ok(Certificates { server_chain, ..of(root.pem(), &server, None) })
        }
        Key::P256ByMlDsa65 => {
            let root = Authority::with_key(KeyKind::MlDsa65)?;
            Ok(of(root.pem(), &root.server(&ServerSpec::new(KeyKind::P256))?, None))
        }
        Key::Lab(kind) => {
            // Many verifiers take no root of Ed25519.
            let root = if kind == KeyKind::Ed25519 { KeyKind::P256 } else { kind };
            let authority = Authority::with_key(root)?;
            let client = authority.client_with_key("client.test", kind)?;
            let spec = ServerSpec::new(kind);
            let of = |server: &Identity| of(authority.pem(), server, Some(&client));
            // By the leaf's kind of key too: so a longer chain is more of the same.
            let below = |authority: &Authority, number: usize| {
                authority.intermediate(&format!("Reprise lab intermediate {number}"), root)
            };
            Ok(match chain {
                ServerChain::One => of(&authority.server(&spec)?),
                ServerChain::Two | ServerChain::Cached => {
                    let issuer = below(&authority, 1)?;
                    of(&issuer.server(&spec)?).sending([issuer])
                }
                ServerChain::Three => {
                    let first = below(&authority, 1)?;
                    let issuer = below(&first, 2)?;
                    of(&issuer.server(&spec)?).sending([issuer, first])
                }
                ServerChain::Stored => {
                    let issuer = below(&authority, 1)?;
                    let made = of(&issuer.server(&spec)?);
                    Certificates { root: made.root + &issuer.pem(), ..made }
                }
            })
        }
    }
}
