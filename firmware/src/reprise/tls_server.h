/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A TLS server over any reprise_socket, the same for every TLS library. A library is one reprise_tls_backend, in one file:
 *
 *   reprise_bearssl    BearSSL 0.6, TLS 1.2     tls_bearssl.c
 *   reprise_mbedtls2   Mbed TLS 2.28, TLS 1.2   tls_mbedtls.c
 *   reprise_mbedtls3   Mbed TLS 3.6, TLS 1.2    tls_mbedtls.c
 *
 * The caller owns all memory: server_size bytes for a server, connection_size for each connection, both aligned for any type.
 * BearSSL needs no more. Mbed TLS allocates besides, by mbedtls_calloc: while a server starts (its key, its certificates and their
 * PEM text) and some 35 kB for each connection.
 *
 *     void *server = aligned_memory(backend->server_size);
 *     backend->start(server, &config);                        loads certificate and key from PEM
 *     backend->accept(connection, server, socket);            for each connection
 *     while (backend->handshake(connection) == REPRISE_WOULD_BLOCK) { ...do something else... }
 *     backend->read(connection, bytes, len);
 */
#ifndef REPRISE_TLS_SERVER_H
#define REPRISE_TLS_SERVER_H

#include <stdbool.h>

#include "reprise/socket.h"

/* 0 compiles the cache out: no code, no memory, no time. */
#ifndef REPRISE_SESSION_CACHE
#define REPRISE_SESSION_CACHE 1
#endif
/* 1 compiles stateless tickets in, for libraries that have them (Mbed TLS). */
#ifndef REPRISE_SESSION_TICKETS
#define REPRISE_SESSION_TICKETS 0
#endif

#if REPRISE_SESSION_CACHE
#include "reprise/session_cache.h"
#endif
#if REPRISE_SESSION_TICKETS
#include "reprise/session_tickets.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a server is made of. It must stay as it is while the server is used, but for the PEM texts. */
typedef struct {
    const char *certificates; /* PEM, the server's own certificate first */
    size_t certificates_len;
    const char *key; /* PEM: PKCS #8, or the older "RSA" and "EC PRIVATE KEY"; not encrypted */
    size_t key_len;
    /* Fills `bytes` with random bytes from the hardware; 0, or REPRISE_ERROR, which fails the handshake. */
    int (*random)(void *context, uint8_t *bytes, size_t len);
    /* Seconds of a clock that does not run backwards: not of 32-bit milliseconds, see session_cache.h. */
    uint32_t (*seconds)(void *context);
    /* Takes the lock around cache and ticket keys, or gives it back; NULL: one thread. See "Threads" below. */
    void (*lock)(void *context, bool taken);
    void *context; /* for `random`, `seconds` and `lock` */
#if REPRISE_SESSION_CACHE
    reprise_session_cache *cache; /* NULL: off */
#endif
#if REPRISE_SESSION_TICKETS
    reprise_session_tickets *tickets; /* NULL: off */
#endif
} reprise_tls_config;

/* What a finished handshake was. */
typedef struct {
    uint16_t version; /* 0x0303: TLS 1.2 */
    uint16_t suite;   /* IANA's number */
    bool resumed;
} reprise_tls_facts;

typedef struct {
    const char *name;
    size_t server_size, connection_size;
    /* REPRISE_OK, or REPRISE_ERROR where PEM, key or memory is of no use; then there is nothing to stop. */
    int (*start)(void *server, const reprise_tls_config *config);
    /* Wipes the key. All connections have ended before. */
    void (*stop)(void *server);
    /* Begins a connection: REPRISE_OK, or REPRISE_ERROR, where memory or randomness is missing; then there is nothing to end. */
    int (*accept)(void *connection, void *server, reprise_socket socket);
    /* REPRISE_OK once it is done, and from then on; WOULD_BLOCK, CLOSED, ERROR. */
    int (*handshake)(void *connection);
    /* As reprise_socket's; CLOSED after the peer's close_notify too. */
    int (*read)(void *connection, uint8_t *bytes, size_t len);
    int (*write)(void *connection, const uint8_t *bytes, size_t len);
    /* Sends what is still to be sent: REPRISE_OK, WOULD_BLOCK, CLOSED, ERROR. */
    int (*flush)(void *connection);
    /* Flushes, then sends close_notify: REPRISE_OK once that is out; WOULD_BLOCK, CLOSED, ERROR. */
    int (*close)(void *connection);
    /* Wipes and frees what the connection holds. */
    void (*end)(void *connection);
    /* After the handshake. */
    void (*facts)(const void *connection, reprise_tls_facts *facts);
} reprise_tls_backend;

/*
 * Threads: each connection belongs to one at a time, and handshakes share nothing but the session cache and the ticket keys, which
 * `lock` guards, and the server, which is only read. With Mbed TLS, build that with MBEDTLS_THREADING_C too: its random generator
 * and its RSA keys have locks of their own. `random`, `seconds` and the heap are then called by several threads.
 */
static inline void reprise_lock(const reprise_tls_config *config, bool taken)
{
    if (config->lock != NULL) {
        config->lock(config->context, taken);
    }
}

extern const reprise_tls_backend reprise_bearssl;
extern const reprise_tls_backend reprise_mbedtls2;
extern const reprise_tls_backend reprise_mbedtls3;

#ifdef __cplusplus
}
#endif

#endif
