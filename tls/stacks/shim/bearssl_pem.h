/* Certificates and keys of PEM, as BearSSL takes them, for bearssl.c. */
#ifndef REPRISE_SHIM_BEARSSL_PEM_H
#define REPRISE_SHIM_BEARSSL_PEM_H

#include <bearssl.h>

#include "memory.h"

typedef struct {
    struct { br_x509_certificate *certificates; size_t count; } own;
    struct { br_x509_trust_anchor *anchors; size_t count; } roots;
    br_skey_decoder_context key;
    int key_kind;
} certificates;

static void append(void *to, const void *bytes, size_t length) { queue_append(to, bytes, length); }

/* Calls found with the DER of each object; 0 where the PEM cannot be read. */
static int each_object(reprise_text pem, int (*found)(certificates *, queue *), certificates *to)
{
    br_pem_decoder_context decoder;
    queue der = {0};
    int done = 1;
    br_pem_decoder_init(&decoder);
    for (size_t fed = 0; done && fed < pem.length;) {
        fed += br_pem_decoder_push(&decoder, pem.data + fed, pem.length - fed);
        switch (br_pem_decoder_event(&decoder)) {
        case BR_PEM_BEGIN_OBJ: der.begin = der.end = 0; br_pem_decoder_setdest(&decoder, append, &der); break;
        case BR_PEM_END_OBJ: done = found(to, &der); break;
        case BR_PEM_ERROR: done = 0; break;
        }
    }
    free(der.bytes);
    return done;
}

static int add_certificate(certificates *to, queue *der)
{
    br_x509_certificate *more = realloc(to->own.certificates, (to->own.count + 1) * sizeof *more);
    if (!more) return 0;
    to->own.certificates = more;
    more[to->own.count++] = (br_x509_certificate){der->bytes, der->end};
    *der = (queue){0}; /* its memory is the chain's now */
    return 1;
}

static int set_key(certificates *to, queue *der)
{
    br_skey_decoder_init(&to->key);
    br_skey_decoder_push(&to->key, der->bytes, der->end);
    return (to->key_kind = br_skey_decoder_key_type(&to->key)) != 0;
}

static unsigned char *copied(const unsigned char *bytes, size_t length)
{
    unsigned char *copy = malloc(length ? length : 1);
    return copy ? memcpy(copy, bytes, length) : NULL;
}

static int add_root(certificates *to, queue *der)
{
    br_x509_decoder_context decoder;
    queue name = {0};
    br_x509_decoder_init(&decoder, append, &name);
    br_x509_decoder_push(&decoder, der->bytes, der->end);
    const br_x509_pkey *key = br_x509_decoder_get_pkey(&decoder);
    br_x509_trust_anchor *more = key ? realloc(to->roots.anchors, (to->roots.count + 1) * sizeof *more) : NULL;
    if (!more) return free(name.bytes), 0;
    to->roots.anchors = more;
    br_x509_trust_anchor *anchor = &more[to->roots.count++];
    *anchor = (br_x509_trust_anchor){{name.bytes, name.end}, br_x509_decoder_isCA(&decoder) ? BR_X509_TA_CA : 0, *key};
    if (key->key_type == BR_KEYTYPE_RSA) {
        anchor->pkey.key.rsa.n = copied(key->key.rsa.n, key->key.rsa.nlen);
        anchor->pkey.key.rsa.e = copied(key->key.rsa.e, key->key.rsa.elen);
    } else {
        anchor->pkey.key.ec.q = copied(key->key.ec.q, key->key.ec.qlen);
    }
    return 1;
}

static void certificates_free(certificates *them)
{
    for (size_t i = 0; i < them->own.count; i++) free(them->own.certificates[i].data);
    for (size_t i = 0; i < them->roots.count; i++) {
        br_x509_trust_anchor *anchor = &them->roots.anchors[i];
        free(anchor->dn.data);
        if (anchor->pkey.key_type == BR_KEYTYPE_RSA) free(anchor->pkey.key.rsa.n), free(anchor->pkey.key.rsa.e);
        else free(anchor->pkey.key.ec.q);
    }
    free(them->own.certificates);
    free(them->roots.anchors);
}

#endif
