/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a TLS 1.2 session is bound to of a ClientHello, read before the TLS library has read it. */
#ifndef REPRISE_CLIENT_HELLO_H
#define REPRISE_CLIENT_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *name; /* server_name, in `bytes`; an empty one is as good as none */
    size_t name_len;
    bool extended_master_secret; /* is offered (RFC 7627) */
    const uint8_t *suites;       /* cipher_suites, in `bytes`: two bytes each */
    size_t suites_len;
} reprise_client_hello;

/* `bytes` begin behind the session ID, with cipher_suites. False where the extensions do not end within them. */
bool reprise_client_hello_read(reprise_client_hello *hello, const uint8_t *bytes, size_t len);

#endif
