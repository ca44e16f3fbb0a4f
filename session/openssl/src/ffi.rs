//! What OpenSSL 3 has and the `openssl` crate does not: callbacks for tickets and the MAC of RFC 5077.

use std::ffi::{c_char, c_int, c_long, c_uchar, c_void};

use foreign_types::ForeignTypeRef;
use openssl::asn1::Asn1Time;
use openssl::ssl::SslSessionRef;
use openssl::x509::X509Ref;
use openssl_sys::{EVP_CIPHER_CTX, EVP_MAC_CTX, OSSL_PARAM, SSL, SSL_CTX, SSL_SESSION, X509};
use rustls_pki_types::UnixTime;

/// Names a key and makes it ready, or finds it by its name. 1: done; 2: done, and the client is to get a new ticket; 0: no such
/// key; negative: the handshake fails.
pub(crate) type TicketKeyCallback = unsafe extern "C" fn(
    *mut SSL,
    name: *mut c_uchar,
    iv: *mut c_uchar,
    *mut EVP_CIPHER_CTX,
    *mut EVP_MAC_CTX,
    is_new: c_int,
) -> c_int;

/// Before a ticket is made; 0 fails the handshake.
pub(crate) type GenerateTicket = unsafe extern "C" fn(*mut SSL, *mut c_void) -> c_int;

/// What becomes of a ticket that was decrypted, or not.
pub(crate) type DecryptTicket = unsafe extern "C" fn(
    *mut SSL,
    *mut SSL_SESSION,
    name: *const c_uchar,
    name_length: usize,
    status: c_int,
    *mut c_void,
) -> c_int;

/// `SSL_TICKET_STATUS`.
pub(crate) const SUCCESS: c_int = 5;
pub(crate) const SUCCESS_RENEW: c_int = 6;

/// `SSL_TICKET_RETURN`.
pub(crate) const IGNORE_RENEW: c_int = 2;
pub(crate) const USE: c_int = 3;
pub(crate) const USE_RENEW: c_int = 4;

#[expect(unsafe_code, reason = "declarations of OpenSSL's own functions, as its headers have them")]
unsafe extern "C" {
    pub(crate) fn SSL_CTX_set_tlsext_ticket_key_evp_cb(context: *mut SSL_CTX, callback: Option<TicketKeyCallback>) -> c_int;
    pub(crate) fn SSL_CTX_set_session_ticket_cb(
        context: *mut SSL_CTX,
        generate: Option<GenerateTicket>,
        decrypt: Option<DecryptTicket>,
        argument: *mut c_void,
    ) -> c_int;
    pub(crate) fn SSL_CTX_set_timeout(context: *mut SSL_CTX, seconds: c_long) -> c_long;
    pub(crate) fn SSL_get_session(ssl: *const SSL) -> *mut SSL_SESSION;
    pub(crate) fn SSL_SESSION_get0_peer(session: *mut SSL_SESSION) -> *mut X509;
    pub(crate) fn SSL_SESSION_set1_ticket_appdata(session: *mut SSL_SESSION, data: *const c_void, length: usize) -> c_int;
    pub(crate) fn SSL_SESSION_get0_ticket_appdata(
        session: *mut SSL_SESSION,
        data: *mut *mut c_void,
        length: *mut usize,
    ) -> c_int;
    pub(crate) fn OSSL_PARAM_construct_utf8_string(key: *const c_char, value: *mut c_char, length: usize) -> OSSL_PARAM;
}

/// `EVP_MAX_IV_LENGTH`.
pub(crate) const IV_LEN: usize = 16;

/// Whether the certificate of the session's client, if it had one, is over.
#[expect(unsafe_code, reason = "a certificate that belongs to the session")]
pub(crate) fn is_client_over(session: &SslSessionRef, now: UnixTime) -> bool {
    // SAFETY: the session is valid, and so is its certificate for as long.
    let certificate = unsafe {
        let certificate = SSL_SESSION_get0_peer(session.as_ptr());
        if certificate.is_null() {
            return false;
        }
        X509Ref::from_ptr(certificate)
    };
    let now = i64::try_from(now.as_secs()).ok().and_then(|now| Asn1Time::from_unix(now).ok());
    now.is_none_or(|now| certificate.not_after() <= now)
}
