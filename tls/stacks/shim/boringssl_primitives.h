/* The primitives of AWS-LC and BoringSSL, by EVP; those of classical groups and hashes by functions without it, as their TLS calls them. */
#ifndef REPRISE_SHIM_BORINGSSL_PRIMITIVES_H
#define REPRISE_SHIM_BORINGSSL_PRIMITIVES_H

#include <openssl/aead.h>
#include <openssl/curve25519.h>
#include <openssl/dh.h>
#include <openssl/ec_key.h>
#include <openssl/ecdh.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hkdf.h>
#include <openssl/nid.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#ifdef OPENSSL_IS_AWSLC
#include <openssl/kdf.h>
#else
#include <openssl/tls_prf.h>
#endif

#include "primitive.h"

/* How each of the two numbers its algorithms. */
#ifdef OPENSSL_IS_AWSLC
enum { FIELD_2048 = NID_ffdhe2048, FIELD_3072 = NID_ffdhe3072, ML_KEM_512 = NID_MLKEM512, ML_KEM_768 = NID_MLKEM768, ML_KEM_1024 = NID_MLKEM1024 };
#define KEM_TYPE(kem) EVP_PKEY_KEM
#define EVP_PKEY_encapsulate_init(context, parameters) 1
#define EVP_PKEY_decapsulate_init(context, parameters) 1
#else
enum { FIELD_2048 = 2048, FIELD_3072 = 0, ML_KEM_512 = -1, ML_KEM_768 = EVP_PKEY_ML_KEM_768, ML_KEM_1024 = EVP_PKEY_ML_KEM_1024 };
#define KEM_TYPE(kem) (kem)
#define EVP_PKEY_CTX_kem_set_params(context, kem) 1
#define DH_new_by_nid(field) ((field) == FIELD_2048 ? DH_get_rfc7919_2048() : NULL)
#endif

typedef enum { KIND_NONE, KIND_EC, KIND_X25519, KIND_DH } pair_kind;

/* Of a group. */
typedef struct {
    EC_KEY *ec;
    DH *dh;
    uint8_t secret[X25519_PRIVATE_KEY_LEN], shown[X25519_PUBLIC_VALUE_LEN];
} pair;

struct reprise_primitive {
    primitive_base base;
    EVP_PKEY *key;      /* of who signs, of a KEM */
    EVP_PKEY_CTX *pkey;
    EVP_MD_CTX *signer; /* of a scheme that hashes by itself */
    pair_kind kind;
    int nid, kem;       /* of the pairs' group; of a KEM, alone or in a hybrid, 0 for none */
    pair pairs[2];
    EC_GROUP *group;    /* of an exchange; NULL: X25519 */
    EVP_AEAD_CTX *aead;
    const EVP_MD *md;
    uint8_t *public_key; /* SubjectPublicKeyInfo, of who verifies by a key read anew */
    int public_length;
};

#include "boringssl_kem.h"
#ifdef S2N_PRIMITIVES
#include "s2n_exchange.h"
#else
#include "boringssl_exchange.h"
#endif

static void pair_free(pair *pair)
{
    EC_KEY_free(pair->ec), DH_free(pair->dh);
    pair->ec = NULL, pair->dh = NULL;
}

static int pair_make(reprise_primitive *it, pair *to)
{
    pair_free(to);
    switch (it->kind) {
    case KIND_EC: return (to->ec = EC_KEY_new_by_curve_name(it->nid)) && EC_KEY_generate_key(to->ec);
    case KIND_X25519: return X25519_keypair(to->shown, to->secret), 1;
    case KIND_DH: return (to->dh = DH_new_by_nid(it->nid)) && DH_generate_key(to->dh);
    default: return 1; /* a KEM alone */
    }
}

static int pair_agree(reprise_primitive *it, const pair *own, const pair *peer)
{
    uint8_t *out = it->base.out + PRIMITIVE_LARGEST / 2; /* before it is the secret of a KEM */
    switch (it->kind) {
    case KIND_EC: return ECDH_compute_key(out, PRIMITIVE_LARGEST / 2, EC_KEY_get0_public_key(peer->ec), own->ec, NULL) > 0;
    case KIND_X25519: return X25519(out, own->secret, peer->shown);
    case KIND_DH: return DH_compute_key_padded(out, DH_get0_pub_key(peer->dh), own->dh) > 0;
    default: return 1;
    }
}

static int primitive_init(reprise_primitive *it) { return (void)it, ERR_clear_error(), 1; }

static void primitive_clear(reprise_primitive *it)
{
    EVP_PKEY_CTX_free(it->pkey), EVP_PKEY_free(it->key), EVP_MD_CTX_free(it->signer), EVP_AEAD_CTX_free(it->aead);
    pair_free(&it->pairs[0]), pair_free(&it->pairs[1]);
    EC_GROUP_free(it->group), OPENSSL_free(it->public_key);
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
    int kind = EVP_PKEY_id(it->key);
    EVP_PKEY_CTX_free(it->pkey), EVP_MD_CTX_free(it->signer);
    it->pkey = NULL, it->signer = NULL;
    if (kind != EVP_PKEY_RSA && kind != EVP_PKEY_EC)
        return (it->signer = EVP_MD_CTX_new()) && (verifies ? EVP_DigestVerifyInit : EVP_DigestSignInit)(it->signer, NULL, NULL, NULL, it->key) == 1;
    it->pkey = EVP_PKEY_CTX_new(it->key, NULL);
    if (!it->pkey || (verifies ? EVP_PKEY_verify_init : EVP_PKEY_sign_init)(it->pkey) != 1) return 0;
    if (kind == EVP_PKEY_RSA
        && (EVP_PKEY_CTX_set_rsa_padding(it->pkey, RSA_PKCS1_PSS_PADDING) != 1 || EVP_PKEY_CTX_set_rsa_pss_saltlen(it->pkey, -1) != 1)) /* as the digest */
        return 0;
    return EVP_PKEY_CTX_set_signature_md(it->pkey, it->base.length == 48 ? EVP_sha384() : EVP_sha256()) == 1;
}

/* As the certificate's is read, with contexts of its own. */
static int once_verify_new_key(reprise_primitive *it)
{
    const uint8_t *at = it->public_key;
    EVP_PKEY_free(it->key);
    return (it->key = d2i_PUBKEY(NULL, &at, it->public_length)) && signs(it, 1) && once_verify(it);
}

static int new_signature(reprise_primitive *it, const reprise_primitive_options *options)
{
    BIO *pem = BIO_new_mem_buf(options->key.data, (int)options->key.length);
    it->key = pem ? PEM_read_bio_PrivateKey(pem, NULL, NULL, NULL) : NULL;
    BIO_free(pem);
    it->base.once = once_sign;
    if (!it->key || !signs(it, 0)) return 0;
    if (options->operation == REPRISE_OP_SIGN) return 1;
    if (options->operation == REPRISE_OP_VERIFY) return primitive_keep(it, once_verify) && signs(it, 1);
    return (it->public_length = i2d_PUBKEY(it->key, &it->public_key)) > 0 && primitive_keep(it, once_verify_new_key);
}

static int makes_kem_keys(reprise_primitive *it)
{
    return (it->pkey = EVP_PKEY_CTX_new_id(KEM_TYPE(it->kem), NULL)) && EVP_PKEY_keygen_init(it->pkey) == 1
           && EVP_PKEY_CTX_kem_set_params(it->pkey, it->kem) == 1;
}

static int once_key_pair(reprise_primitive *it)
{
    EVP_PKEY_free(it->key);
    it->key = NULL;
    return pair_make(it, &it->pairs[0]) && (!it->kem || EVP_PKEY_keygen(it->pkey, &it->key) == 1);
}

static int once_agree(reprise_primitive *it) { return pair_agree(it, &it->pairs[0], &it->pairs[1]); }

/* In a hybrid, the other group's key pair is new each time. */
static int once_encapsulate(reprise_primitive *it)
{
    size_t wrapped = PRIMITIVE_LARGEST, secret = PRIMITIVE_LARGEST / 2;
    int done = pair_make(it, &it->pairs[1]) && pair_agree(it, &it->pairs[1], &it->pairs[0])
               && EVP_PKEY_encapsulate(it->pkey, it->base.given, &wrapped, it->base.out, &secret) == 1;
    it->base.given_length = wrapped;
    return done;
}

static int once_decapsulate(reprise_primitive *it)
{
    size_t secret = PRIMITIVE_LARGEST / 2;
    return once_agree(it) && EVP_PKEY_decapsulate(it->pkey, it->base.out, &secret, it->base.given, it->base.given_length) == 1;
}

/* Of a hybrid, ML-KEM's secrets behind the curve's. */
static int once_whole_exchange(reprise_primitive *it)
{
    uint8_t *first = it->base.out, *second = primitive_second_secret(&it->base);
    size_t one = 0, other = 0;
    if (it->kind != KIND_NONE && !curve_exchange(it, first, &one, second, &other)) return 0;
    if (it->kem) {
        if (!kem_exchange(it->kem, first + one, second + other)) return 0;
        one += KEM_SECRET, other += KEM_SECRET;
    }
    return primitive_exchanged(&it->base, one, other);
}

static int new_exchange(reprise_primitive *it)
{
    static const struct { uint16_t group; pair_kind kind; int nid, kem; } known[] = {
        {23, KIND_EC, NID_X9_62_prime256v1, 0}, {24, KIND_EC, NID_secp384r1, 0}, {25, KIND_EC, NID_secp521r1, 0}, {29, KIND_X25519, 0, 0},
        {256, KIND_DH, FIELD_2048, 0}, {257, KIND_DH, FIELD_3072, 0}, {512, KIND_NONE, 0, ML_KEM_512}, {513, KIND_NONE, 0, ML_KEM_768},
        {514, KIND_NONE, 0, ML_KEM_1024}, {4587, KIND_EC, NID_X9_62_prime256v1, ML_KEM_768}, {4588, KIND_X25519, 0, ML_KEM_768},
        {4589, KIND_EC, NID_secp384r1, ML_KEM_1024},
    };
    int operation = it->base.operation, is_known = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].group == it->base.algorithm) is_known = 1, it->kind = known[i].kind, it->nid = known[i].nid, it->kem = known[i].kem;
    if (operation == REPRISE_OP_EXCHANGE) {
        it->base.once = once_whole_exchange;
        if (it->kind == KIND_EC) it->group = EC_GROUP_new_by_curve_name(it->nid);
        return is_known && it->kind != KIND_DH && (it->kind != KIND_EC || it->group);
    }
    it->base.once = once_key_pair;
    if (!is_known || (it->kem && !makes_kem_keys(it)) || once_key_pair(it) != 1) return 0;
    if (operation == REPRISE_OP_KEY_PAIR) return 1;
    if ((operation == REPRISE_OP_AGREE) == (it->kem != 0)) return 0;
    it->base.once = once_agree;
    if (operation == REPRISE_OP_AGREE) return pair_make(it, &it->pairs[1]);
    EVP_PKEY_CTX_free(it->pkey);
    it->pkey = EVP_PKEY_CTX_new(it->key, NULL);
    it->base.once = once_encapsulate;
    if (!it->pkey || EVP_PKEY_encapsulate_init(it->pkey, NULL) != 1 || once_encapsulate(it) != 1) return 0;
    if (operation == REPRISE_OP_ENCAPSULATE) return 1;
    it->base.once = once_decapsulate;
    return EVP_PKEY_decapsulate_init(it->pkey, NULL) == 1;
}

static int once_seal(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    size_t tag = 0;
    int done = EVP_AEAD_CTX_seal_scatter(it->aead, base->out, base->out + base->length, &tag, PRIMITIVE_TAG, primitive_nonce, sizeof primitive_nonce,
                                         base->data, base->length, NULL, 0, base->data, PRIMITIVE_ADDITIONAL);
    base->out_length = base->length + tag;
    return done;
}

static int once_open(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    return EVP_AEAD_CTX_open_gather(it->aead, base->out, primitive_nonce, sizeof primitive_nonce, base->given, base->length,
                                    base->given + base->length, PRIMITIVE_TAG, base->data, PRIMITIVE_ADDITIONAL);
}

static int new_aead(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    size_t key = primitive_key_length(base->algorithm);
    const EVP_AEAD *aead = base->algorithm == 0x1301 ? EVP_aead_aes_128_gcm() : base->algorithm == 0x1302 ? EVP_aead_aes_256_gcm() : EVP_aead_chacha20_poly1305();
    if (!key || !(it->aead = EVP_AEAD_CTX_new(aead, base->data, key, PRIMITIVE_TAG))) return 0;
    base->once = once_seal;
    if (base->operation == REPRISE_OP_SEAL) return 1;
    return primitive_keep(it, once_open);
}

static int once_hash(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    return (base->algorithm == 5 ? SHA384 : base->algorithm == 6 ? SHA512 : SHA256)(base->data, base->length, base->out) != NULL;
}

static int once_hkdf(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    return HKDF_expand(base->out, base->out_length, it->md, base->data, base->out_length, base->data, PRIMITIVE_INFO);
}

static int once_prf(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    const void *label = PRIMITIVE_LABEL; /* characters in one, bytes in the other */
    return CRYPTO_tls1_prf(it->md, base->out, base->out_length, base->data, 48, label, sizeof PRIMITIVE_LABEL - 1, base->data, PRIMITIVE_PRF_SEED, NULL, 0);
}

static int new_derivation(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    int operation = base->operation;
    base->out_length = primitive_hash_length(base->algorithm);
    it->md = base->algorithm == 5 ? EVP_sha384() : base->algorithm == 6 ? EVP_sha512() : EVP_sha256();
    base->once = operation == REPRISE_OP_HASH ? once_hash : operation == REPRISE_OP_HKDF ? once_hkdf : once_prf;
    if (!base->out_length) return 0;
    if (operation == REPRISE_OP_PRF) base->out_length = PRIMITIVE_PRF_OUTPUT;
    return 1;
}

static int once_random(reprise_primitive *it) { return RAND_bytes(it->base.out, it->base.out_length); }

#include "primitive_table.h"


#endif
