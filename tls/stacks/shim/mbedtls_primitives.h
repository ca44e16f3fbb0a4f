/* The primitives of Mbed TLS, by the functions below PSA, which PSA calls too: for mbedtls.c, whose generator they use. */
#ifndef REPRISE_SHIM_MBEDTLS_PRIMITIVES_H
#define REPRISE_SHIM_MBEDTLS_PRIMITIVES_H

#include <mbedtls/chachapoly.h>
#include <mbedtls/dhm.h>
#include <mbedtls/ecdh.h>
#include <mbedtls/gcm.h>
#include <mbedtls/hkdf.h>
#include <mbedtls/md.h>
#include <mbedtls/pk.h>
#include <mbedtls/rsa.h>

#include "primitive.h"

#if MBEDTLS_VERSION_NUMBER >= 0x03000000
#define SIGNATURE_ROOM PRIMITIVE_LARGEST,
#else
#define SIGNATURE_ROOM
#endif
#define GENERATOR mbedtls_ctr_drbg_random, &drbg

struct reprise_primitive {
    primitive_base base;
    mbedtls_pk_context key;
    mbedtls_md_type_t md;
    mbedtls_ecp_group group;
    mbedtls_mpi own, secret;
    mbedtls_ecp_point peer;
    mbedtls_dhm_context dhm;
    mbedtls_gcm_context gcm;
    mbedtls_chachapoly_context chacha;
    uint8_t public_key[PRIMITIVE_LARGEST]; /* SubjectPublicKeyInfo, at the end, of who verifies by a key read anew */
    size_t public_length;
};

static int primitive_init(reprise_primitive *it)
{
    last_error = 0;
    mbedtls_pk_init(&it->key), mbedtls_ecp_group_init(&it->group), mbedtls_ecp_point_init(&it->peer);
    mbedtls_mpi_init(&it->own), mbedtls_mpi_init(&it->secret), mbedtls_dhm_init(&it->dhm);
    mbedtls_gcm_init(&it->gcm), mbedtls_chachapoly_init(&it->chacha);
    return 1;
}

static void primitive_clear(reprise_primitive *it)
{
    mbedtls_pk_free(&it->key), mbedtls_ecp_group_free(&it->group), mbedtls_ecp_point_free(&it->peer);
    mbedtls_mpi_free(&it->own), mbedtls_mpi_free(&it->secret), mbedtls_dhm_free(&it->dhm);
    mbedtls_gcm_free(&it->gcm), mbedtls_chachapoly_free(&it->chacha);
}

static int is_done(int error) { return !(last_error = error); }

/* RSA by PSS. */
static void pads(reprise_primitive *it)
{
    if (mbedtls_pk_can_do(&it->key, MBEDTLS_PK_RSA)) mbedtls_rsa_set_padding(mbedtls_pk_rsa(it->key), MBEDTLS_RSA_PKCS_V21, it->md);
}

static int once_sign(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    return is_done(mbedtls_pk_sign(&it->key, it->md, base->data, base->length, base->out, SIGNATURE_ROOM &base->out_length, GENERATOR));
}

static int once_verify(reprise_primitive *it)
{
    return is_done(mbedtls_pk_verify(&it->key, it->md, it->base.data, it->base.length, it->base.given, it->base.given_length));
}

static int once_verify_new_key(reprise_primitive *it)
{
    const uint8_t *begin = it->public_key + sizeof it->public_key - it->public_length;
    mbedtls_pk_free(&it->key);
    return is_done(mbedtls_pk_parse_public_key(&it->key, begin, it->public_length)) && (pads(it), once_verify(it));
}

static int new_signature(reprise_primitive *it, const reprise_primitive_options *options)
{
    size_t length = options->length;
    it->md = length == 32 ? MBEDTLS_MD_SHA256 : length == 48 ? MBEDTLS_MD_SHA384 : length == 64 ? MBEDTLS_MD_SHA512 : MBEDTLS_MD_NONE;
    uint8_t *pem = terminated(options->key); /* its PEM is terminated by a zero, which its length counts */
    int error = pem ? mbedtls_pk_parse_key(&it->key, pem, options->key.length + 1, NULL, 0 RANDOM_ARGUMENTS(&drbg)) : MBEDTLS_ERR_PK_ALLOC_FAILED;
    free(pem);
    if (!is_done(error) || it->md == MBEDTLS_MD_NONE) return 0;
    int is_pss = options->algorithm >= 0x0804 && options->algorithm <= 0x0806;
    if (is_pss != mbedtls_pk_can_do(&it->key, MBEDTLS_PK_RSA) || (!is_pss && (options->algorithm & 255) != 3)) return 0;
    pads(it);
    it->base.once = once_sign;
    if (options->operation == REPRISE_OP_SIGN) return 1;
    if (options->operation == REPRISE_OP_VERIFY) return primitive_keep(it, once_verify);
    int written = mbedtls_pk_write_pubkey_der(&it->key, it->public_key, sizeof it->public_key);
    it->public_length = written > 0 ? (size_t)written : 0;
    return it->public_length && primitive_keep(it, once_verify_new_key);
}

static int once_key_pair(reprise_primitive *it) { return is_done(mbedtls_ecdh_gen_public(&it->group, &it->own, &it->peer, GENERATOR)); }

static int once_agree(reprise_primitive *it)
{
    return is_done(mbedtls_ecdh_compute_shared(&it->group, &it->secret, &it->peer, &it->own, GENERATOR));
}

static int once_dh_key_pair(reprise_primitive *it)
{
    size_t length = it->base.given_length; /* as handshakes do: the private key is as long as the prime */
    return is_done(mbedtls_dhm_make_public(&it->dhm, (int)length, it->base.given, length, GENERATOR));
}

static int once_dh_agree(reprise_primitive *it)
{
    size_t length;
    return is_done(mbedtls_dhm_calc_secret(&it->dhm, it->base.given, PRIMITIVE_LARGEST, &length, GENERATOR));
}

static int new_finite(reprise_primitive *it)
{
    static const unsigned char p2048[] = MBEDTLS_DHM_RFC7919_FFDHE2048_P_BIN, p3072[] = MBEDTLS_DHM_RFC7919_FFDHE3072_P_BIN;
    const unsigned char *prime = it->base.algorithm == 256 ? p2048 : it->base.algorithm == 257 ? p3072 : NULL;
    size_t length = it->base.given_length = prime == p3072 ? sizeof p3072 : sizeof p2048;
    if (!prime || !is_done(mbedtls_mpi_read_binary(&it->own, prime, length)) || !is_done(mbedtls_mpi_lset(&it->secret, 2))
        || !is_done(mbedtls_dhm_set_group(&it->dhm, &it->own, &it->secret)))
        return 0;
    it->base.once = once_dh_key_pair;
    if (it->base.operation == REPRISE_OP_KEY_PAIR) return 1;
    /* The first key pair's public key is the peer's of the second. */
    if (!once_dh_key_pair(it) || !is_done(mbedtls_dhm_read_public(&it->dhm, it->base.given, length)) || !once_dh_key_pair(it)) return 0;
    it->base.once = once_dh_agree;
    return once_dh_agree(it); /* it blinds from the second time on: with a new blinding, then with that one's squares */
}

/* As its TLS has it: an ECDH context a side, whose group is loaded anew, and points in their encoding. */
static int once_exchange(reprise_primitive *it)
{
    mbedtls_ecdh_context client, server;
    mbedtls_ecp_group_id id = it->group.id;
    uint8_t parameters[256], share[256];
    const uint8_t *at = parameters;
    size_t parameters_length = 0, share_length = 0, first = 0, second = 0, half = PRIMITIVE_LARGEST / 2;
    mbedtls_ecdh_init(&client), mbedtls_ecdh_init(&server);
    int done = is_done(mbedtls_ecdh_setup(&server, id))
               && is_done(mbedtls_ecdh_make_params(&server, &parameters_length, parameters, sizeof parameters, GENERATOR))
               && is_done(mbedtls_ecdh_read_params(&client, &at, parameters + parameters_length))
               && is_done(mbedtls_ecdh_make_public(&client, &share_length, share, sizeof share, GENERATOR))
               && is_done(mbedtls_ecdh_calc_secret(&client, &first, it->base.out, half, GENERATOR))
               && is_done(mbedtls_ecdh_read_public(&server, share, share_length))
               && is_done(mbedtls_ecdh_calc_secret(&server, &second, primitive_second_secret(&it->base), half, GENERATOR));
    mbedtls_ecdh_free(&client), mbedtls_ecdh_free(&server);
    return done && primitive_exchanged(&it->base, first, second);
}

static int new_exchange(reprise_primitive *it)
{
    if (primitive_is_of_kem(&it->base)) return 0;
    const mbedtls_ecp_curve_info *curve = mbedtls_ecp_curve_info_from_tls_id(it->base.algorithm);
    if (!curve) return it->base.operation != REPRISE_OP_EXCHANGE && new_finite(it);
    /* 2.28 keeps a table of the generator's multiples in the group, from the first key pair on; each of its handshakes makes it anew. */
    it->base.once = once_key_pair;
    if (!is_done(mbedtls_ecp_group_load(&it->group, curve->grp_id))) return 0;
    if (it->base.operation == REPRISE_OP_KEY_PAIR) return 1;
    if (it->base.operation == REPRISE_OP_EXCHANGE) return it->base.once = once_exchange, 1;
    it->base.once = once_agree;
    return once_key_pair(it) && is_done(mbedtls_ecdh_gen_public(&it->group, &it->secret, &it->peer, GENERATOR));
}

static int once_seal(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    return is_done(base->algorithm == 0x1303
                       ? mbedtls_chachapoly_encrypt_and_tag(&it->chacha, base->length, primitive_nonce, base->data, PRIMITIVE_ADDITIONAL,
                                                            base->data, base->out, base->out + base->length)
                       : mbedtls_gcm_crypt_and_tag(&it->gcm, MBEDTLS_GCM_ENCRYPT, base->length, primitive_nonce, sizeof primitive_nonce, base->data,
                                                   PRIMITIVE_ADDITIONAL, base->data, base->out, PRIMITIVE_TAG, base->out + base->length));
}

static int once_open(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    return is_done(base->algorithm == 0x1303
                       ? mbedtls_chachapoly_auth_decrypt(&it->chacha, base->length, primitive_nonce, base->data, PRIMITIVE_ADDITIONAL,
                                                         base->given + base->length, base->given, base->out)
                       : mbedtls_gcm_auth_decrypt(&it->gcm, base->length, primitive_nonce, sizeof primitive_nonce, base->data, PRIMITIVE_ADDITIONAL,
                                                  base->given + base->length, PRIMITIVE_TAG, base->given, base->out));
}

static int new_aead(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    unsigned bits = 8 * (unsigned)primitive_key_length(base->algorithm);
    if (!bits || !is_done(base->algorithm == 0x1303 ? mbedtls_chachapoly_setkey(&it->chacha, base->data)
                                                    : mbedtls_gcm_setkey(&it->gcm, MBEDTLS_CIPHER_ID_AES, base->data, bits)))
        return 0;
    base->once = once_seal, base->out_length = base->length + PRIMITIVE_TAG;
    if (base->operation == REPRISE_OP_SEAL) return 1;
    return primitive_keep(it, once_open);
}

static int once_hash(reprise_primitive *it) { return is_done(mbedtls_md(mbedtls_md_info_from_type(it->md), it->base.data, it->base.length, it->base.out)); }

static int once_expand(reprise_primitive *it)
{
    return is_done(mbedtls_hkdf_expand(mbedtls_md_info_from_type(it->md), it->base.data, it->base.out_length, it->base.data, PRIMITIVE_INFO,
                                       it->base.out, it->base.out_length));
}

static int once_prf(reprise_primitive *it)
{
    mbedtls_tls_prf_types prf = it->md == MBEDTLS_MD_SHA384 ? MBEDTLS_SSL_TLS_PRF_SHA384 : MBEDTLS_SSL_TLS_PRF_SHA256;
    return is_done(mbedtls_ssl_tls_prf(prf, it->base.data, 48, PRIMITIVE_LABEL, it->base.data, PRIMITIVE_PRF_SEED, it->base.out, PRIMITIVE_PRF_OUTPUT));
}

static int new_derivation(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    it->md = base->algorithm == 4 ? MBEDTLS_MD_SHA256 : base->algorithm == 5 ? MBEDTLS_MD_SHA384 : MBEDTLS_MD_SHA512;
    base->out_length = base->operation == REPRISE_OP_PRF ? PRIMITIVE_PRF_OUTPUT : primitive_hash_length(base->algorithm);
    base->once = base->operation == REPRISE_OP_HASH ? once_hash : base->operation == REPRISE_OP_HKDF ? once_expand : once_prf;
    return primitive_hash_length(base->algorithm) && (base->operation != REPRISE_OP_PRF || base->algorithm != 6);
}

static int once_random(reprise_primitive *it)
{
    size_t begin = 0, length = it->base.out_length;
    for (size_t count; begin < length; begin += count) {
        count = length - begin < MBEDTLS_CTR_DRBG_MAX_REQUEST ? length - begin : MBEDTLS_CTR_DRBG_MAX_REQUEST;
        if (!is_done(mbedtls_ctr_drbg_random(&drbg, it->base.out + begin, count))) return 0;
    }
    return 1;
}

#include "primitive_table.h"


#endif
