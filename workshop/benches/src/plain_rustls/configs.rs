//! Configurations of both sides that speak one version, one suite and one group.

use std::sync::Arc;

use anyhow::Context;
use rustls::client::{ClientSessionMemoryCache, Resumption, Tls12Resumption};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::ahead::PairsAhead;
use crate::known_chain::KnownChain;
use crate::row::Row;

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

pub(crate) fn client(row: &Row) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(provider(row)?);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(&[version(row)])?;
    let builder = match row.knows_chain {
        false => builder.with_root_certificates(roots(row)?),
        true => builder.dangerous().with_custom_certificate_verifier(KnownChain::new(roots(row)?, provider)?),
    };
    let mut config = match row.mutual {
        false => builder.with_no_client_auth(),
        true => {
            let (chain, key) = identity(row, "client-chain.pem", "client-key.pem")?;
            builder.with_client_auth_cert(chain, key)?
        }
    };
    let cache = || Resumption::store(Arc::new(ClientSessionMemoryCache::new(4)));
    config.resumption = match row.kind.as_str() {
        "full" => Resumption::disabled(),
        "id" => cache().tls12_resumption(Tls12Resumption::SessionIdOnly),
        _ => cache(),
    };
    Ok(config)
}

/// With where key pairs are made ahead.
pub(crate) fn server(row: &Row) -> anyhow::Result<(ServerConfig, Option<&'static PairsAhead>)> {
    let mut provider = provider(row)?;
    let mut pairs = None;
    if row.makes_pairs_ahead {
        let group = provider.kx_groups.first().copied().context("no group")?;
        // rustls takes groups that live as long as the process.
        let ahead: &'static PairsAhead = Box::leak(Box::new(PairsAhead::new(group)));
        provider.kx_groups = vec![ahead as &dyn SupportedKxGroup];
        pairs = Some(ahead);
    }
    let provider = Arc::new(provider);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(&[version(row)])?;
    let builder = match row.mutual {
        false => builder.with_no_client_auth(),
        true => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(row)?), provider).build()?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let (chain, key) = identity(row, "chain.pem", "key.pem")?;
    let mut config = builder.with_single_cert(chain, key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    match row.kind.as_str() {
        "id" => config.session_storage = ServerSessionMemoryCache::new(1024),
        "ticket" => {
            config.ticketer = aws_lc_rs::Ticketer::new()?;
            config.send_tls13_tickets = 1;
        }
        _ => {}
    }
    Ok((config, pairs))
}

fn version(row: &Row) -> &'static SupportedProtocolVersion {
    if row.is_tls13 { &rustls::version::TLS13 } else { &rustls::version::TLS12 }
}

/// The suite's and the group's names in rustls are IANA's, but for the prefix of a suite of TLS 1.3 and for the case of letters.
fn provider(row: &Row) -> anyhow::Result<CryptoProvider> {
    let suite = if row.is_tls13 { row.suite.replacen("TLS_", "TLS13_", 1) } else { row.suite.clone() };
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites.retain(|it| format!("{:?}", it.suite()) == suite);
    let groups = aws_lc_rs::ALL_KX_GROUPS.iter().copied();
    provider.kx_groups = groups.filter(|it| format!("{:?}", it.name()).eq_ignore_ascii_case(&row.group)).collect();
    Ok(provider)
}

fn roots(row: &Row) -> anyhow::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for root in CertificateDer::pem_file_iter(row.certificates.join("root.pem"))? {
        roots.add(root?)?;
    }
    Ok(roots)
}

fn identity(row: &Row, chain: &str, key: &str) -> anyhow::Result<Identity> {
    let chain = CertificateDer::pem_file_iter(row.certificates.join(chain))?.collect::<Result<_, _>>()?;
    Ok((chain, PrivateKeyDer::from_pem_file(row.certificates.join(key))?))
}
