//! The client's certificates inside a session, as rustls encodes it: they end the session when they end.
//!
//! ```text
//! name: 0, or 1 length (1) name · version (2) · suite (2) · secret: length (1) secret · EMS (1)
//! chain: 0, or 1 length (3) of each: length (3) certificate · ...
//! ```

use rustls_pki_types::{CertificateDer, UnixTime};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::ticket::Refused;

/// The chain in a session's state, the client's own certificate first; empty if there is none.
///
/// # Errors
/// [`Refused::Altered`] where the state is not what rustls 0.23 writes: what cannot be checked is not resumed.
pub(super) fn chain(state: &[u8]) -> Result<Vec<CertificateDer<'_>>, Refused> {
    let mut rest = state;
    parse(&mut rest).ok_or(Refused::Altered)
}

/// The earliest end of all certificates; `None` if there are none.
///
/// # Errors
/// [`Refused::ClientCertificate`] for one that cannot be read.
pub(super) fn end(chain: &[CertificateDer<'_>]) -> Result<Option<UnixTime>, Refused> {
    let ends = chain.iter().map(|certificate| {
        let parsed = Certificate::from_der(certificate).map_err(|_| Refused::ClientCertificate)?;
        Ok(UnixTime::since_unix_epoch(parsed.tbs_certificate.validity.not_after.to_unix_duration()))
    });
    Ok(ends.collect::<Result<Vec<_>, Refused>>()?.into_iter().min())
}

/// The first second in which a certificate that ends at `end` is over: the last one is its own (RFC 5280 §4.1.2.5).
pub(super) fn is_over(end: UnixTime, now: UnixTime) -> bool {
    now > end
}

fn parse<'a>(rest: &mut &'a [u8]) -> Option<Vec<CertificateDer<'a>>> {
    if number(rest, 1)? == 1 {
        prefixed(rest, 1)?;
    }
    take(rest, 4)?;
    prefixed(rest, 1)?;
    take(rest, 1)?;
    let mut chain = Vec::new();
    if number(rest, 1)? == 1 {
        let mut list = prefixed(rest, 3)?;
        while !list.is_empty() {
            chain.push(CertificateDer::from(prefixed(&mut list, 3)?));
        }
    }
    Some(chain)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

fn number(rest: &mut &[u8], bytes: usize) -> Option<usize> {
    Some(take(rest, bytes)?.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
}

fn prefixed<'a>(rest: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let length = number(rest, bytes)?;
    take(rest, length)
}
