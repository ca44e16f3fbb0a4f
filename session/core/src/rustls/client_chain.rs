//! The client's certificates inside a session, as rustls encodes it: they end the session when they end.
//!
//! ```text
//! name: 0, or 1 length (1) name · version (2) · suite (2) · secret: length (1) secret · EMS (1)
//! chain: 0, or 1 length (3) of each: length (3) certificate · ...
//! ```

use reprise_wire::Reader;
use rustls_pki_types::{CertificateDer, UnixTime};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::ticket::Refused;

/// The chain in a session's state, the client's own certificate first; empty if there is none.
///
/// # Errors
/// [`Refused::Altered`] where the state is not what rustls 0.23 writes: what cannot be checked is not resumed.
pub(super) fn chain(state: &[u8]) -> Result<Vec<CertificateDer<'_>>, Refused> {
    parse(&mut Reader::new(state)).map_err(|_| Refused::Altered)
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

fn parse<'a>(state: &mut Reader<'a>) -> Result<Vec<CertificateDer<'a>>, reprise_wire::Error> {
    if state.u8()? == 1 {
        state.vec8()?;
    }
    state.take(4)?;
    state.vec8()?;
    state.take(1)?;
    let mut chain = Vec::new();
    if state.u8()? == 1 {
        let mut list = Reader::new(state.vec24()?);
        while !list.is_empty() {
            chain.push(CertificateDer::from(list.vec24()?));
        }
    }
    Ok(chain)
}
