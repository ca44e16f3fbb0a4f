/* What AWS-LC and BoringSSL name or do otherwise than OpenSSL, for openssl.c. */
#ifndef REPRISE_SHIM_BORINGSSL_H
#define REPRISE_SHIM_BORINGSSL_H

#include <string.h>

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "memory.h"

#ifdef OPENSSL_IS_AWSLC
#define LIBRARY "AWS-LC"
#define LIBRARY_VERSION AWSLC_VERSION_NUMBER_STRING
#else /* it has no version: the crate's, by the build */
#define LIBRARY "BoringSSL"
#define SSL_get0_peer_certificate(ssl) SSL_get0_peer_certificates(ssl)

static inline const SSL_CIPHER *SSL_CIPHER_find(SSL *ssl, const uint8_t *number)
{
    return (void)ssl, SSL_get_cipher_by_value((uint16_t)(number[0] << 8 | number[1]));
}

/* It has three of TLS 1.3 in an order of its own. AES-128 is the first on a CPU that computes AES. */
static inline int SSL_CTX_set_ciphersuites(SSL_CTX *ssl, const char *list) { return (void)ssl, !strcmp(list, "TLS_AES_128_GCM_SHA256"); }
#endif

#define SSL_CTX_set_security_level(ssl, level) ((void)0) /* there is none */

/* The process has one state of the library, and no other can be made. */
#define LIBRARY_CAPABILITIES REPRISE_CAN_RELEASE_BUFFERS
typedef void library_context;
static library_context *new_library(void) { return NULL; }
static void free_library(library_context *library) { (void)library; }
static X509 *read_certificate(BIO *from, library_context *library) { return (void)library, PEM_read_bio_X509(from, NULL, NULL, NULL); }
static EVP_PKEY *read_key(BIO *from, library_context *library) { return (void)library, PEM_read_bio_PrivateKey(from, NULL, NULL, NULL); }

#ifdef OPENSSL_IS_AWSLC
static SSL_CTX *new_ssl(library_context *library, const SSL_METHOD *method) { return (void)library, SSL_CTX_new(method); }

/* Beside a classical group, a client sends a share of the hybrid that it has, and has no call against it. */
static int share_key_of(SSL *ssl, uint16_t group) { return (void)ssl, (void)group, 1; }
#else
/* It has ML-DSA, and offers it where it is told to. */
static SSL_CTX *new_ssl(library_context *library, const SSL_METHOD *method)
{
    static const uint16_t schemes[] = {
        SSL_SIGN_ECDSA_SECP256R1_SHA256, SSL_SIGN_RSA_PSS_RSAE_SHA256, SSL_SIGN_RSA_PKCS1_SHA256, SSL_SIGN_ECDSA_SECP384R1_SHA384,
        SSL_SIGN_RSA_PSS_RSAE_SHA384, SSL_SIGN_RSA_PKCS1_SHA384, SSL_SIGN_RSA_PSS_RSAE_SHA512, SSL_SIGN_RSA_PKCS1_SHA512,
        SSL_SIGN_ML_DSA_44, SSL_SIGN_ML_DSA_65, SSL_SIGN_ML_DSA_87};
    SSL_CTX *ssl = ((void)library, SSL_CTX_new(method));
    if (ssl && !SSL_CTX_set_verify_algorithm_prefs(ssl, schemes, sizeof schemes / sizeof *schemes)) return SSL_CTX_free(ssl), NULL;
    return ssl;
}

/* Else it would send a share of another group too. */
static int share_key_of(SSL *ssl, uint16_t group) { return SSL_set1_client_key_shares(ssl, &group, 1); }
#endif

/* No finite field: cipher suites with DHE are not there, and a list of groups is told by IANA's numbers. */
static int pin_groups(SSL_CTX *ssl, const reprise_options *options)
{
    for (size_t i = 0; i < options->groups_length; i++) {
        uint16_t group = options->groups[i];
        if ((group >= 256 && group < 512) || (group >= 512 && options->version == TLS1_2_VERSION)) return 0;
    }
    return !options->groups_length || SSL_CTX_set1_group_ids(ssl, options->groups, options->groups_length) == 1;
}

static uint16_t negotiated_group(const SSL *ssl)
{
    return SSL_version(ssl) == TLS1_2_VERSION && SSL_session_reused(ssl) ? 0 : SSL_get_group_id(ssl);
}

/* Buffers are as large as the record that is in them, and released with it. */
static int use_buffers(SSL_CTX *ssl, const reprise_options *options) { return (void)ssl, !max_fragment(options); }

/* With what a handshake alone needs. */
static void shed_configuration(SSL *ssl) { SSL_set_shed_handshake_config(ssl, 1); }

/* A client's sessions come by a callback, and its connection keeps the newest. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    SSL_SESSION_free(SSL_get_app_data(ssl));
    return SSL_set_app_data(ssl, session);
}

static void tell_sessions(SSL_CTX *ssl)
{
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ssl, keep_session);
}

static SSL_SESSION *newest_session(SSL *ssl)
{
    SSL_SESSION *session = SSL_get_app_data(ssl);
    SSL_set_app_data(ssl, NULL);
    return session;
}

static void drop_session(SSL *ssl) { SSL_SESSION_free(newest_session(ssl)); }

/* A server keeps its tickets back until it writes; nothing will do. */
static void send_tickets(SSL *ssl)
{
    if (SSL_is_server(ssl)) SSL_write(ssl, NULL, 0);
}

#endif
