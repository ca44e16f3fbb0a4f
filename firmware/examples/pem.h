/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One object of a PEM file, for BearSSL. */
#ifndef REPRISE_EXAMPLE_PEM_H
#define REPRISE_EXAMPLE_PEM_H

#include <string.h>

#include "bearssl.h"
#include "loopback.h"

typedef struct {
    unsigned char bytes[4096];
    size_t len;
} der_object;

static void append_der(void *context, const void *bytes, size_t len)
{
    der_object *der = context;
    if (len > sizeof der->bytes - der->len) {
        exit(2);
    }
    memcpy(der->bytes + der->len, bytes, len);
    der->len += len;
}

static der_object *read_der(const char *path)
{
    br_pem_decoder_context decoder;
    der_object *der = calloc(1, sizeof *der);
    char *text = read_text(path);
    size_t at = 0, len = strlen(text);
    br_pem_decoder_init(&decoder);
    for (int event = 0; at < len && event != BR_PEM_END_OBJ; event = br_pem_decoder_event(&decoder)) {
        if (event == BR_PEM_BEGIN_OBJ) {
            br_pem_decoder_setdest(&decoder, append_der, der);
        }
        at += br_pem_decoder_push(&decoder, text + at, len - at);
    }
    free(text);
    return der;
}

static br_x509_certificate read_certificate(const char *path)
{
    der_object *der = read_der(path);
    br_x509_certificate certificate = {der->bytes, der->len};
    return certificate;
}

static const br_ec_private_key *read_key(const char *path)
{
    static br_skey_decoder_context decoder;
    der_object *der = read_der(path);
    br_skey_decoder_init(&decoder);
    br_skey_decoder_push(&decoder, der->bytes, der->len);
    free(der);
    return br_skey_decoder_get_ec(&decoder);
}

#endif
