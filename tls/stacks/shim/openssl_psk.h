/* An external PSK with OpenSSL's interface: by callbacks, for which the context is at hand; under TLS 1.3 it is a session. */
#ifndef REPRISE_SHIM_OPENSSL_PSK_H
#define REPRISE_SHIM_OPENSSL_PSK_H

#include <openssl/ssl.h>

#include "memory.h"

typedef struct {
    external_psk psk;
    SSL_SESSION *session;
} openssl_psk;

static inline void free_psk(openssl_psk *psk) { SSL_SESSION_free(psk->session), psk_free(&psk->psk); }

#ifndef SSL_READ_EARLY_DATA_SUCCESS

/* AWS-LC and BoringSSL have none under TLS 1.3. */
#define PSK_CAPABILITY 0
static inline int use_psk(SSL_CTX *ssl, openssl_psk *psk, const reprise_options *options)
{
    return (void)ssl, (void)psk, has_psk(options) ? REPRISE_UNSUPPORTED : REPRISE_OK;
}

#else

#define PSK_CAPABILITY REPRISE_CAN_PSK

static openssl_psk *psk_of(SSL *ssl) { return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)); }

static unsigned psk_of_client(SSL *ssl, const char *hint, char *identity, unsigned room, unsigned char *key, unsigned key_room)
{
    return (void)hint, psk_write(&psk_of(ssl)->psk, identity, room, key, key_room);
}

static unsigned psk_of_server(SSL *ssl, const char *identity, unsigned char *key, unsigned room)
{
    const external_psk *psk = &psk_of(ssl)->psk;
    return psk_is(psk, identity, strlen(identity)) ? psk_write(psk, NULL, 0, key, room) : 0;
}

static int use_session(SSL *ssl, const EVP_MD *hash, const unsigned char **identity, size_t *length, SSL_SESSION **session)
{
    const openssl_psk *psk = psk_of(ssl);
    int fits = !hash || hash == SSL_CIPHER_get_handshake_digest(SSL_SESSION_get0_cipher(psk->session));
    *session = fits && SSL_SESSION_up_ref(psk->session) ? psk->session : NULL;
    *identity = (const unsigned char *)psk->psk.identity, *length = strlen(psk->psk.identity);
    return 1;
}

static int find_session(SSL *ssl, const unsigned char *identity, size_t length, SSL_SESSION **session)
{
    const openssl_psk *psk = psk_of(ssl);
    int is_known = psk_is(&psk->psk, identity, length);
    *session = is_known && SSL_SESSION_up_ref(psk->session) ? psk->session : NULL;
    return 1;
}

/* As a session of the first suite, which does not end before the program. */
static SSL_SESSION *psk_session(SSL_CTX *ssl, const external_psk *psk, uint16_t suite)
{
    const unsigned char number[2] = {suite >> 8, suite & 255};
    SSL_SESSION *session = SSL_SESSION_new();
    SSL *probe = SSL_new(ssl);
    const SSL_CIPHER *cipher = probe ? SSL_CIPHER_find(probe, number) : NULL;
    int done = session && cipher && SSL_SESSION_set1_master_key(session, psk->key, psk->key_length)
               && SSL_SESSION_set_cipher(session, cipher) && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION)
               && SSL_SESSION_set_timeout(session, 1L << 30)
               && SSL_SESSION_set1_id_context(session, (const unsigned char *)ID_CONTEXT, sizeof ID_CONTEXT - 1);
    SSL_free(probe);
    if (done) return session;
    SSL_SESSION_free(session);
    return NULL;
}

/* A result of the header's. */
static int use_psk(SSL_CTX *ssl, openssl_psk *psk, const reprise_options *options)
{
    if (!has_psk(options)) return REPRISE_OK;
    if (!psk_copy(&psk->psk, options)) return REPRISE_NO_MEMORY;
    SSL_CTX_set_app_data(ssl, psk);
    if (options->version == TLS1_2_VERSION) {
        SSL_CTX_set_psk_client_callback(ssl, psk_of_client), SSL_CTX_set_psk_server_callback(ssl, psk_of_server);
        return REPRISE_OK;
    }
    psk->session = options->suites_length ? psk_session(ssl, &psk->psk, options->suites[0]) : NULL;
    SSL_CTX_set_psk_use_session_callback(ssl, use_session), SSL_CTX_set_psk_find_session_callback(ssl, find_session);
    return psk->session ? REPRISE_OK : REPRISE_INVALID;
}

#endif

#endif
