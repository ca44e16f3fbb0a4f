/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A server of one's own on Mbed TLS 2.28 or 3.6, with a blocking socket, that takes the session cache and nothing else: the lines
 * marked with <--. It serves COUNT connections, one after the other, and then prints what the cache saw.
 *
 *     existing_mbedtls CERTIFICATE.pem KEY.pem COUNT
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/version.h"
#include "posix.h"
#include "reprise/sessions_mbedtls.h" /* <-- */

static int entropy(void *context, unsigned char *bytes, size_t len)
{
    return reprise_posix_random(context, bytes, len);
}

static int receive(void *descriptor, unsigned char *bytes, size_t len)
{
    return (int)recv(*(int *)descriptor, bytes, len, 0);
}

static int transmit(void *descriptor, const unsigned char *bytes, size_t len)
{
    return (int)send(*(int *)descriptor, bytes, len, MSG_NOSIGNAL);
}

int main(int count, char **arguments)
{
    if (count < 4) {
        return 2;
    }
    mbedtls_ctr_drbg_context random;
    mbedtls_x509_crt certificate;
    mbedtls_pk_context key;
    mbedtls_ssl_config conf;
    mbedtls_ctr_drbg_init(&random);
    mbedtls_ctr_drbg_seed(&random, entropy, NULL, NULL, 0);
    mbedtls_x509_crt_init(&certificate);
    mbedtls_pk_init(&key);
    char *text = read_text(arguments[1]);
    mbedtls_x509_crt_parse(&certificate, (unsigned char *)text, strlen(text) + 1);
    free(text);
    text = read_text(arguments[2]);
#if MBEDTLS_VERSION_MAJOR == 3
    mbedtls_pk_parse_key(&key, (unsigned char *)text, strlen(text) + 1, NULL, 0, mbedtls_ctr_drbg_random, &random);
#else
    mbedtls_pk_parse_key(&key, (unsigned char *)text, strlen(text) + 1, NULL, 0);
#endif
    free(text);
    mbedtls_ssl_config_init(&conf);
    mbedtls_ssl_config_defaults(&conf, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    mbedtls_ssl_conf_own_cert(&conf, &certificate, &key);
    mbedtls_ssl_conf_rng(&conf, mbedtls_ctr_drbg_random, &random);
    int listener = listen_on_loopback(), connections = atoi(arguments[3]);

    static reprise_session_slot slots[8];                                            /* <-- */
    static reprise_session_cache cache;                                              /* <-- */
    reprise_tls_config config = {.cache = &cache, .seconds = reprise_posix_seconds}; /* <-- */
    reprise_session_cache_init(&cache, slots, 8, 300);                               /* <-- */

    for (int index = 0; index < connections; index++) {
        reprise_mbedtls_sessions sessions; /* <-- */
        mbedtls_ssl_context tls;
        int descriptor = accept(listener, NULL, NULL);
        mbedtls_ssl_init(&tls);
        reprise_mbedtls_setup(&sessions, &tls, &conf, &config, NULL); /* <-- the call: mbedtls_ssl_setup(&tls, &conf) before */
        mbedtls_ssl_set_bio(&tls, &descriptor, transmit, receive, NULL);
        unsigned char byte;
        mbedtls_ssl_read(&tls, &byte, 1);
        mbedtls_ssl_close_notify(&tls);
        mbedtls_ssl_free(&tls);
        close(descriptor);
    }
    mbedtls_ssl_config_free(&conf);
    mbedtls_x509_crt_free(&certificate);
    mbedtls_pk_free(&key);
    mbedtls_ctr_drbg_free(&random);
    printf("cache: %u hits, %u misses\n", (unsigned)cache.hits, (unsigned)cache.misses);
    return 0;
}
