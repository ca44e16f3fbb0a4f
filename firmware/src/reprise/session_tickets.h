/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stateless session tickets with keys that rotate on their own (RFC 5077; RFC 9846 section 4.7.1), for Mbed TLS. The server
 * keeps two keys, in sizeof(reprise_session_tickets) = 92 bytes, whatever the number of clients.
 *
 * Rules, the same as the session cache's:
 *   - A ticket lives at most `lifetime` seconds from when it was sealed on. Mbed TLS seals one where a client has none that
 *     can be opened; one that resumes is not renewed.
 *   - A key seals for `lifetime` seconds and opens for as long again, so that every ticket can be opened while it lives.
 *   - A ticket is opened only under the tag that it was sealed for.
 *   - Tickets are encrypted and authenticated with AES-256-GCM. Without a random key there is no ticket.
 */
#ifndef REPRISE_SESSION_TICKETS_H
#define REPRISE_SESSION_TICKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint8_t name[4];
    uint8_t key[32];
    uint32_t created;
    bool valid;
} reprise_ticket_key;

/* Its fields belong to the functions below. */
typedef struct {
    reprise_ticket_key keys[2]; /* the first one seals */
    uint32_t lifetime;
} reprise_session_tickets;

struct mbedtls_ssl_session;

/* No key yet: the first ticket draws one. A `lifetime` of 0 seconds gives no tickets; more than 7 days is 7 days. */
void reprise_session_tickets_init(reprise_session_tickets *tickets, uint32_t lifetime);

/* Wipes the keys: no ticket that was given can be opened any more. */
void reprise_session_tickets_clear(reprise_session_tickets *tickets);

/*
 * Seals a session into `ticket`, of `room` bytes; `random` is Mbed TLS's f_rng. 0, and `len` and `lifetime` (seconds) written;
 * or an error of Mbed TLS, and both are 0.
 */
int reprise_session_tickets_write(reprise_session_tickets *tickets, uint32_t now, const uint8_t tag[16],
                                  int (*random)(void *, unsigned char *, size_t), void *random_context,
                                  const struct mbedtls_ssl_session *session, unsigned char *ticket, size_t room, size_t *len,
                                  uint32_t *lifetime);

/*
 * Opens a ticket, in place. 0, MBEDTLS_ERR_SSL_SESSION_TICKET_EXPIRED, or MBEDTLS_ERR_SSL_INVALID_MAC for all else: then the
 * handshake is full.
 */
int reprise_session_tickets_parse(reprise_session_tickets *tickets, uint32_t now, const uint8_t tag[16],
                                  struct mbedtls_ssl_session *session, unsigned char *ticket, size_t len);

#ifdef __cplusplus
}
#endif

#endif
