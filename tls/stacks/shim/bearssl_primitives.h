/* The primitives of BearSSL: of each the implementation that it picks on this CPU. RSA it has by PKCS #1 v1.5 and OAEP alone. */
#ifndef REPRISE_SHIM_BEARSSL_PRIMITIVES_H
#define REPRISE_SHIM_BEARSSL_PRIMITIVES_H

#include <bearssl.h>

#include "bearssl_pem.h"
#include "primitive.h"

/* Of a curve. Its points are here, and not where the library's structures would have to point to. */
typedef struct {
    br_ec_private_key key;
    unsigned char secret[BR_EC_KBUF_PRIV_MAX_SIZE], point[BR_EC_KBUF_PUB_MAX_SIZE];
    size_t point_length;
} pair;

struct reprise_primitive {
    primitive_base base;
    br_ssl_engine_context engine; /* which picks ciphers */
    const br_ec_impl *curves;
    br_hmac_drbg_context random;
    certificates pem;
    br_ec_public_key public_key; /* in the first of the pairs */
    const br_hash_class *hash;
    pair pairs[2];
    br_aes_gen_ctr_keys aes;
    br_gcm_context gcm;
};

static int primitive_init(reprise_primitive *it)
{
    br_prng_seeder seeder = br_prng_seeder_system(NULL);
    it->curves = br_ec_get_default();
    br_hmac_drbg_init(&it->random, &br_sha256_vtable, NULL, 0);
    return seeder && seeder(&it->random.vtable);
}

static void primitive_clear(reprise_primitive *it)
{
    certificates_free(&it->pem);
}

static const br_hash_class *hash_class(size_t length) { return length == 32 ? &br_sha256_vtable : length == 48 ? &br_sha384_vtable : &br_sha512_vtable; }

static int once_sign(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    base->out_length = br_ecdsa_sign_asn1_get_default()(it->curves, it->hash, base->data, br_skey_decoder_get_ec(&it->pem.key), base->out);
    return base->out_length != 0;
}

static int once_verify(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    return (int)br_ecdsa_vrfy_asn1_get_default()(it->curves, base->data, base->length, &it->public_key, base->given, base->given_length);
}

/* It copies the point out of the certificate. */
static int once_verify_new_key(reprise_primitive *it)
{
    memcpy(it->pairs[1].point, it->pairs[0].point, it->public_key.qlen);
    it->public_key.q = it->pairs[1].point;
    return once_verify(it);
}

static int new_signature(reprise_primitive *it, const reprise_primitive_options *options)
{
    primitive_base *base = &it->base;
    if ((base->algorithm != 0x0403 && base->algorithm != 0x0503) || (base->length != 32 && base->length != 48)) return 0;
    if (!each_object(options->key, set_key, &it->pem) || it->pem.key_kind != BR_KEYTYPE_EC) return 0;
    it->hash = hash_class(base->length), base->once = once_sign;
    if (base->operation == REPRISE_OP_SIGN) return 1;
    if (!br_ec_compute_pub(it->curves, &it->public_key, it->pairs[0].point, br_skey_decoder_get_ec(&it->pem.key))) return 0;
    return primitive_keep(it, base->operation == REPRISE_OP_VERIFY ? once_verify : once_verify_new_key);
}

static int pair_make(reprise_primitive *it, pair *to)
{
    if (!br_ec_keygen(&it->random.vtable, it->curves, &to->key, to->secret, it->base.algorithm)) return 0;
    return (to->point_length = br_ec_compute_pub(it->curves, NULL, to->point, &to->key)) != 0;
}

static int once_key_pair(reprise_primitive *it) { return pair_make(it, &it->pairs[0]); }

static int pair_agree(reprise_primitive *it, const pair *own, const pair *peer, uint8_t *out)
{
    memcpy(out, peer->point, peer->point_length); /* the product takes its place */
    return (int)it->curves->mul(out, peer->point_length, own->key.x, own->key.xlen, own->key.curve);
}

static int once_agree(reprise_primitive *it) { return pair_agree(it, &it->pairs[0], &it->pairs[1], it->base.out); }

/* Points are sent as they are. Of the product the secret is the x (RFC 8422 §5.11, RFC 7748 §6.1), where the library says. */
static int once_exchange(reprise_primitive *it)
{
    pair *client = &it->pairs[0], *server = &it->pairs[1];
    uint8_t *second = primitive_second_secret(&it->base);
    if (!pair_make(it, client) || !pair_make(it, server) || !pair_agree(it, server, client, second) || !pair_agree(it, client, server, it->base.out)) return 0;
    size_t length, offset = it->curves->xoff(it->base.algorithm, &length);
    memmove(it->base.out, it->base.out + offset, length), memmove(second, second + offset, length);
    return primitive_exchanged(&it->base, length, length);
}

static int new_exchange(reprise_primitive *it)
{
    if (primitive_is_of_kem(&it->base) || it->base.algorithm > 31 || !(it->curves->supported_curves >> it->base.algorithm & 1)) return 0;
    int operation = it->base.operation;
    it->base.once = operation == REPRISE_OP_AGREE ? once_agree : operation == REPRISE_OP_EXCHANGE ? once_exchange : once_key_pair;
    return pair_make(it, &it->pairs[0]) && pair_make(it, &it->pairs[1]);
}

/* In place, as the library does it, and so of a copy. */
static void crypt(reprise_primitive *it, const uint8_t *from, uint8_t *tag, int seals)
{
    primitive_base *base = &it->base;
    memcpy(base->out, from, base->length);
    if (base->algorithm == 0x1303) {
        it->engine.ipoly(base->data, primitive_nonce, base->out, base->length, base->data, PRIMITIVE_ADDITIONAL, tag, it->engine.ichacha, seals);
        return;
    }
    br_gcm_reset(&it->gcm, primitive_nonce, sizeof primitive_nonce);
    br_gcm_aad_inject(&it->gcm, base->data, PRIMITIVE_ADDITIONAL);
    br_gcm_flip(&it->gcm);
    br_gcm_run(&it->gcm, seals, base->out, base->length);
    br_gcm_get_tag(&it->gcm, tag);
}

static int once_seal(reprise_primitive *it)
{
    crypt(it, it->base.data, it->base.out + it->base.length, 1);
    return 1;
}

static int once_open(reprise_primitive *it)
{
    uint8_t tag[PRIMITIVE_TAG], differs = 0;
    crypt(it, it->base.given, tag, 0);
    for (size_t i = 0; i < sizeof tag; i++) differs |= tag[i] ^ it->base.given[it->base.length + i];
    return !differs;
}

static int new_aead(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    size_t key = primitive_key_length(base->algorithm);
    if (!key) return 0;
    br_ssl_engine_set_default_aes_gcm(&it->engine), br_ssl_engine_set_default_chapol(&it->engine);
    it->engine.iaes_ctr->init(&it->aes.vtable, base->data, key);
    br_gcm_init(&it->gcm, &it->aes.vtable, it->engine.ighash);
    base->once = once_seal, base->out_length = base->length + PRIMITIVE_TAG;
    if (base->operation == REPRISE_OP_SEAL) return 1;
    return primitive_keep(it, once_open);
}

static int once_hash(reprise_primitive *it)
{
    br_hash_compat_context context;
    it->hash->init(&context.vtable);
    it->hash->update(&context.vtable, it->base.data, it->base.length);
    it->hash->out(&context.vtable, it->base.out);
    return 1;
}

/* The library derives from what it has extracted itself, which is set in its place here. */
static int once_hkdf(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    br_hkdf_context context;
    context.ptr = context.dig_len = base->out_length, context.chunk_num = 0;
    br_hmac_key_init(&context.u.prk_ctx, it->hash, base->data, base->out_length);
    return br_hkdf_produce(&context, base->data, PRIMITIVE_INFO, base->out, base->out_length) == base->out_length;
}

static int once_prf(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    br_tls_prf_seed_chunk seed = {base->data, PRIMITIVE_PRF_SEED};
    (base->algorithm == 5 ? br_tls12_sha384_prf : br_tls12_sha256_prf)(base->out, base->out_length, base->data, 48, PRIMITIVE_LABEL, 1, &seed);
    return 1;
}

static int new_derivation(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    int operation = base->operation;
    base->out_length = primitive_hash_length(base->algorithm);
    if (!base->out_length || (operation == REPRISE_OP_PRF && base->algorithm == 6)) return 0;
    it->hash = hash_class(base->out_length);
    base->once = operation == REPRISE_OP_HASH ? once_hash : operation == REPRISE_OP_HKDF ? once_hkdf : once_prf;
    if (operation == REPRISE_OP_PRF) base->out_length = PRIMITIVE_PRF_OUTPUT;
    return 1;
}

static int once_random(reprise_primitive *it) { return br_hmac_drbg_generate(&it->random, it->base.out, it->base.out_length), 1; }

#include "primitive_table.h"


#endif
