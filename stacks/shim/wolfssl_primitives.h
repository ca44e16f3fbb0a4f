/* The primitives of wolfSSL, by those functions of wolfCrypt that its TLS calls. */
#ifndef REPRISE_SHIM_WOLFSSL_PRIMITIVES_H
#define REPRISE_SHIM_WOLFSSL_PRIMITIVES_H

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/asn_public.h>
#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/curve25519.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/ed25519.h>
#include <wolfssl/wolfcrypt/hmac.h>
#include <wolfssl/wolfcrypt/kdf.h>
#include <wolfssl/wolfcrypt/rsa.h>
/* Both have had other names, before the versions that are built. */
#if defined(WOLFSSL_HAVE_MLKEM) && __has_include(<wolfssl/wolfcrypt/wc_mlkem.h>)
#include <wolfssl/wolfcrypt/wc_mlkem.h>
#define HAS_ML_KEM
#endif
#if defined(WOLFSSL_HAVE_MLDSA) && __has_include(<wolfssl/wolfcrypt/wc_mldsa.h>)
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#define HAS_ML_DSA
#endif

#include "primitive.h"

typedef enum { KIND_NONE, KIND_AES, KIND_RSA, KIND_EC, KIND_X25519, KIND_ED25519, KIND_DH, KIND_ML_KEM, KIND_ML_DSA } key_kind;

/* Room for more than any has: options.h does not tell all that the library was compiled with, and its structures may be larger than here. */
typedef union {
    Aes aes;
    RsaKey rsa;
    ecc_key ec;
    curve25519_key x25519;
    ed25519_key ed25519;
    DhKey dh;
#ifdef HAS_ML_KEM
    MlKemKey ml_kem;
#endif
#ifdef HAS_ML_DSA
    wc_MlDsaKey ml_dsa;
#endif
    byte room[1 << 16];
} any_key;
_Static_assert(sizeof(any_key) == 1 << 16, "a structure of wolfSSL has outgrown its room");

/* DH has its numbers outside of the key. */
typedef struct {
    any_key key;
    byte secret[512], shown[512];
    word32 secret_length, shown_length;
} pair;

struct reprise_primitive {
    primitive_base base;
    WC_RNG *rng;
    key_kind kind;           /* of pairs */
    int id, kem;             /* which of the kind; which KEM, alone or in a hybrid, -1 for none */
    enum wc_HashType hash;
    int mgf;
    pair pairs[2];
    any_key kem_key;
};

/* Of functions that return 0, or how much. */
static int worked(int result) { return refusal = NULL, last_error = result, result >= 0; }

static void key_free(key_kind kind, any_key *key)
{
    switch (kind) {
    case KIND_AES: wc_AesFree(&key->aes); break;
    case KIND_RSA: wc_FreeRsaKey(&key->rsa); break;
    case KIND_EC: wc_ecc_free(&key->ec); break;
    case KIND_X25519: wc_curve25519_free(&key->x25519); break;
    case KIND_ED25519: wc_ed25519_free(&key->ed25519); break;
    case KIND_DH: wc_FreeDhKey(&key->dh); break;
#ifdef HAS_ML_KEM
    case KIND_ML_KEM: wc_MlKemKey_Free(&key->ml_kem); break;
#endif
#ifdef HAS_ML_DSA
    case KIND_ML_DSA: wc_MlDsaKey_Free(&key->ml_dsa); break;
#endif
    default: break;
    }
}

static void primitive_free(reprise_primitive *it)
{
    if (!it) return;
    key_free(it->kind, &it->pairs[0].key), key_free(it->kind, &it->pairs[1].key), key_free(it->kem < 0 ? KIND_NONE : KIND_ML_KEM, &it->kem_key);
    wc_rng_free(it->rng);
    primitive_end(&it->base), free(it);
}

static int once_sign(reprise_primitive *it)
{
    any_key *key = &it->pairs[0].key;
    byte *data = it->base.data, *out = it->base.out;
    word32 length = (word32)it->base.length, room = PRIMITIVE_LARGEST;
    int done = -1;
    switch (it->kind) {
    case KIND_RSA: done = wc_RsaPSS_Sign(data, length, out, room, it->hash, it->mgf, &key->rsa, it->rng), room = (word32)done; break;
    case KIND_EC: done = wc_ecc_sign_hash(data, length, out, &room, it->rng, &key->ec); break;
    case KIND_ED25519: done = wc_ed25519_sign_msg(data, length, out, &room, &key->ed25519); break;
#ifdef HAS_ML_DSA
    case KIND_ML_DSA: done = wc_MlDsaKey_SignCtx(&key->ml_dsa, NULL, 0, out, &room, data, length, it->rng); break;
#endif
    default: break;
    }
    it->base.out_length = done < 0 ? 0 : room;
    return worked(done);
}

static int once_verify(reprise_primitive *it)
{
    any_key *key = &it->pairs[0].key;
    byte *data = it->base.data, *given = it->base.given;
    word32 length = (word32)it->base.length, room = (word32)it->base.given_length;
    int done = -1, is_right = 0;
    switch (it->kind) {
    case KIND_RSA: is_right = (done = wc_RsaPSS_VerifyCheck(given, room, it->base.out, room, data, length, it->hash, it->mgf, &key->rsa)) > 0; break;
    case KIND_EC: done = wc_ecc_verify_hash(given, room, data, length, &is_right, &key->ec); break;
    case KIND_ED25519: done = wc_ed25519_verify_msg(given, room, data, length, &is_right, &key->ed25519); break;
#ifdef HAS_ML_DSA
    case KIND_ML_DSA: done = wc_MlDsaKey_VerifyCtx(&key->ml_dsa, given, room, NULL, 0, data, length, &is_right); break;
#endif
    default: break;
    }
    return worked(done) && is_right == 1;
}

/* The scheme says what the key must be. */
static int read_signer(reprise_primitive *it, const byte *der, word32 length)
{
    any_key *key = &it->pairs[0].key;
    byte shown[ED25519_PUB_KEY_SIZE];
    word32 at = 0;
    switch (it->base.algorithm) {
    case 0x0804: case 0x0805:
        it->kind = KIND_RSA;
        return worked(wc_InitRsaKey(&key->rsa, NULL)) && worked(wc_RsaPrivateKeyDecode(der, &at, &key->rsa, length));
    case 0x0403: case 0x0503:
        it->kind = KIND_EC;
        return worked(wc_ecc_init(&key->ec)) && worked(wc_EccPrivateKeyDecode(der, &at, &key->ec, length));
    case 0x0807: /* in PKCS #8 it has no public key */
        it->kind = KIND_ED25519;
        return worked(wc_ed25519_init(&key->ed25519)) && worked(wc_Ed25519PrivateKeyDecode(der, &at, &key->ed25519, length))
               && worked(wc_ed25519_make_public(&key->ed25519, shown, sizeof shown))
               && worked(wc_ed25519_import_public(shown, sizeof shown, &key->ed25519));
#ifdef HAS_ML_DSA
    case 0x0904: case 0x0905:
        it->kind = KIND_ML_DSA;
        return worked(wc_MlDsaKey_Init(&key->ml_dsa, NULL, INVALID_DEVID))
               && worked(wc_MlDsaKey_SetParams(&key->ml_dsa, it->base.algorithm == 0x0904 ? WC_ML_DSA_44 : WC_ML_DSA_65))
               && worked(wc_MlDsaKey_PrivateKeyDecode(&key->ml_dsa, der, length, &at));
#endif
    default: return 0;
    }
}

static int new_signature(reprise_primitive *it, const reprise_primitive_options *options)
{
    int room = (int)options->key.length, is_384 = options->length == 48;
    byte *der = malloc((size_t)room);
    int length = der ? wc_KeyPemToDer((const byte *)options->key.data, room, der, room, NULL) : 0;
    int done = length > 0 && read_signer(it, der, (word32)length);
    free(der);
    it->hash = is_384 ? WC_HASH_TYPE_SHA384 : WC_HASH_TYPE_SHA256, it->mgf = is_384 ? WC_MGF1SHA384 : WC_MGF1SHA256;
    it->base.once = once_sign;
    if (!done || options->operation == REPRISE_OP_SIGN) return done;
    if (once_sign(it) != 1) return 0;
    memcpy(it->base.given, it->base.out, it->base.given_length = it->base.out_length);
    it->base.out_length = 0, it->base.once = once_verify;
    return 1;
}

static int pair_make(reprise_primitive *it, pair *to)
{
    const DhParams *field = NULL;
#ifdef HAVE_FFDHE_2048
    if (it->id == 2048) field = wc_Dh_ffdhe2048_Get();
#endif
#ifdef HAVE_FFDHE_3072
    if (it->id == 3072) field = wc_Dh_ffdhe3072_Get();
#endif
    any_key *key = &to->key;
    to->secret_length = to->shown_length = sizeof to->shown;
    switch (it->kind) {
    case KIND_EC: return worked(wc_ecc_init(&key->ec)) && worked(wc_ecc_make_key_ex(it->rng, wc_ecc_get_curve_size_from_id(it->id), &key->ec, it->id));
    case KIND_X25519: return worked(wc_curve25519_init(&key->x25519)) && worked(wc_curve25519_make_key(it->rng, CURVE25519_KEYSIZE, &key->x25519));
    case KIND_DH:
        return field && worked(wc_InitDhKey(&key->dh)) && worked(wc_DhSetKey(&key->dh, field->p, field->p_len, field->g, field->g_len))
               && worked(wc_DhGenerateKeyPair(&key->dh, it->rng, to->secret, &to->secret_length, to->shown, &to->shown_length));
    default: return 1; /* a KEM alone */
    }
}

static int pair_agree(reprise_primitive *it, pair *own, pair *peer)
{
    byte *out = it->base.out + PRIMITIVE_LARGEST / 2; /* before it is the secret of a KEM */
    word32 room = PRIMITIVE_LARGEST / 2;
    switch (it->kind) {
    case KIND_EC:
#ifdef ECC_TIMING_RESISTANT
        if (!worked(wc_ecc_set_rng(&own->key.ec, it->rng))) return 0;
#endif
        return worked(wc_ecc_shared_secret(&own->key.ec, &peer->key.ec, out, &room));
    case KIND_X25519: return worked(wc_curve25519_shared_secret_ex(&own->key.x25519, &peer->key.x25519, out, &room, EC25519_LITTLE_ENDIAN));
    case KIND_DH: return worked(wc_DhAgree(&own->key.dh, out, &room, own->secret, own->secret_length, peer->shown, peer->shown_length));
    default: return 1;
    }
}

/* The KEM's part of an operation. */
static int kem(reprise_primitive *it, int operation)
{
#ifdef HAS_ML_KEM
    MlKemKey *key = &it->kem_key.ml_kem;
    word32 length = 0;
    if (it->kem < 0) return 1;
    if (operation == REPRISE_OP_KEY_PAIR) return worked(wc_MlKemKey_Init(key, it->kem, NULL, INVALID_DEVID)) && worked(wc_MlKemKey_MakeKey(key, it->rng));
    if (operation == REPRISE_OP_ENCAPSULATE) return worked(wc_MlKemKey_Encapsulate(key, it->base.given, it->base.out, it->rng));
    return worked(wc_MlKemKey_CipherTextSize(key, &length)) && worked(wc_MlKemKey_Decapsulate(key, it->base.out, it->base.given, length));
#else
    return (void)operation, it->kem < 0;
#endif
}

static int once_key_pair(reprise_primitive *it)
{
    int done = pair_make(it, &it->pairs[0]) && kem(it, REPRISE_OP_KEY_PAIR);
    key_free(it->kind, &it->pairs[0].key), key_free(it->kem < 0 ? KIND_NONE : KIND_ML_KEM, &it->kem_key);
    return done;
}

static int once_agree(reprise_primitive *it)
{
#ifdef FP_ECC
    wc_ecc_fp_free(); /* it remembers points that come again, and is seven times as fast with them: a peer's do not */
#endif
    return pair_agree(it, &it->pairs[0], &it->pairs[1]);
}

/* In a hybrid, the other group's key pair is new each time. */
static int once_encapsulate(reprise_primitive *it)
{
    key_free(it->kind, &it->pairs[1].key);
    return pair_make(it, &it->pairs[1]) && pair_agree(it, &it->pairs[1], &it->pairs[0]) && kem(it, REPRISE_OP_ENCAPSULATE);
}

static int once_decapsulate(reprise_primitive *it) { return pair_agree(it, &it->pairs[0], &it->pairs[1]) && kem(it, REPRISE_OP_DECAPSULATE); }

static int new_exchange(reprise_primitive *it)
{
    static const struct { uint16_t group; key_kind kind; int id, kem; } known[] = {
        {23, KIND_EC, ECC_SECP256R1, -1}, {24, KIND_EC, ECC_SECP384R1, -1}, {25, KIND_EC, ECC_SECP521R1, -1}, {29, KIND_X25519, 0, -1},
        {256, KIND_DH, 2048, -1}, {257, KIND_DH, 3072, -1},
#ifdef HAS_ML_KEM
        {512, KIND_NONE, 0, WC_ML_KEM_512}, {513, KIND_NONE, 0, WC_ML_KEM_768}, {514, KIND_NONE, 0, WC_ML_KEM_1024},
        {4587, KIND_EC, ECC_SECP256R1, WC_ML_KEM_768}, {4588, KIND_X25519, 0, WC_ML_KEM_768},
#endif
    };
    int operation = it->base.operation, is_known = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].group == it->base.algorithm) is_known = 1, it->kind = known[i].kind, it->id = known[i].id, it->kem = known[i].kem;
    it->base.once = once_key_pair;
    if (operation == REPRISE_OP_KEY_PAIR) return is_known && once_key_pair(it); /* the build may be without the group */
    if (!is_known || (operation == REPRISE_OP_AGREE) != (it->kem < 0) || !pair_make(it, &it->pairs[0])) return 0;
    it->base.once = once_agree;
    if (operation == REPRISE_OP_AGREE) return pair_make(it, &it->pairs[1]);
    it->base.once = operation == REPRISE_OP_ENCAPSULATE ? once_encapsulate : once_decapsulate;
    return kem(it, REPRISE_OP_KEY_PAIR) && once_encapsulate(it);
}

static int once_seal(reprise_primitive *it)
{
    byte *data = it->base.data, *out = it->base.out, *tag = out + it->base.length;
    word32 length = (word32)it->base.length, nonce = sizeof primitive_nonce;
    it->base.out_length = length + PRIMITIVE_TAG;
    return worked(it->kind == KIND_AES
        ? wc_AesGcmEncrypt(&it->pairs[0].key.aes, out, data, length, primitive_nonce, nonce, tag, PRIMITIVE_TAG, data, PRIMITIVE_ADDITIONAL)
        : wc_ChaCha20Poly1305_Encrypt(data, primitive_nonce, data, PRIMITIVE_ADDITIONAL, data, length, out, tag));
}

static int once_open(reprise_primitive *it)
{
    byte *data = it->base.data, *given = it->base.given, *out = it->base.out, *tag = given + it->base.length;
    word32 length = (word32)it->base.length, nonce = sizeof primitive_nonce;
    return worked(it->kind == KIND_AES
        ? wc_AesGcmDecrypt(&it->pairs[0].key.aes, out, given, length, primitive_nonce, nonce, tag, PRIMITIVE_TAG, data, PRIMITIVE_ADDITIONAL)
        : wc_ChaCha20Poly1305_Decrypt(data, primitive_nonce, data, PRIMITIVE_ADDITIONAL, given, length, tag, out));
}

static int new_aead(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    Aes *aes = &it->pairs[0].key.aes;
    word32 key = (word32)primitive_key_length(base->algorithm);
    it->kind = base->algorithm == 0x1303 ? KIND_NONE : KIND_AES;
    if (!key || (it->kind == KIND_AES && (!worked(wc_AesInit(aes, NULL, INVALID_DEVID)) || !worked(wc_AesGcmSetKey(aes, base->data, key))))) return 0;
    base->once = once_seal;
    if (base->operation == REPRISE_OP_SEAL) return 1;
    if (once_seal(it) != 1) return 0;
    memcpy(base->given, base->out, base->out_length);
    base->out_length = 0, base->once = once_open;
    return 1;
}

static int once_derive(reprise_primitive *it)
{
    byte *data = it->base.data, *out = it->base.out, *label = (byte *)PRIMITIVE_LABEL;
    word32 length = (word32)it->base.out_length;
    int mac = it->base.algorithm == 5 ? sha384_mac : it->base.algorithm == 6 ? sha512_mac : sha256_mac;
    switch (it->base.operation) {
    case REPRISE_OP_HASH: return worked(wc_Hash(it->hash, data, (word32)it->base.length, out, length));
    case REPRISE_OP_HKDF: return worked(wc_HKDF_Expand((int)it->hash, data, length, data, PRIMITIVE_INFO, out, length));
    default: return worked(wc_PRF_TLS(out, length, data, 48, label, sizeof PRIMITIVE_LABEL - 1, data, PRIMITIVE_PRF_SEED, 1, mac, NULL, INVALID_DEVID));
    }
}

static int new_derivation(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    size_t hash = primitive_hash_length(base->algorithm);
    it->hash = base->algorithm == 5 ? WC_HASH_TYPE_SHA384 : base->algorithm == 6 ? WC_HASH_TYPE_SHA512 : WC_HASH_TYPE_SHA256;
    base->once = once_derive, base->out_length = base->operation == REPRISE_OP_PRF ? PRIMITIVE_PRF_OUTPUT : hash;
    return hash && once_derive(it); /* the build may be without the hash */
}

static int once_random(reprise_primitive *it) { return worked(wc_RNG_GenerateBlock(it->rng, it->base.out, (word32)it->base.out_length)); }

static int primitive_new(const reprise_primitive_options *options, reprise_primitive **out)
{
    reprise_primitive *it = aligned_alloc(64, (sizeof *it + 63) / 64 * 64); /* as vectors in the keys may have to be */
    if (!it) return REPRISE_NO_MEMORY;
    memset(it, 0, sizeof *it);
    it->kem = -1, it->rng = wc_rng_new(NULL, 0, NULL);
    int done = primitive_begin(&it->base, options) && it->rng;
    if (!done) {
        primitive_free(it);
        return REPRISE_NO_MEMORY;
    }
    switch (options->operation) {
    case REPRISE_OP_SIGN: case REPRISE_OP_VERIFY: done = new_signature(it, options); break;
    case REPRISE_OP_KEY_PAIR: case REPRISE_OP_AGREE: case REPRISE_OP_ENCAPSULATE: case REPRISE_OP_DECAPSULATE: done = new_exchange(it); break;
    case REPRISE_OP_SEAL: case REPRISE_OP_OPEN: done = new_aead(it); break;
    case REPRISE_OP_HASH: case REPRISE_OP_HKDF: case REPRISE_OP_PRF: done = new_derivation(it); break;
    case REPRISE_OP_RANDOM: it->base.once = once_random, it->base.out_length = options->length; break;
    default: done = 0;
    }
    if (!done) {
        primitive_free(it);
        return REPRISE_UNSUPPORTED;
    }
    *out = it;
    return REPRISE_OK;
}

PRIMITIVES_TABLE

#endif
