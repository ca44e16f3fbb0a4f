/*
 * The primitives of GnuTLS, by its abstract keys and crypto.h: what an application may call. There is no PRF, finite field or KEM without a
 * session, and a key pair on P-256, P-384 or P-521 takes twice as long as in a handshake: it is checked by a second multiplication.
 */
#ifndef REPRISE_SHIM_GNUTLS_PRIMITIVES_H
#define REPRISE_SHIM_GNUTLS_PRIMITIVES_H

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>

#include "primitive.h"

struct reprise_primitive {
    primitive_base base;
    gnutls_privkey_t key;
    gnutls_pubkey_t peer; /* the key's own, of who verifies */
    gnutls_sign_algorithm_t scheme;
    int hashes_itself;
    gnutls_pk_algorithm_t kind;
    unsigned bits;
    gnutls_aead_cipher_hd_t cipher;
    gnutls_hash_hd_t hasher;
    gnutls_mac_algorithm_t mac;
    gnutls_datum_t public_key; /* SubjectPublicKeyInfo, of who verifies by a key read anew */
};

static int primitive_init(reprise_primitive *it) { return (void)it, last_error = 0, 1; }

static void primitive_clear(reprise_primitive *it)
{
    if (it->key) gnutls_privkey_deinit(it->key);
    if (it->peer) gnutls_pubkey_deinit(it->peer);
    if (it->cipher) gnutls_aead_cipher_deinit(it->cipher);
    if (it->hasher) gnutls_hash_deinit(it->hasher, NULL);
    gnutls_free(it->public_key.data);
}

/* Some calls return more than 0 where all is well. */
static int is_done(int result)
{
    if (result < 0) last_error = result;
    return result >= 0;
}

static int once_sign(reprise_primitive *it)
{
    gnutls_datum_t data = {it->base.data, (unsigned)it->base.length}, signature = {NULL, 0};
    if (!is_done((it->hashes_itself ? gnutls_privkey_sign_data2 : gnutls_privkey_sign_hash2)(it->key, it->scheme, 0, &data, &signature))) return 0;
    memcpy(it->base.out, signature.data, it->base.out_length = signature.size);
    gnutls_free(signature.data);
    return 1;
}

static int once_verify(reprise_primitive *it)
{
    gnutls_datum_t data = {it->base.data, (unsigned)it->base.length}, signature = {it->base.given, (unsigned)it->base.given_length};
    return is_done((it->hashes_itself ? gnutls_pubkey_verify_data2 : gnutls_pubkey_verify_hash2)(it->peer, it->scheme, 0, &data, &signature));
}

static int once_verify_new_key(reprise_primitive *it)
{
    if (it->peer) gnutls_pubkey_deinit(it->peer);
    it->peer = NULL;
    return is_done(gnutls_pubkey_init(&it->peer)) && is_done(gnutls_pubkey_import(it->peer, &it->public_key, GNUTLS_X509_FMT_DER)) && once_verify(it);
}

static int new_signature(reprise_primitive *it, const reprise_primitive_options *options)
{
    /* Bytes of the hash; 0: the scheme hashes by itself. */
    static const struct { uint16_t number; gnutls_sign_algorithm_t scheme; size_t hash; } known[] = {
        {0x0403, GNUTLS_SIGN_ECDSA_SECP256R1_SHA256, 32}, {0x0503, GNUTLS_SIGN_ECDSA_SECP384R1_SHA384, 48},
        {0x0603, GNUTLS_SIGN_ECDSA_SECP521R1_SHA512, 64}, {0x0804, GNUTLS_SIGN_RSA_PSS_RSAE_SHA256, 32},
        {0x0805, GNUTLS_SIGN_RSA_PSS_RSAE_SHA384, 48}, {0x0806, GNUTLS_SIGN_RSA_PSS_RSAE_SHA512, 64},
        {0x0807, GNUTLS_SIGN_EDDSA_ED25519, 0}, {0x0808, GNUTLS_SIGN_EDDSA_ED448, 0},
#if GNUTLS_VERSION_NUMBER >= 0x030809
        {0x0904, GNUTLS_SIGN_MLDSA44, 0}, {0x0905, GNUTLS_SIGN_MLDSA65, 0}, {0x0906, GNUTLS_SIGN_MLDSA87, 0},
#endif
    };
    size_t i = 0;
    while (i < sizeof known / sizeof *known && known[i].number != options->algorithm) i++;
    if (i == sizeof known / sizeof *known || (known[i].hash && known[i].hash != options->length)) return 0;
    it->scheme = known[i].scheme, it->hashes_itself = !known[i].hash;
    gnutls_datum_t pem = datum(options->key);
    if (!is_done(gnutls_privkey_init(&it->key)) || !is_done(gnutls_privkey_import_x509_raw(it->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0))) return 0;
    it->base.once = once_sign;
    if (options->operation == REPRISE_OP_SIGN) return 1;
    int verifies_anew = options->operation == REPRISE_OP_VERIFY_NEW_KEY;
    return primitive_keep(it, verifies_anew ? once_verify_new_key : once_verify) && is_done(gnutls_pubkey_init(&it->peer))
           && is_done(gnutls_pubkey_import_privkey(it->peer, it->key, 0, 0))
           && (!verifies_anew || is_done(gnutls_pubkey_export2(it->peer, GNUTLS_X509_FMT_DER, &it->public_key)));
}

static int key_pair(const reprise_primitive *it, gnutls_privkey_t *out)
{
    return is_done(gnutls_privkey_init(out)) && is_done(gnutls_privkey_generate(*out, it->kind, it->bits, 0));
}

static int once_key_pair(reprise_primitive *it)
{
    gnutls_privkey_t pair = NULL;
    int done = key_pair(it, &pair);
    if (pair) gnutls_privkey_deinit(pair);
    return done;
}

#if GNUTLS_VERSION_NUMBER >= 0x030802
static int once_agree(reprise_primitive *it)
{
    gnutls_datum_t secret = {NULL, 0};
    int done = is_done(gnutls_privkey_derive_secret(it->key, it->peer, NULL, &secret, 0));
    gnutls_free(secret.data);
    return done;
}

static int new_agreement(reprise_primitive *it)
{
    gnutls_privkey_t other = NULL;
    int done = key_pair(it, &it->key) && key_pair(it, &other) && is_done(gnutls_pubkey_init(&it->peer))
               && is_done(gnutls_pubkey_import_privkey(it->peer, other, 0, 0));
    if (other) gnutls_privkey_deinit(other);
    it->base.once = once_agree;
    return done;
}
#else
/* Until then it has shared secrets in handshakes alone. */
static int new_agreement(reprise_primitive *it) { return (void)it, 0; }
#endif

static int new_exchange(reprise_primitive *it)
{
    /* Its shares are read and checked in sessions alone. */
    if (primitive_is_of_kem(&it->base) || it->base.operation == REPRISE_OP_EXCHANGE) return 0;
    static const struct { uint16_t group; gnutls_pk_algorithm_t kind; gnutls_ecc_curve_t curve; } known[] = {
        {23, GNUTLS_PK_EC, GNUTLS_ECC_CURVE_SECP256R1}, {24, GNUTLS_PK_EC, GNUTLS_ECC_CURVE_SECP384R1},
        {25, GNUTLS_PK_EC, GNUTLS_ECC_CURVE_SECP521R1}, {29, GNUTLS_PK_ECDH_X25519, GNUTLS_ECC_CURVE_X25519},
        {30, GNUTLS_PK_ECDH_X448, GNUTLS_ECC_CURVE_X448},
    };
    size_t i = 0;
    while (i < sizeof known / sizeof *known && known[i].group != it->base.algorithm) i++;
    if (i == sizeof known / sizeof *known) return 0;
    it->kind = known[i].kind, it->bits = GNUTLS_CURVE_TO_BITS(known[i].curve);
    it->base.once = once_key_pair;
    return it->base.operation == REPRISE_OP_KEY_PAIR || new_agreement(it);
}

static int once_seal(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    base->out_length = base->length + PRIMITIVE_TAG;
    return is_done(gnutls_aead_cipher_encrypt(it->cipher, primitive_nonce, sizeof primitive_nonce, base->data, PRIMITIVE_ADDITIONAL,
                                              PRIMITIVE_TAG, base->data, base->length, base->out, &base->out_length));
}

static int once_open(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    size_t length = base->length;
    return is_done(gnutls_aead_cipher_decrypt(it->cipher, primitive_nonce, sizeof primitive_nonce, base->data, PRIMITIVE_ADDITIONAL,
                                              PRIMITIVE_TAG, base->given, base->length + PRIMITIVE_TAG, base->out, &length));
}

static int new_aead(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    uint16_t suite = base->algorithm;
    gnutls_datum_t key = {base->data, (unsigned)primitive_key_length(suite)};
    gnutls_cipher_algorithm_t cipher = suite == 0x1301 ? GNUTLS_CIPHER_AES_128_GCM : suite == 0x1302 ? GNUTLS_CIPHER_AES_256_GCM : GNUTLS_CIPHER_CHACHA20_POLY1305;
    if (!key.size || !is_done(gnutls_aead_cipher_init(&it->cipher, cipher, &key))) return 0;
    base->once = once_seal;
    if (base->operation == REPRISE_OP_SEAL) return 1;
    return primitive_keep(it, once_open);
}

static int once_hash(reprise_primitive *it)
{
    int done = is_done(gnutls_hash(it->hasher, it->base.data, it->base.length));
    gnutls_hash_output(it->hasher, it->base.out); /* and it begins anew */
    return done;
}

static int once_expand(reprise_primitive *it)
{
    gnutls_datum_t secret = {it->base.data, (unsigned)it->base.out_length}, info = {it->base.data, PRIMITIVE_INFO};
    return is_done(gnutls_hkdf_expand(it->mac, &secret, &info, it->base.out, it->base.out_length));
}

static int new_derivation(reprise_primitive *it)
{
    uint16_t hash = it->base.algorithm;
    if (it->base.operation == REPRISE_OP_PRF || !(it->base.out_length = primitive_hash_length(hash))) return 0;
    it->mac = hash == 4 ? GNUTLS_MAC_SHA256 : hash == 5 ? GNUTLS_MAC_SHA384 : GNUTLS_MAC_SHA512;
    it->base.once = it->base.operation == REPRISE_OP_HASH ? once_hash : once_expand;
    return it->base.operation != REPRISE_OP_HASH || is_done(gnutls_hash_init(&it->hasher, (gnutls_digest_algorithm_t)it->mac));
}

static int once_random(reprise_primitive *it) { return is_done(gnutls_rnd(GNUTLS_RND_KEY, it->base.out, it->base.out_length)); }

#include "primitive_table.h"


#endif
