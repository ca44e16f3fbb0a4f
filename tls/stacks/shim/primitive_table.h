/*
 * The table of primitives, for every library. Included last, once the shim has defined struct reprise_primitive and
 *     int primitive_init(it)                    what the library needs before anything else; 0: it cannot
 *     void primitive_clear(it)                  frees what is the library's
 *     int new_signature(it, options), new_exchange(it), new_aead(it), new_derivation(it)
 *                                               make it ready and set base.once; 0: the library has it not
 *     int once_random(it)
 */
#ifndef REPRISE_SHIM_PRIMITIVE_TABLE_H
#define REPRISE_SHIM_PRIMITIVE_TABLE_H

#include "primitive.h"

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

static void primitive_free(reprise_primitive *it)
{
    if (!it) return;
    primitive_clear(it);
    primitive_free(it->base.hkdf);
    free(it->base.data), free(it->base.out), free(it->base.given), free(it);
}

static int primitive_new(const reprise_primitive_options *options, reprise_primitive **out);
static int primitive_prepare(reprise_primitive *it, const reprise_primitive_options *options);

/* Nothing is in between, not even what clears registers: a library may leave them so that its hash is slow. */
static int once_with_hkdf(reprise_primitive *it)
{
    int done = it->base.before(it);
    for (int i = 0; i < REPRISE_EXPANSIONS && done == 1; i++) done = it->base.hkdf->base.once(it->base.hkdf);
    return done;
}

static int new_with_hkdf(reprise_primitive *it, const reprise_primitive_options *options)
{
    reprise_primitive_options before = *options, hkdf = {sizeof hkdf, REPRISE_OP_HKDF, 4, 0, {NULL, 0}};
    before.operation = it->base.operation = options->key.length ? REPRISE_OP_SIGN : REPRISE_OP_EXCHANGE;
    if (!primitive_prepare(it, &before) || primitive_new(&hkdf, &it->base.hkdf)) return 0;
    it->base.before = it->base.once, it->base.once = once_with_hkdf;
    return 1;
}

static int primitive_prepare(reprise_primitive *it, const reprise_primitive_options *options)
{
    switch (options->operation) {
    case REPRISE_OP_SIGN: case REPRISE_OP_VERIFY: case REPRISE_OP_VERIFY_NEW_KEY: return new_signature(it, options);
    case REPRISE_OP_KEY_PAIR: case REPRISE_OP_AGREE: case REPRISE_OP_ENCAPSULATE: case REPRISE_OP_DECAPSULATE: case REPRISE_OP_EXCHANGE:
        return new_exchange(it);
    case REPRISE_OP_HKDF_AFTER: return new_with_hkdf(it, options);
    case REPRISE_OP_SEAL: case REPRISE_OP_OPEN: return new_aead(it);
    case REPRISE_OP_HASH: case REPRISE_OP_HKDF: case REPRISE_OP_PRF: return new_derivation(it);
    case REPRISE_OP_RANDOM: it->base.once = once_random, it->base.out_length = options->length; return 1;
    }
    return 0;
}

/* Whether it refuses what was changed on its way, if it has anything to refuse: else it checks nothing. */
static int primitive_refuses(reprise_primitive *it)
{
    int operation = it->base.operation;
    if (operation != REPRISE_OP_VERIFY && operation != REPRISE_OP_VERIFY_NEW_KEY && operation != REPRISE_OP_OPEN) return 1;
    uint8_t *last = it->base.given + it->base.given_length - 1;
    *last ^= 1;
    int is_taken = it->base.once(it) == 1;
    *last ^= 1;
    return !is_taken;
}

static int primitive_new(const reprise_primitive_options *options, reprise_primitive **out)
{
    reprise_primitive *it = aligned_alloc(64, (sizeof *it + 63) / 64 * 64); /* vectors in a library's keys need it */
    if (!it) return REPRISE_NO_MEMORY;
    memset(it, 0, sizeof *it);
    int is_able = primitive_init(it), has_room = primitive_begin(&it->base, options);
    /* What it cannot do a first time, it has not: with a key of another kind, for one. And the first time makes what a library keeps with a key:
     * RSA's blinding, a curve's tables. */
    int is_ready = is_able && has_room && primitive_prepare(it, options) && it->base.once(it) == 1;
    int refuses = !is_ready || primitive_refuses(it);
    if (is_ready && refuses && it->base.once(it) == 1) {
        *out = it;
        return REPRISE_OK;
    }
    primitive_free(it);
    return !has_room ? REPRISE_NO_MEMORY : refuses ? REPRISE_UNSUPPORTED : REPRISE_FAILED;
}

/* As every call that a program makes in between would leave them. Some assembler of wolfSSL leaves the upper halves of the vector registers
 * in use, and instructions for SHA take eighty times as long until they are cleared. */
static inline void primitive_clear_registers(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroupper" ::: "memory");
#endif
}

static int primitive_run(reprise_primitive *it, size_t count)
{
    while (count--) {
        primitive_clear_registers();
        if (it->base.once(it) != 1) return REPRISE_FAILED;
    }
    return REPRISE_OK;
}

static ptrdiff_t primitive_output(const reprise_primitive *it, size_t capacity, uint8_t *out)
{
    if (it->base.out_length > capacity) return REPRISE_TOO_SMALL;
    memcpy(out, it->base.out, it->base.out_length);
    return (ptrdiff_t)it->base.out_length;
}

static const reprise_primitives primitives = {sizeof(reprise_primitives), primitive_new, primitive_free, primitive_run, primitive_output};

#endif
