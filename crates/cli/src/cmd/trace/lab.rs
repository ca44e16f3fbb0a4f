//! Without a target: one server of our own, which resumes in the way that is asked for.

use anyhow::Context;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, Resumption, ServerSpec};
use reprise_model::Kind;
use rustls_pki_types::CertificateDer;

/// What a request takes, and more.
const MAX_EARLY_DATA: u32 = 16_384;

/// A server in this process, and whom to trust to know it.
pub(super) struct Lab {
    pub(super) server: EmbeddedServer,
    pub(super) authority: CertificateDer<'static>,
}

impl Lab {
    /// By ticket, unless `kind` asks for another way.
    pub(super) fn start(kind: Option<Kind>) -> anyhow::Result<Self> {
        let authority = Authority::with_key(KeyKind::P256).context("cannot make a certificate authority")?;
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).context("cannot make a certificate")?;
        let (resumption, max_early_data) = match kind {
            Some(Kind::Id) => (Resumption::Id, 0),
            // rustls takes early data of sessions that it stores alone.
            Some(Kind::Early) => (Resumption::Id, MAX_EARLY_DATA),
            _ => (Resumption::Ticket, 0),
        };
        let config = EmbeddedConfig { resumption, max_early_data, ..EmbeddedConfig::new(identity) };
        let server = EmbeddedServer::start(config).context("cannot start an embedded server")?;
        Ok(Self { server, authority: authority.certificate().clone() })
    }
}
