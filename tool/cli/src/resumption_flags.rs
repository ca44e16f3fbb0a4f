//! The flags that say what a connection offers to resume under TLS 1.3, and how.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use clap::builder::PossibleValue;
use reprise_engine::suite::{Hash, Suite};
use reprise_engine::{ExternalPsk, Tls13Extensions};
use reprise_model::{Kind, PskMode, Version};
use reprise_probe::Options;
use reprise_wire::extensions::TicketRequest;
use zeroize::Zeroizing;

use crate::connection_flags::check_ech_grease;
use crate::values::{explained, one_of};

/// What is offered to resume, and how.
#[derive(Args, Clone)]
#[command(next_help_heading = "Resumption")]
pub(crate) struct ResumptionArgs {
    /// PSK modes to offer under TLS 1.3, for tickets and external PSKs
    #[arg(long, value_parser = one_of(modes()), value_name = "MODE", default_value = "psk_dhe_ke")]
    psk_mode: &'static [PskMode],
    /// Identity of an external PSK, for the kind psk (TLS 1.3)
    #[arg(long, value_name = "NAME", value_parser = parse_identity)]
    pub(crate) psk_identity: Option<String>,
    /// Key of the PSK, in hexadecimal; visible in the process list, unlike --psk-key-file
    #[arg(long, value_name = "HEX", requires = "psk_identity", value_parser = parse_key, conflicts_with = "psk_key_file")]
    psk_key: Option<Zeroizing<Vec<u8>>>,
    /// Read the key of the PSK, in hexadecimal, from this file
    #[arg(long, value_name = "FILE", requires = "psk_identity")]
    psk_key_file: Option<PathBuf>,
    /// Hash of the PSK
    #[arg(long, value_parser = one_of(hashes()), value_name = "HASH", default_value = "sha256", requires = "psk_identity")]
    psk_hash: Hash,
    /// Request this many tickets after a full handshake, and after a resumed one (default 1): RFC 9149
    #[arg(long, value_name = "NEW[,RESUMED]", value_parser = parse_ticket_request)]
    ticket_requests: Option<TicketRequest>,
}

/// The hashes of TLS 1.3's suites.
fn hashes() -> [(PossibleValue, Hash); 2] {
    let sha256 = explained("sha256", "As in TLS_AES_128_GCM_SHA256 and TLS_CHACHA20_POLY1305_SHA256");
    [(sha256, Hash::Sha256), (explained("sha384", "As in TLS_AES_256_GCM_SHA384"), Hash::Sha384)]
}

/// The modes of RFC 9846, section 4.3.9, by their names there.
fn modes() -> [(PossibleValue, &'static [PskMode]); 3] {
    [
        (explained("psk_dhe_ke", "With a fresh key exchange"), &[PskMode::PskDheKe]),
        (explained("psk_ke", "Without a key exchange: no forward secrecy"), &[PskMode::PskKe]),
        (explained("both", "Offer both; the server chooses"), &[PskMode::PskDheKe, PskMode::PskKe]),
    ]
}

impl ResumptionArgs {
    /// Adds what these flags say. Refuses versions and kinds in `options` that cannot be offered.
    pub(crate) fn add_to(self, options: Options) -> anyhow::Result<Options> {
        let is_tls12 = options.versions == [Version::Tls12];
        if is_tls12 && (self.psk_mode != [PskMode::PskDheKe] || self.ticket_requests.is_some()) {
            bail!("--psk-mode and --ticket-requests are of TLS 1.3: remove them, or add 1.3 to --tls");
        }
        check_ech_grease(options.ech_grease, &options.versions)?;
        let psk = self.psk()?;
        let tls13 = Tls13Extensions { psk_modes: self.psk_mode.to_vec(), ticket_request: self.ticket_requests };
        let options = Options { tls13, psk, ..options };
        check(&options)?;
        Ok(options)
    }

    fn psk(&self) -> anyhow::Result<Option<ExternalPsk>> {
        let Some(identity) = &self.psk_identity else { return Ok(None) };
        let key = match (&self.psk_key, &self.psk_key_file) {
            (Some(key), _) => key.clone(),
            (None, Some(path)) => read_key(path)?,
            (None, None) => bail!("--psk-identity needs its key: --psk-key HEX or --psk-key-file FILE"),
        };
        Ok(Some(ExternalPsk { identity: identity.as_bytes().to_vec(), key, hash: self.psk_hash }))
    }
}

/// Refuses kinds that lack what they need: a version, a PSK, a suite, a request that may be sent early.
fn check(options: &Options) -> anyhow::Result<()> {
    let Options { kinds, versions, .. } = options;
    if kinds.contains(&Kind::Id) && !versions.is_empty() && !versions.contains(&Version::Tls12) {
        bail!("TLS 1.3 has no session IDs: use the kind ticket, or add --tls 1.2");
    }
    if kinds.contains(&Kind::Psk) && options.psk.is_none() {
        bail!("the kind psk needs a PSK: --psk-identity NAME with --psk-key HEX or --psk-key-file FILE");
    }
    if let Some(psk) = &options.psk
        && !offers_suite(options, |suite| suite.version == Version::Tls13 && suite.hash == psk.hash)
    {
        bail!("no suite in --ciphers uses the hash of the PSK: set it with --psk-hash");
    }
    match &options.request {
        None if kinds.contains(&Kind::Early) => {
            bail!("the kind early needs a request: remove --no-request")
        }
        Some(_) if kinds.contains(&Kind::Early) && options.http_request().is_none() => {
            let flag = if options.asks_dns() { "--alpn dot" } else { "--starttls" };
            bail!("the kind early needs an HTTP request: remove {flag}")
        }
        Some(request) if kinds.contains(&Kind::Early) && !request.may_be_replayed() => bail!(
            "{} is not sent as early data: an attacker could replay it, and only GET, HEAD, OPTIONS and TRACE are safe to \
                repeat (RFC 8470, section 4)",
            request.method
        ),
        _ => {}
    }
    check_suites(options)?;
    for kind in [Kind::Psk, Kind::Early] {
        if kinds.contains(&kind) && !versions.is_empty() && !versions.contains(&Version::Tls13) {
            bail!("the kind {kind} requires TLS 1.3: remove --tls, or add 1.3");
        }
    }
    if options.psk.is_some() && *versions == [Version::Tls12] {
        bail!("a PSK requires TLS 1.3: remove --tls, or add 1.3");
    }
    Ok(())
}

/// That `--ciphers` leaves each version a suite that is named, and each that a kind is of alone.
fn check_suites(options: &Options) -> anyhow::Result<()> {
    let Options { kinds, versions, .. } = options;
    for version in [Version::Tls12, Version::Tls13] {
        let wants = match kinds.iter().find(|kind| kind.only_version() == Some(version)) {
            Some(kind) => format!("the kind {kind}"),
            None if versions.contains(&version) => format!("--tls {}", version.number()),
            None => continue,
        };
        if !offers_suite(options, |suite| suite.version == version) {
            bail!("--ciphers has no suite of {version}, which {wants} needs: add one, or remove --ciphers");
        }
    }
    Ok(())
}

fn offers_suite(options: &Options, is_it: impl Fn(&Suite) -> bool) -> bool {
    let mut suites = options.cipher_suites.iter().filter_map(|&id| reprise_engine::suite::find(id));
    options.cipher_suites.is_empty() || suites.any(is_it)
}

fn read_key(path: &Path) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    let text = fs::read_to_string(path).map(Zeroizing::new);
    let text = text.with_context(|| format!("cannot read the PSK in {}", path.display()))?;
    parse_key(text.trim()).map_err(|error| anyhow!("the PSK in {}: {error}", path.display()))
}

fn parse_ticket_request(text: &str) -> Result<TicketRequest, String> {
    let count =
        |text: &str| text.parse().map_err(|_| format!("invalid number of tickets '{text}': 0 to 255, such as 4 or 4,1"));
    let (new, resumed) = text.split_once(',').unwrap_or((text, "1"));
    Ok(TicketRequest { new_session_count: count(new)?, resumption_count: count(resumed)? })
}

fn parse_identity(text: &str) -> Result<String, String> {
    match text.len() {
        0 => Err("an identity has at least one byte".to_owned()),
        1..=MAX_IDENTITY => Ok(text.to_owned()),
        _ => Err(format!("an identity has at most {MAX_IDENTITY} bytes")),
    }
}

/// The key is not repeated in the error: it may be nearly right.
fn parse_key(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let key = text.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>().map(Zeroizing::new);
    match key {
        Some(key) if (1..=MAX_KEY).contains(&key.len()) => Ok(key),
        Some(_) => Err(format!("a key has 1 to {MAX_KEY} bytes")),
        None => Err("a key is an even number of hexadecimal digits".to_owned()),
    }
}

/// The ClientHello must stay within one record.
const MAX_IDENTITY: usize = 4096;
const MAX_KEY: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_asked_for_by_number() {
        let request = |new_session_count, resumption_count| Ok(TicketRequest { new_session_count, resumption_count });
        assert_eq!(parse_ticket_request("4"), request(4, 1));
        assert_eq!(parse_ticket_request("0,255"), request(0, 255));
        for wrong in ["", "256", "-1", "1,", "1,2,3", "many"] {
            assert!(parse_ticket_request(wrong).unwrap_err().contains("0 to 255"), "{wrong}");
        }
    }

    #[test]
    fn keys_are_hexadecimal_and_not_repeated() {
        assert_eq!(*parse_key("00fFa0").unwrap(), [0x00, 0xFF, 0xA0]);
        for wrong in ["", "0", "0g", "+1", "0x00", "é1", &"00".repeat(MAX_KEY + 1)] {
            let error = parse_key(wrong).unwrap_err();
            assert!(wrong.is_empty() || !error.contains(wrong), "{error}");
        }
    }
}
