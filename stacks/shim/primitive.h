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
} primitive_base;

/* Room for the inputs and outputs. The label of the PRF and its seed are data too. */
static int primitive_begin(primitive_base *base, const reprise_primitive_options *options)
{
    size_t room = options->length + PRIMITIVE_TAG + PRIMITIVE_LARGEST;
    base->operation = options->operation, base->algorithm = options->algorithm, base->length = options->length;
    base->data = malloc(room), base->out = calloc(1, room), base->given = calloc(1, room);
    if (!base->data || !base->out || !base->given) return 0;
    for (size_t i = 0; i < room; i++) base->data[i] = (uint8_t)i;
    return 1;
}

static void primitive_end(primitive_base *base) { free(base->data), free(base->out), free(base->given); }

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

/* As every call that a program makes in between would leave them. Some assembler of wolfSSL leaves the upper halves of the vector registers
 * in use, and instructions for SHA take eighty times as long until they are cleared. */
static inline void primitive_clear_registers(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroupper" ::: "memory");
#endif
}

static int primitive_run(reprise_primitive *primitive, size_t count)
{
    primitive_base *base = (primitive_base *)primitive;
    while (count--) {
        primitive_clear_registers();
        if (base->once(primitive) != 1) return REPRISE_FAILED;
    }
    return REPRISE_OK;
}

static ptrdiff_t primitive_output(const reprise_primitive *primitive, size_t capacity, uint8_t *out)
{
    const primitive_base *base = (const primitive_base *)primitive;
    if (base->out_length > capacity) return REPRISE_TOO_SMALL;
    memcpy(out, base->out, base->out_length);
    return (ptrdiff_t)base->out_length;
}

/* The table, for a shim with primitive_new and primitive_free, which defines REPRISE_PRIMITIVES as &primitives. */
#define PRIMITIVES_TABLE \
    static const reprise_primitives primitives = {sizeof(reprise_primitives), primitive_new, primitive_free, primitive_run, primitive_output};

#endif
