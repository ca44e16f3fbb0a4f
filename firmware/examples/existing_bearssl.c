/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A server of one's own on BearSSL, with a blocking socket, that takes the session cache and nothing else: the lines marked with <--.
 * It serves COUNT connections, one after the other, and then prints what the cache saw.
 *
 *     existing_bearssl CERTIFICATE.pem KEY.pem COUNT
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"
#include "pem.h"
#include "posix.h"
#include "reprise/sessions_bearssl.h" /* <-- */

static int receive(void *descriptor, unsigned char *bytes, size_t len)
{
    ssize_t taken = recv(*(int *)descriptor, bytes, len, 0);
    return taken > 0 ? (int)taken : -1;
}

static int transmit(void *descriptor, const unsigned char *bytes, size_t len)
{
    ssize_t taken = send(*(int *)descriptor, bytes, len, MSG_NOSIGNAL);
    return taken > 0 ? (int)taken : -1;
}

int main(int count, char **arguments)
{
    if (count < 4) {
        return 2;
    }
    br_x509_certificate certificate = read_certificate(arguments[1]);
    const br_ec_private_key *key = read_key(arguments[2]);
    int listener = listen_on_loopback(), connections = atoi(arguments[3]);

    static reprise_session_slot slots[8];                                                         /* <-- */
    static reprise_session_cache cache;                                                           /* <-- */
    static reprise_bearssl_sessions sessions;                                                     /* <-- */
    reprise_tls_config config = {.cache = &cache, .seconds = reprise_posix_seconds};              /* <-- */
    reprise_session_cache_init(&cache, slots, 8, 300);                                            /* <-- */
    reprise_bearssl_sessions_init(&sessions, &config, certificate.data, certificate.data_len);    /* <-- */

    for (int index = 0; index < connections; index++) {
        static br_ssl_server_context tls;
        static unsigned char buffer[BR_SSL_BUFSIZE_BIDI];
        br_sslio_context io;
        int descriptor = accept(listener, NULL, NULL);
        br_ssl_server_init_full_ec(&tls, &certificate, 1, BR_KEYTYPE_EC, key);
        br_ssl_server_set_cache(&tls, &sessions.vtable); /* <-- the call */
        br_ssl_engine_set_buffer(&tls.eng, buffer, sizeof buffer, 1);
        br_ssl_server_reset(&tls);
        br_sslio_init(&io, &tls.eng, receive, &descriptor, transmit, &descriptor);
        unsigned char byte;
        br_sslio_read(&io, &byte, 1);
        br_sslio_close(&io);
        close(descriptor);
    }
    printf("cache: %u hits, %u misses\n", (unsigned)cache.hits, (unsigned)cache.misses);
    return 0;
}
