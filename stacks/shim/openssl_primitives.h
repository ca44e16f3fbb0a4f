/* The primitives of OpenSSL, by EVP: as openssl-speed calls them. */
#ifndef REPRISE_SHIM_OPENSSL_PRIMITIVES_H
#define REPRISE_SHIM_OPENSSL_PRIMITIVES_H

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include "primitive.h"

struct reprise_primitive {
    primitive_base base;
    EVP_PKEY *key, *peer;
    EVP_PKEY_CTX *pkey;
    EVP_MD_CTX *signer; /* of a scheme that hashes by itself */
    EVP_CIPHER_CTX *cipher;
    EVP_MD_CTX *hasher;
    EVP_MD *md;
    EVP_KDF_CTX *kdf;
};

static int primitive_init(reprise_primitive *it) { return (void)it, ERR_clear_error(), 1; }

static void primitive_clear(reprise_primitive *it)
{
    EVP_PKEY_CTX_free(it->pkey), EVP_PKEY_free(it->key), EVP_PKEY_free(it->peer), EVP_MD_CTX_free(it->signer), EVP_MD_CTX_free(it->hasher);
    EVP_CIPHER_CTX_free(it->cipher), EVP_MD_free(it->md), EVP_KDF_CTX_free(it->kdf);
}

static int once_sign(reprise_primitive *it)
{
    it->base.out_length = PRIMITIVE_LARGEST;
    if (it->signer) return EVP_DigestSign(it->signer, it->base.out, &it->base.out_length, it->base.data, it->base.length);
    return EVP_PKEY_sign(it->pkey, it->base.out, &it->base.out_length, it->base.data, it->base.length);
}

static int once_verify(reprise_primitive *it)
{
    if (it->signer) return EVP_DigestVerify(it->signer, it->base.given, it->base.given_length, it->base.data, it->base.length);
    return EVP_PKEY_verify(it->pkey, it->base.given, it->base.given_length, it->base.data, it->base.length);
}

/* Both kinds of context, for whichever the key takes. */
static int signs(reprise_primitive *it, int verifies)
{
    int hashes_itself = !(EVP_PKEY_is_a(it->key, "RSA") || EVP_PKEY_is_a(it->key, "EC"));
    EVP_PKEY_CTX_free(it->pkey), EVP_MD_CTX_free(it->signer);
    it->pkey = NULL, it->signer = NULL;
    if (hashes_itself) {
        if (!(it->signer = EVP_MD_CTX_new())) return 0;
        return (verifies ? EVP_DigestVerifyInit : EVP_DigestSignInit)(it->signer, NULL, NULL, NULL, it->key) == 1;
    }
    const EVP_MD *md = it->base.length == 48 ? EVP_sha384() : EVP_sha256();
    it->pkey = EVP_PKEY_CTX_new_from_pkey(NULL, it->key, NULL);
    if (!it->pkey || (verifies ? EVP_PKEY_verify_init : EVP_PKEY_sign_init)(it->pkey) != 1) return 0;
    if (EVP_PKEY_is_a(it->key, "RSA")
        && (EVP_PKEY_CTX_set_rsa_padding(it->pkey, RSA_PKCS1_PSS_PADDING) != 1
            || EVP_PKEY_CTX_set_rsa_pss_saltlen(it->pkey, RSA_PSS_SALTLEN_DIGEST) != 1))
        return 0;
    return EVP_PKEY_CTX_set_signature_md(it->pkey, md) == 1;
}

static int new_signature(reprise_primitive *it, const reprise_primitive_options *options)
{
    BIO *pem = BIO_new_mem_buf(options->key.data, (int)options->key.length);
    it->key = PEM_read_bio_PrivateKey(pem, NULL, NULL, NULL);
    BIO_free(pem);
    it->base.once = once_sign;
    if (!it->key || !signs(it, 0)) return 0;
    if (options->operation == REPRISE_OP_SIGN) return 1;
    return primitive_keep(it, once_verify) && signs(it, 1);
}

static int once_key_pair(reprise_primitive *it)
{
    EVP_PKEY *pair = NULL;
    int done = EVP_PKEY_keygen(it->pkey, &pair);
    EVP_PKEY_free(pair);
    return done;
}

static int once_agree(reprise_primitive *it)
{
    size_t length = PRIMITIVE_LARGEST;
    return EVP_PKEY_derive(it->pkey, it->base.given, &length);
}

static int once_encapsulate(reprise_primitive *it)
{
    size_t wrapped = PRIMITIVE_LARGEST, secret = PRIMITIVE_LARGEST / 2;
    uint8_t *key = it->base.out + PRIMITIVE_LARGEST / 2;
    int done = EVP_PKEY_encapsulate(it->pkey, it->base.given, &wrapped, key, &secret);
    it->base.given_length = wrapped;
    return done;
}

static int once_decapsulate(reprise_primitive *it)
{
    size_t secret = PRIMITIVE_LARGEST;
    return EVP_PKEY_decapsulate(it->pkey, it->base.out + 16, &secret, it->base.given, it->base.given_length);
}

/* A context that makes key pairs of a group. */
static EVP_PKEY_CTX *pair_context(uint16_t group)
{
    static const struct { uint16_t group; const char *type, *name; } known[] = {
        {23, "EC", "P-256"}, {24, "EC", "P-384"}, {25, "EC", "P-521"}, {29, "X25519", NULL}, {30, "X448", NULL},
        {256, "DH", "ffdhe2048"}, {257, "DH", "ffdhe3072"}, {258, "DH", "ffdhe4096"}, {512, "ML-KEM-512", NULL},
        {513, "ML-KEM-768", NULL}, {514, "ML-KEM-1024", NULL}, {4587, "SecP256r1MLKEM768", NULL}, {4588, "X25519MLKEM768", NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].group != group) continue;
        EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, known[i].type, NULL);
        if (context && EVP_PKEY_keygen_init(context) == 1
            && (!known[i].name || EVP_PKEY_CTX_set_group_name(context, known[i].name) == 1))
            return context;
        EVP_PKEY_CTX_free(context);
        return NULL;
    }
    return NULL;
}

static int new_exchange(reprise_primitive *it)
{
    EVP_PKEY_CTX *pairs = it->pkey = pair_context(it->base.algorithm);
    int operation = it->base.operation;
    if (!pairs) return 0;
    it->base.once = once_key_pair;
    if (operation == REPRISE_OP_KEY_PAIR) return 1;
    if (EVP_PKEY_keygen(pairs, &it->key) != 1 || EVP_PKEY_keygen(pairs, &it->peer) != 1) return 0;
    EVP_PKEY_CTX_free(pairs);
    if (!(it->pkey = EVP_PKEY_CTX_new_from_pkey(NULL, it->key, NULL))) return 0;
    if (operation == REPRISE_OP_AGREE) {
        it->base.once = once_agree;
        return EVP_PKEY_derive_init(it->pkey) == 1 && EVP_PKEY_derive_set_peer(it->pkey, it->peer) == 1;
    }
    it->base.once = once_encapsulate;
    if (EVP_PKEY_encapsulate_init(it->pkey, NULL) != 1) return 0;
    if (operation == REPRISE_OP_ENCAPSULATE) return 1;
    it->base.once = once_decapsulate;
    return once_encapsulate(it) == 1 && EVP_PKEY_decapsulate_init(it->pkey, NULL) == 1;
}

static int once_seal(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    int count, ignored;
    base->out_length = base->length + PRIMITIVE_TAG;
    return EVP_EncryptInit_ex(it->cipher, NULL, NULL, NULL, primitive_nonce) == 1
           && EVP_EncryptUpdate(it->cipher, NULL, &ignored, base->data, PRIMITIVE_ADDITIONAL) == 1
           && EVP_EncryptUpdate(it->cipher, base->out, &count, base->data, (int)base->length) == 1
           && EVP_EncryptFinal_ex(it->cipher, base->out + count, &ignored) == 1
           && EVP_CIPHER_CTX_ctrl(it->cipher, EVP_CTRL_AEAD_GET_TAG, PRIMITIVE_TAG, base->out + base->length) == 1;
}

static int once_open(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    int count, ignored;
    return EVP_DecryptInit_ex(it->cipher, NULL, NULL, NULL, primitive_nonce) == 1
           && EVP_CIPHER_CTX_ctrl(it->cipher, EVP_CTRL_AEAD_SET_TAG, PRIMITIVE_TAG, base->given + base->length) == 1
           && EVP_DecryptUpdate(it->cipher, NULL, &ignored, base->data, PRIMITIVE_ADDITIONAL) == 1
           && EVP_DecryptUpdate(it->cipher, base->out, &count, base->given, (int)base->length) == 1
           && EVP_DecryptFinal_ex(it->cipher, base->out + count, &ignored) == 1;
}

static int new_aead(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    uint16_t suite = base->algorithm;
    const EVP_CIPHER *cipher = suite == 0x1301 ? EVP_aes_128_gcm() : suite == 0x1302 ? EVP_aes_256_gcm() : suite == 0x1303 ? EVP_chacha20_poly1305() : NULL;
    if (!cipher || !(it->cipher = EVP_CIPHER_CTX_new())) return 0;
    if (EVP_EncryptInit_ex(it->cipher, cipher, NULL, base->data, primitive_nonce) != 1) return 0;
    base->once = once_seal;
    if (base->operation == REPRISE_OP_SEAL) return 1;
    return primitive_keep(it, once_open) && EVP_DecryptInit_ex(it->cipher, cipher, NULL, base->data, primitive_nonce) == 1;
}

static int once_hash(reprise_primitive *it)
{
    unsigned length = 0;
    int done = EVP_DigestInit_ex(it->hasher, it->md, NULL) == 1 && EVP_DigestUpdate(it->hasher, it->base.data, it->base.length) == 1
               && EVP_DigestFinal_ex(it->hasher, it->base.out, &length) == 1;
    it->base.out_length = length;
    return done;
}

static int once_derive(reprise_primitive *it) { return EVP_KDF_derive(it->kdf, it->base.out, it->base.out_length, NULL); }

static int new_derivation(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    size_t hash = primitive_hash_length(base->algorithm);
    char *name = base->algorithm == 5 ? "SHA384" : base->algorithm == 6 ? "SHA512" : "SHA256";
    if (!hash) return 0;
    base->once = once_hash;
    it->md = EVP_MD_fetch(NULL, name, NULL);
    if (base->operation == REPRISE_OP_HASH) return it->md && (it->hasher = EVP_MD_CTX_new());
    int expands = base->operation == REPRISE_OP_HKDF, mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, expands ? "HKDF" : "TLS1-PRF", NULL);
    it->kdf = EVP_KDF_CTX_new(kdf);
    EVP_KDF_free(kdf);
    uint8_t seed[128];
    size_t seed_length = primitive_label_and_seed(base, seed);
    OSSL_PARAM of_hkdf[] = {
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, name, 0), OSSL_PARAM_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_KEY, base->data, hash), OSSL_PARAM_octet_string(OSSL_KDF_PARAM_INFO, base->data, PRIMITIVE_INFO),
        OSSL_PARAM_END,
    };
    OSSL_PARAM of_prf[] = {
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, name, 0), OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SECRET, base->data, 48),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SEED, seed, seed_length), OSSL_PARAM_END,
    };
    base->once = once_derive, base->out_length = expands ? hash : PRIMITIVE_PRF_OUTPUT;
    return it->kdf && EVP_KDF_CTX_set_params(it->kdf, expands ? of_hkdf : of_prf) == 1;
}

static int once_random(reprise_primitive *it) { return RAND_bytes(it->base.out, (int)it->base.out_length); }

#include "primitive_table.h"


#endif
