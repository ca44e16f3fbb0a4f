/* Primitives of any library: inputs, outputs, and the loop. A shim defines the operations of its library. */
#ifndef REPRISE_SHIM_PRIMITIVE_H
#define REPRISE_SHIM_PRIMITIVE_H

#include <stdlib.h>
#include <string.h>

#include "reprise_stack.h"

#define PRIMITIVE_TAG 16
#define PRIMITIVE_INFO 20
#define PRIMITIVE_PRF_OUTPUT 48
#define PRIMITIVE_PRF_SEED 64
#define PRIMITIVE_LABEL "master secret"
#define PRIMITIVE_ADDITIONAL 5
/* The largest signature, ciphertext of a KEM or hash: that of ML-DSA-87 has 4627 bytes. */
#define PRIMITIVE_LARGEST 8192

static const uint8_t primitive_nonce[12];

/* What every primitive has. A shim's struct begins with it. */
typedef struct primitive_base {
    int32_t operation;
    uint16_t algorithm;
    size_t length;  /* of data */
    uint8_t *data;  /* 0, 1, 2, …: the input */
    uint8_t *out;   /* the output: room for the data and a tag, and for PRIMITIVE_LARGEST bytes */
    uint8_t *given; /* as much room: a signature, a ciphertext or what was sealed, to be undone */
    size_t out_length, given_length;
    int (*once)(reprise_primitive *primitive); /* 1: done */
    int (*before)(reprise_primitive *primitive); /* where HKDF follows: what it follows */
    reprise_primitive *hkdf;
} primitive_base;

/* The label of the PRF and its seed, in one. */
static inline size_t primitive_label_and_seed(const primitive_base *base, uint8_t out[128])
{
    size_t label = sizeof PRIMITIVE_LABEL - 1;
    memcpy(out, PRIMITIVE_LABEL, label), memcpy(out + label, base->data, PRIMITIVE_PRF_SEED);
    return label + PRIMITIVE_PRF_SEED;
}

/* Bytes of a hash by its number; 0: another. */
static inline size_t primitive_hash_length(uint16_t hash) { return hash == 4 ? 32 : hash == 5 ? 48 : hash == 6 ? 64 : 0; }

/* Bytes of a suite's key; 0: another. */
static inline size_t primitive_key_length(uint16_t suite) { return suite == 0x1301 ? 16 : suite == 0x1302 || suite == 0x1303 ? 32 : 0; }

/* Whether it is of a KEM, for a library that has none. */
static inline int primitive_is_of_kem(const primitive_base *base)
{
    return base->operation == REPRISE_OP_ENCAPSULATE || base->operation == REPRISE_OP_DECAPSULATE;
}

/* Does it once, and keeps what it has come to, which `undo` checks or opens from then on. */
static inline int primitive_keep(reprise_primitive *primitive, int (*undo)(reprise_primitive *primitive))
{
    primitive_base *base = (primitive_base *)primitive;
    if (base->once(primitive) != 1) return 0;
    memcpy(base->given, base->out, base->given_length = base->out_length);
    base->out_length = 0, base->once = undo;
    return 1;
}

/* Where the second side of an exchange puts its secret. The first one's is where outputs are. */
static inline uint8_t *primitive_second_secret(primitive_base *base) { return base->out + PRIMITIVE_LARGEST / 2; }

/* Ends an exchange: whether both sides have the same secret, of so many bytes. */
static inline int primitive_exchanged(primitive_base *base, size_t first, size_t second)
{
    if (!first || first != second || memcmp(base->out, primitive_second_secret(base), first)) return 0;
    memcpy(base->out + first, primitive_second_secret(base), second);
    base->out_length = first + second;
    return 1;
}

#endif
