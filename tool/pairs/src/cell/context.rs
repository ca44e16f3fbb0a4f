//! The context of one side of a case.

use reprise_model::{KeyPairs, Kind, PskMode, ServerChain, Version};
use reprise_stack::{Context, ContextOptions, Pem, SessionMode, Side, Stack, StackPsk};
use reprise_wire::NamedGroup;
use rustls_pki_types::UnixTime;

use crate::case::{Case, NO_GROUP};
use crate::certificates::{Certificates, PSK_IDENTITY, SERVER_NAME};
use crate::failed::{Failed, FailureKind};

/// One side's context, or why there is none.
///
/// # Errors
/// Where the library cannot do it, or refuses.
pub fn side_context(
    stack: &dyn Stack,
    side: Side,
    case: Case,
    certificates: &Certificates,
) -> Result<Box<dyn Context>, Failed> {
    // Under TLS 1.2 the list also says which curves a key may be on (RFC 8422 §5.1): the key's own stands last in it. Which group was
    // used is observed.
    let in_vain = case.shared_in_vain().filter(|_| side == Side::Client);
    let hybrid = Some(NamedGroup::X25519MLKEM768).filter(|_| case.hybrid_share && side == Side::Client);
    let mut groups: Vec<u16> = in_vain.or(hybrid).map(|group| group.0).into_iter().chain([case.group]).collect();
    groups.retain(|group| *group != NO_GROUP.0);
    groups.extend(
        case.key.curve().map(|curve| curve.0).filter(|curve| case.version == Version::Tls12 && *curve != case.group),
    );
    let options = options(side, &case, certificates, &groups);
    stack.about().check(&options)?;
    if case.mutual && certificates.client_chain.is_empty() {
        return Err(Failed::unsupported(format!("there is no client certificate with {}", case.key)));
    }
    stack.context(&options).map_err(|error| {
        let Failed { mut outcome, mut reason } = error.into();
        // The certificates are well-formed: a library that refuses them does not know their algorithm.
        if case.key.has_ml_dsa() && outcome == FailureKind::Failed {
            outcome = FailureKind::Unsupported;
            reason = format!("it takes no certificate of {} ({reason})", case.key);
        }
        let name = if side == Side::Client { "client" } else { "server" };
        Failed::new(outcome, format!("the {name}: {reason}"))
    })
}

/// One record, as most servers allow.
const MAX_EARLY_DATA: u32 = 1 << 14;

pub(super) fn options<'a>(
    side: Side,
    case: &'a Case,
    certificates: &'a Certificates,
    groups: &'a [u16],
) -> ContextOptions<'a> {
    let psk = (case.kind == Kind::Psk).then_some(StackPsk { identity: PSK_IDENTITY, key: &certificates.psk });
    let identity = match side {
        _ if psk.is_some() => None,
        Side::Server => Some(Pem { chain: &certificates.server_chain, key: &certificates.server_key }),
        Side::Client => case.mutual.then_some(Pem { chain: &certificates.client_chain, key: &certificates.client_key }),
    };
    ContextOptions {
        side,
        version: case.version,
        sessions: match case.kind {
            Kind::Full | Kind::Psk => SessionMode::Off,
            Kind::Id => SessionMode::Id,
            Kind::Ticket | Kind::Early => SessionMode::Ticket,
        },
        suites: std::slice::from_ref(&case.suite),
        groups,
        identity,
        trust: (psk.is_none() && (side == Side::Client || case.mutual)).then_some(certificates.root.as_str()),
        require_client_certificate: case.mutual,
        server_name: SERVER_NAME,
        psk,
        psk_mode: if case.psk_ke { PskMode::PskKe } else { PskMode::PskDheKe },
        max_early_data: if case.kind == Kind::Early { MAX_EARLY_DATA } else { 0 },
        key_pairs: if side == Side::Server { case.key_pairs } else { KeyPairs::Fresh },
        max_fragment: case.max_fragment,
        releases_buffers: case.releases_buffers,
        shares_all_groups: case.hybrid_share && side == Side::Client,
        remembers_chains: side == Side::Client && case.chain == ServerChain::Cached,
        date: UnixTime::now(),
    }
}
