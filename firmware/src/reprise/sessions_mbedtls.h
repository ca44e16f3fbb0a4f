/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The session cache and session tickets in an mbedtls_ssl_config that exists already (Mbed TLS 2.28 and 3.6, TLS 1.2): bound to the
 * name that the client asks for and to extended_master_secret (RFC 7627 section 5.3), with a lifetime, and wiped. One call in
 * the place of another:
 *
 *     reprise_mbedtls_sessions sessions;                             one for each connection
 *     reprise_mbedtls_setup(&sessions, &ssl, &conf, &config, NULL);  instead of mbedtls_ssl_setup(&ssl, &conf)
 *
 * A session is resumed under its own cipher suite: where another would be chosen, the handshake is full, by ID and by ticket.
 *
 * Mbed TLS does not tell its callbacks whose handshake it is. Therefore each connection has a copy of `conf`, with callbacks
 * that know their connection, and handshakes share nothing but cache and keys.
 */
#ifndef REPRISE_SESSIONS_MBEDTLS_H
#define REPRISE_SESSIONS_MBEDTLS_H

#include "mbedtls/ssl.h"
#include "reprise/tls_server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its fields belong to the functions here; `resumed` may be read after the handshake. It stays where it is until mbedtls_ssl_free(). */
typedef struct {
    mbedtls_ssl_config copy;
    const mbedtls_ssl_config *original;
    mbedtls_ssl_context *ssl;
    const reprise_tls_config *config;
    uint8_t policy[16], name[16]; /* hashes: of the certificates; of those and the client's SNI, once it was read */
    int suites[2];                /* of a session that a ticket holds, and 0: no other is chosen then */
    bool resumed;
} reprise_mbedtls_sessions;

/*
 * Sets `ssl` up with a copy of `conf`, which keeps what it points to. Of `config`, which stays where it is: cache, tickets,
 * seconds, lock, context. A session is resumed only under the `policy` (16 bytes; NULL: zeros) that it was made under: a hash
 * of the server's certificates. 0, or an error of mbedtls_ssl_setup.
 */
int reprise_mbedtls_setup(reprise_mbedtls_sessions *sessions, mbedtls_ssl_context *ssl, const mbedtls_ssl_config *conf,
                          const reprise_tls_config *config, const uint8_t *policy);

#ifdef __cplusplus
}
#endif

#endif
