//! What OpenSSL calls in a handshake. Pointers that OpenSSL hands in are valid until the callback returns.

#![expect(unsafe_code, reason = "callbacks of a C library")]

use std::ffi::{c_int, c_long, c_uchar, c_void};
use std::ptr;
use std::slice;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use foreign_types::ForeignTypeRef;
use openssl::cipher::Cipher;
use openssl::cipher_ctx::CipherCtxRef;
use openssl::error::ErrorStack;
use openssl::ex_data::Index;
use openssl::ssl::{SslContext, SslContextBuilder, SslRef, SslSession, SslSessionRef, SslVersion};
use openssl_sys::{
    EVP_CIPHER_CTX, EVP_MAC_CTX, EVP_MAC_CTX_set_params, OSSL_PARAM_construct_end, OSSL_PARAM_construct_octet_string, SSL,
    SSL_SESSION,
};
use reprise_session::ticket::{Refused, Times};
use reprise_session::{KeyName, Random, SystemRandom, TicketKey};
use rustls_pki_types::UnixTime;

use crate::ffi::{self, IGNORE_RENEW, IV_LEN, OSSL_PARAM_construct_utf8_string, SUCCESS, SUCCESS_RENEW, USE, USE_RENEW};
use crate::sessions::Shared;

/// Where a context keeps what its callbacks know.
pub(crate) fn index() -> Result<Index<SslContext, Arc<Shared>>, ErrorStack> {
    static INDEX: OnceLock<Index<SslContext, Arc<Shared>>> = OnceLock::new();
    match INDEX.get() {
        Some(index) => Ok(*index),
        None => {
            let index = SslContext::new_ex_index()?;
            Ok(*INDEX.get_or_init(|| index))
        }
    }
}

pub(crate) fn set_lifetime(builder: &mut SslContextBuilder, seconds: u64) {
    // SAFETY: the builder's context is valid.
    unsafe { ffi::SSL_CTX_set_timeout(builder.as_ptr(), c_long::try_from(seconds).unwrap_or(c_long::MAX)) };
}

pub(crate) fn set_tickets(builder: &mut SslContextBuilder) -> Result<(), ErrorStack> {
    // SAFETY: the builder's context is valid, and the functions have the types that OpenSSL expects.
    let set = unsafe {
        ffi::SSL_CTX_set_tlsext_ticket_key_evp_cb(builder.as_ptr(), Some(ticket_key))
            & ffi::SSL_CTX_set_session_ticket_cb(builder.as_ptr(), Some(generate), Some(decrypt), ptr::null_mut())
    };
    if set == 1 { Ok(()) } else { Err(ErrorStack::get()) }
}

pub(crate) fn set_lookup(
    builder: &mut SslContextBuilder,
    lookup: impl Fn(&mut SslRef, &[u8]) -> Option<SslSession> + Send + Sync + 'static,
) {
    // SAFETY: the session is one of its own, which belongs to no context.
    unsafe { builder.set_get_session_callback(lookup) };
}

/// Offers a session.
pub(crate) fn set_session(ssl: &mut SslRef, session: &SslSessionRef) -> Result<(), ErrorStack> {
    // SAFETY: the session was decoded, and belongs to no context.
    unsafe { ssl.set_session(session) }
}

/// What the context of this connection knows.
fn shared(ssl: &SslRef) -> Option<&Arc<Shared>> {
    ssl.ssl_context().ex_data(index().ok()?)
}

const FAILED: c_int = -1;
const NO_KEY: c_int = 0;
const READY: c_int = 1;
const READY_AND_RENEW: c_int = 2;

unsafe extern "C" fn ticket_key(
    ssl: *mut SSL,
    name: *mut c_uchar,
    iv: *mut c_uchar,
    cipher: *mut EVP_CIPHER_CTX,
    mac: *mut EVP_MAC_CTX,
    is_new: c_int,
) -> c_int {
    // SAFETY: OpenSSL hands in a connection, 16 bytes for the name, EVP_MAX_IV_LENGTH for the vector, and a context of a cipher.
    let (ssl, name, iv, cipher) = unsafe {
        (
            SslRef::from_ptr(ssl),
            slice::from_raw_parts_mut(name, KeyName::LEN),
            slice::from_raw_parts_mut(iv, IV_LEN),
            CipherCtxRef::from_ptr_mut(cipher),
        )
    };
    let Some(shared) = shared(ssl) else { return NO_KEY };
    let now = shared.sessions.now();
    let ring = shared.sessions.ring.load(now);
    let current = ring.encryption_key(now);
    if is_new != 0 {
        let Some(key) = current else { return NO_KEY };
        name.copy_from_slice(&key.name().0);
        let is_ready = SystemRandom.fill(iv).is_ok() && prepare(key, iv, cipher, mac, true).is_some();
        return if is_ready { READY } else { FAILED };
    }
    let named = <[u8; KeyName::LEN]>::try_from(&*name).ok().and_then(|name| ring.decryption_key(KeyName(name), now).ok());
    let Some(key) = named else { return NO_KEY };
    if prepare(key, iv, cipher, mac, false).is_none() {
        return FAILED;
    }
    if current.is_some_and(|current| current.name() == key.name()) { READY } else { READY_AND_RENEW }
}

/// AES in CBC mode and HMAC-SHA256, as nginx and HAProxy have it: of 32 bytes the first half encrypts, of 64 the second.
fn prepare(key: &TicketKey, iv: &[u8], cipher: &mut CipherCtxRef, mac: *mut EVP_MAC_CTX, is_new: bool) -> Option<()> {
    let (first, second) = key.material().split_at_checked(key.material().len() / 2)?;
    let (algorithm, encryption, authentication) = match first.len() {
        16 => (Cipher::aes_128_cbc(), first, second),
        32 => (Cipher::aes_256_cbc(), second, first),
        _ => return None,
    };
    let (algorithm, encryption, iv) = (Some(algorithm), Some(encryption), Some(iv));
    if is_new { cipher.encrypt_init(algorithm, encryption, iv) } else { cipher.decrypt_init(algorithm, encryption, iv) }
        .ok()?;
    // SAFETY: OpenSSL hands in a context of HMAC; it copies what the parameters point to, and changes none of it.
    let is_set = unsafe {
        let parameters = [
            OSSL_PARAM_construct_octet_string(
                c"key".as_ptr(),
                authentication.as_ptr().cast_mut().cast(),
                authentication.len(),
            ),
            OSSL_PARAM_construct_utf8_string(c"digest".as_ptr(), c"SHA256".as_ptr().cast_mut(), 0),
            OSSL_PARAM_construct_end(),
        ];
        EVP_MAC_CTX_set_params(mac, parameters.as_ptr())
    };
    (is_set == 1).then_some(())
}

/// A ticket carries when its chain began: renewal does not prolong it.
unsafe extern "C" fn generate(ssl: *mut SSL, _: *mut c_void) -> c_int {
    // SAFETY: OpenSSL hands in a connection.
    let (connection, session) = unsafe { (SslRef::from_ptr(ssl), ffi::SSL_get_session(ssl)) };
    let Some(shared) = shared(connection) else { return 1 };
    let now = shared.sessions.now();
    let begun = shared.begun(connection).unwrap_or(now).min(now).as_secs().to_be_bytes();
    // SAFETY: the connection has a session, whose ticket is being made; OpenSSL copies the bytes.
    unsafe { ffi::SSL_SESSION_set1_ticket_appdata(session, begun.as_ptr().cast(), begun.len()) }
}

unsafe extern "C" fn decrypt(
    ssl: *mut SSL,
    session: *mut SSL_SESSION,
    _name: *const c_uchar,
    _name_length: usize,
    status: c_int,
    _: *mut c_void,
) -> c_int {
    if ![SUCCESS, SUCCESS_RENEW].contains(&status) {
        // No ticket, or one that does not decrypt.
        return IGNORE_RENEW;
    }
    // SAFETY: OpenSSL hands in a connection and, where it decrypted one, a session.
    let (ssl, session_ref) = unsafe { (SslRef::from_ptr_mut(ssl), SslSessionRef::from_ptr(session)) };
    let Some(shared) = shared(ssl).cloned() else { return IGNORE_RENEW };
    let (mut data, mut length) = (ptr::null_mut(), 0);
    // SAFETY: the session is valid, and so are both places.
    let begun = unsafe {
        ffi::SSL_SESSION_get0_ticket_appdata(session, &raw mut data, &raw mut length);
        // SAFETY: OpenSSL says how long it is; it belongs to the session.
        if data.is_null() { &[][..] } else { slice::from_raw_parts(data.cast::<u8>().cast_const(), length) }
    };
    let Ok(begun) = <[u8; 8]>::try_from(begun) else { return IGNORE_RENEW };
    let first_authentication = UnixTime::since_unix_epoch(Duration::from_secs(u64::from_be_bytes(begun)));
    let now = shared.sessions.now();
    // By OpenSSL's clock; how old the ticket itself may be, OpenSSL says.
    let issued = UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(session_ref.time()).unwrap_or_default()));
    let times = Times { first_authentication, issued: issued.max(first_authentication).min(now) };
    let ended = || if ffi::is_client_over(session_ref, now) { Err(Refused::ClientCertificate) } else { Ok(()) };
    if let Err(refused) = times.check(&shared.sessions.limits, now).and_then(|()| ended()) {
        tracing::debug!(reason = refused.label(), "a ticket is not resumed");
        return IGNORE_RENEW;
    }
    ssl.set_ex_data(shared.begun, first_authentication);
    // A client uses a ticket of TLS 1.3 once (RFC 9846 C.4), and comes back with the next.
    let is_used_once = ssl.version2() == Some(SslVersion::TLS1_3);
    if status == SUCCESS_RENEW || is_used_once { USE_RENEW } else { USE }
}
