//! The runner's flags. A flag that begins with `-on-initial`, `-on-resume` or `-on-retry` holds for the first connection,
//! for those that resume, or for what follows a rejection of early data; any other holds for all.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use reprise_model::EarlyData;
use reprise_wire::{NamedGroup, SignatureScheme};

use crate::failure::Failure;
use crate::settings::Settings;

/// Everything that the runner said.
pub(crate) struct Invocation {
    pub(crate) address: Address,
    pub(crate) resume_count: u32,
    pub(crate) initial: Settings,
    pub(crate) resume: Settings,
    /// What holds once early data was rejected.
    pub(crate) retry: Settings,
}

/// Where the runner listens, and as whom it knows us.
pub(crate) struct Address {
    pub(crate) socket: SocketAddr,
    pub(crate) shim_id: u64,
}

impl Invocation {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let (mut port, mut ipv6, mut shim_id, mut resume_count) = (0, false, 0, 0);
        let (mut initial, mut resume, mut retry) = (Settings::default(), Settings::default(), Settings::default());
        let mut values = arguments.iter().map(String::as_str);
        while let Some(flag) = values.next() {
            match flag {
                "-port" => port = next(flag, &mut values)?,
                "-shim-id" => shim_id = next(flag, &mut values)?,
                "-ipv6" => ipv6 = true,
                "-resume-count" => resume_count = next(flag, &mut values)?,
                _ => {
                    let (phase, name) = phase_of(flag);
                    let settings: &mut [&mut Settings] = match phase {
                        Phase::Initial => &mut [&mut initial],
                        Phase::Resume => &mut [&mut resume],
                        Phase::Retry => &mut [&mut retry],
                        Phase::All => &mut [&mut initial, &mut resume, &mut retry],
                    };
                    apply(name, &mut values, settings)?;
                }
            }
        }
        let socket = match ipv6 {
            true => SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
            false => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        };
        Ok(Self { address: Address { socket, shim_id }, resume_count, initial, resume, retry })
    }
}

enum Phase {
    All,
    Initial,
    Resume,
    Retry,
}

fn phase_of(flag: &str) -> (Phase, &str) {
    let prefixes = [("-on-initial", Phase::Initial), ("-on-resume", Phase::Resume), ("-on-retry", Phase::Retry)];
    let found = prefixes.into_iter().find_map(|(prefix, phase)| Some((phase, flag.strip_prefix(prefix)?)));
    found.unwrap_or((Phase::All, flag))
}

/// Writes what one flag says into the settings that it holds for.
fn apply<'a>(flag: &str, values: &mut impl Iterator<Item = &'a str>, settings: &mut [&mut Settings]) -> Result<(), Failure> {
    // A flag with a value reads it once, for all the settings that it holds for.
    macro_rules! set {
        (|$it:ident| $write:expr) => {
            settings.iter_mut().for_each(|$it| $write)
        };
        ($value:ident, |$it:ident| $write:expr) => {{
            let $value = next(flag, values)?;
            settings.iter_mut().for_each(|$it| $write)
        }};
    }
    match flag {
        // What is offered.
        "-min-version" => set!(version, |it| it.min_version = version),
        "-max-version" => set!(version, |it| it.max_version = Some(version)),
        "-no-tls12" => set!(|it| it.no_tls12 = true),
        "-no-tls13" => set!(|it| it.no_tls13 = true),
        // The engine never offers these.
        "-no-tls1" | "-no-tls11" => {}
        "-curves" => set!(group, |it| it.curves.push(NamedGroup(group))),
        "-key-shares" => set!(group, |it| it.key_shares.push(NamedGroup(group))),
        "-host-name" => set!(name, |it| it.host_name = Some(String::clone(&name))),
        "-advertise-alpn" => {
            let list: String = next(flag, values)?;
            let protocols = protocols(list.as_bytes()).ok_or_else(|| Failure::Flags(format!("{flag}: {list:?}")))?;
            set!(|it| it.advertise_alpn.clone_from(&protocols));
        }
        "-no-ticket" => set!(|it| it.no_ticket = true),
        "-enable-early-data" => set!(|it| it.enable_early_data = true),

        // Who authenticates, and how.
        "-cert-file" => set!(path, |it| it.cert_file = Some(PathBuf::clone(&path))),
        "-key-file" => set!(path, |it| it.key_file = Some(PathBuf::clone(&path))),
        "-signing-prefs" => set!(scheme, |it| it.signing_prefs.push(SignatureScheme(scheme))),
        "-verify-prefs" => set!(scheme, |it| it.verify_prefs.push(SignatureScheme(scheme))),
        "-verify-peer" => set!(|it| it.verify_peer = true),
        "-verify-fail" => set!(|it| it.verify_fail = true),
        // The root is the runner's own: what the verifier says is told by -verify-fail.
        "-trust-cert" => discard(flag, values)?,

        // What is done.
        "-async" => set!(|it| it.asynchronous = true),
        "-shim-writes-first" => set!(|it| it.shim_writes_first = true),
        "-shim-initial-write" => set!(data, |it| it.shim_initial_write = Some(String::into_bytes(String::clone(&data)))),
        "-repeat-shim-initial-write" => set!(count, |it| it.repeat_shim_initial_write = Some(count)),
        "-write-different-record-sizes" => set!(|it| it.write_different_record_sizes = true),
        "-key-update" => set!(|it| it.key_update = true),
        "-key-update-before-read" => set!(|it| it.key_update_before_read = true),
        "-shim-shuts-down" => set!(|it| it.shim_shuts_down = true),
        "-check-close-notify" => set!(|it| it.check_close_notify = true),
        "-export-keying-material" => set!(length, |it| it.export_keying_material = length),
        "-export-label" => set!(label, |it| it.export_label = String::clone(&label)),
        "-export-context" => set!(context, |it| it.export_context = String::clone(&context)),
        "-use-export-context" => set!(|it| it.use_export_context = true),
        "-resumption-delay" => set!(seconds, |it| it.resumption_delay = seconds),

        // What is expected.
        "-expect-version" => set!(version, |it| it.expect_version = Some(version)),
        "-expect-cipher" | "-expect-cipher-aes" => set!(suite, |it| it.expect_cipher = Some(suite)),
        "-expect-curve-id" => set!(group, |it| it.expect_curve_id = Some(NamedGroup(group))),
        "-expect-peer-signature-algorithm" => {
            set!(scheme, |it| it.expect_peer_signature_algorithm = Some(SignatureScheme(scheme)));
        }
        "-expect-alpn" => set!(name, |it| it.expect_alpn = String::clone(&name)),
        "-expect-hrr" => set!(|it| it.expect_hrr = Some(true)),
        "-expect-no-hrr" => set!(|it| it.expect_hrr = Some(false)),
        "-expect-extended-master-secret" => set!(|it| it.expect_extended_master_secret = true),
        "-expect-session-miss" => set!(|it| it.expect_session_miss = true),
        "-expect-no-session" => set!(|it| it.expect_no_session = true),
        "-expect-ticket-renewal" => set!(|it| it.expect_ticket_renewal = true),
        "-expect-ticket-supports-early-data" => set!(|it| it.expect_ticket_supports_early_data = true),
        "-expect-accept-early-data" => set!(|it| it.expect_early_data = Some(EarlyData::Accepted)),
        "-expect-reject-early-data" => set!(|it| it.expect_early_data = Some(EarlyData::Rejected)),
        "-expect-no-offer-early-data" => set!(|it| it.expect_no_offer_early_data = true),
        // BoringSSL's words for why early data was not offered or not taken.
        "-expect-early-data-reason" => discard(flag, values)?,
        "-expect-peer-cert-file" => set!(path, |it| it.expect_peer_cert_file = Some(PathBuf::clone(&path))),
        // Of a machine without AES instructions.
        "-expect-cipher-no-aes" => discard(flag, values)?,

        // These choose between functions of BoringSSL that do the same; of the engine's there is one.
        "-implicit-handshake"
        | "-no-op-extra-handshake"
        | "-handshake-twice"
        | "-peek-then-read"
        | "-partial-write"
        | "-use-custom-verify-callback"
        | "-use-old-client-cert-callback"
        | "-expect-verify-result" => {}
        // The engine answers a HelloRequest with a warning, and goes on.
        "-renegotiate-ignore" => {}
        "-expect-total-renegotiations" => {
            if next::<u32>(flag, values)? > 0 {
                return Err(Failure::Unimplemented("renegotiation".to_owned()));
            }
        }
        "-read-size" | "-write-settings" => discard(flag, values)?,
        _ => return Err(Failure::Unimplemented(flag.to_owned())),
    }
    Ok(())
}

fn next<'a, T: FromStr>(flag: &str, values: &mut impl Iterator<Item = &'a str>) -> Result<T, Failure> {
    let value = values.next().ok_or_else(|| Failure::Flags(format!("{flag} lacks its value")))?;
    value.parse().map_err(|_| Failure::Flags(format!("{flag}: {value:?}")))
}

fn discard<'a>(flag: &str, values: &mut impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    next::<String>(flag, values).map(drop)
}

/// A ProtocolNameList without its outer length (RFC 7301 §3.1).
fn protocols(mut list: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut protocols = Vec::new();
    while let Some((&length, rest)) = list.split_first() {
        let (protocol, rest) = rest.split_at_checked(usize::from(length))?;
        protocols.push(protocol.to_vec());
        list = rest;
    }
    Some(protocols)
}
