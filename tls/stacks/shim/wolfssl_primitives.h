/* The primitives of wolfSSL, by those functions of wolfCrypt that its TLS calls. */
#ifndef REPRISE_SHIM_WOLFSSL_PRIMITIVES_H
#define REPRISE_SHIM_WOLFSSL_PRIMITIVES_H

#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/hash.h>
#include <wolfssl/wolfcrypt/hmac.h>
#include <wolfssl/wolfcrypt/kdf.h>
#include <wolfssl/wolfcrypt/random.h>

#include "primitive.h"
#include "wolfssl_keys.h"

#if defined(HAVE_CHACHA) && defined(HAVE_POLY1305)
#define HAS_CHACHA 1
#else
#define HAS_CHACHA 0
#endif

/* A peer's point is new to a server each time. Debian's build (FP_ECC) remembers fifteen points, and is seven times as fast with one that comes
 * again: so many peers take turns that none does, while the generator's multiples stay. */
#ifdef FP_ECC
#define PEERS 32
#else
#define PEERS 1
#endif

struct reprise_primitive {
    primitive_base base;
    WC_RNG *rng;
    key_kind kind; /* of the pairs' keys */
    int id, kem;   /* which of the kind; which KEM, alone or in a hybrid, -1 for none */
    enum wc_HashType hash;
    int mgf;
    pair pairs[2]; /* the first is also of who signs, or a cipher's key */
    pair read;     /* in an exchange: what the peer has sent */
    any_key kem_key;
    pair *peers; /* of who agrees: PEERS, or none */
    size_t turn;
    byte public_key[PRIMITIVE_LARGEST]; /* as in a certificate, of who verifies by a key read anew */
    word32 public_length;
};

static void free_keys(reprise_primitive *it)
{
    key_free(it->kind, &it->pairs[0].key), key_free(it->kind, &it->pairs[1].key);
    if (it->kem >= 0) key_free(KIND_ML_KEM, &it->kem_key);
    for (size_t i = 0; it->peers && i < PEERS; i++) key_free(it->kind, &it->peers[i].key);
    free(it->peers);
}

static int primitive_init(reprise_primitive *it) { return it->kem = -1, (it->rng = wc_rng_new(NULL, 0, NULL)) != NULL; }

static void primitive_clear(reprise_primitive *it)
{
    free_keys(it), wc_rng_free(it->rng);
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
#ifdef HAVE_ED25519
    case KIND_ED25519: done = wc_ed25519_sign_msg(data, length, out, &room, &key->ed25519); break;
#endif
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
#ifdef HAVE_ED25519
    case KIND_ED25519: done = wc_ed25519_verify_msg(given, room, data, length, &is_right, &key->ed25519); break;
#endif
#ifdef HAS_ML_DSA
    case KIND_ML_DSA: done = wc_MlDsaKey_VerifyCtx(&key->ml_dsa, given, room, NULL, 0, data, length, &is_right); break;
#endif
    default: break;
    }
    return worked(done) && is_right == 1;
}

static int once_verify_new_key(reprise_primitive *it)
{
    key_free(it->kind, &it->pairs[0].key);
    return public_key_read(it->kind, it->public_key, it->public_length, &it->pairs[0].key) && once_verify(it);
}

static int new_signature(reprise_primitive *it, const reprise_primitive_options *options)
{
    int room = (int)options->key.length, is_384 = options->length == 48;
    byte *der = malloc((size_t)room);
    int length = der ? wc_KeyPemToDer((const byte *)options->key.data, room, der, room, NULL) : 0;
    if (length > 0) it->kind = key_read(options->algorithm, der, (word32)length, &it->pairs[0].key);
    free(der);
    it->hash = is_384 ? WC_HASH_TYPE_SHA384 : WC_HASH_TYPE_SHA256, it->mgf = is_384 ? WC_MGF1SHA384 : WC_MGF1SHA256;
    it->base.once = once_sign;
    if (it->kind == KIND_NONE || options->operation == REPRISE_OP_SIGN) return it->kind != KIND_NONE;
    if (options->operation == REPRISE_OP_VERIFY) return primitive_keep(it, once_verify);
    /* Some of it the private key gets with its first signature. */
    if (!once_sign(it)) return 0;
    it->public_length = public_key_write(it->kind, &it->pairs[0].key, it->public_key, sizeof it->public_key);
    return it->public_length && primitive_keep(it, once_verify_new_key);
}

static int once_key_pair(reprise_primitive *it)
{
    int done = pair_make(it->kind, it->id, it->rng, &it->pairs[0]);
#ifdef HAS_ML_KEM
    MlKemKey *key = &it->kem_key.ml_kem;
    if (done && it->kem >= 0) done = worked(wc_MlKemKey_Init(key, it->kem, NULL, INVALID_DEVID)) && worked(wc_MlKemKey_MakeKey(key, it->rng));
#endif
    if (it->base.operation == REPRISE_OP_KEY_PAIR) free_keys(it);
    return done;
}

static int agree(reprise_primitive *it, pair *own, pair *peer)
{
    size_t half = PRIMITIVE_LARGEST / 2; /* in the first one is the secret of a KEM */
    return pair_agree(it->kind, it->rng, own, peer, it->base.out + half, (word32)half) != 0;
}

static int once_agree(reprise_primitive *it)
{
    return agree(it, &it->pairs[0], &it->peers[it->turn++ % PEERS]);
}

static int new_agreement(reprise_primitive *it)
{
    if (!(it->peers = aligned_alloc(64, (PEERS * sizeof *it->peers + 63) / 64 * 64))) return 0;
    memset(it->peers, 0, PEERS * sizeof *it->peers);
    for (size_t i = 0; i < PEERS; i++)
        if (!pair_make(it->kind, it->id, it->rng, &it->peers[i])) return 0;
    it->base.once = once_agree;
    return 1;
}

/* One side's half of what follows once both shares are sent: the peer's is read, and gives the secret. */
static word32 finish(reprise_primitive *it, pair *own, const byte *share, word32 length, byte *out)
{
    pair *peer = &it->read;
    word32 secret = pair_read(it->kind, it->id, share, length, peer) ? pair_agree(it->kind, it->rng, own, peer, out, PRIMITIVE_LARGEST / 2) : 0;
    key_free(it->kind, &peer->key);
    return secret;
}

static int once_exchange(reprise_primitive *it)
{
    pair *client = &it->pairs[0], *server = &it->pairs[1];
    byte client_share[512], server_share[512];
    word32 client_length, server_length, first = 0, second = 0;
    if (it->kind != KIND_NONE && pair_make(it->kind, it->id, it->rng, client) && (client_length = pair_share(it->kind, client, client_share))
        && pair_make(it->kind, it->id, it->rng, server) && (server_length = pair_share(it->kind, server, server_share))
        && (second = finish(it, server, client_share, client_length, primitive_second_secret(&it->base))))
        first = finish(it, client, server_share, server_length, it->base.out);
    key_free(it->kind, &client->key), key_free(it->kind, &server->key);
    if (it->kem < 0) return primitive_exchanged(&it->base, first, second);
    /* Of a hybrid, ML-KEM's secrets behind the curve's. */
    word32 more = it->kind == KIND_NONE || first ? kem_exchange(it->kem, it->rng, it->base.out + first, primitive_second_secret(&it->base) + second) : 0;
    return more && primitive_exchanged(&it->base, first + more, second + more);
}

#ifdef HAS_ML_KEM
/* In a hybrid, the other group's key pair is new each time. */
static int once_encapsulate(reprise_primitive *it)
{
    pair *own = &it->pairs[1];
    key_free(it->kind, &own->key);
    return pair_make(it->kind, it->id, it->rng, own) && agree(it, own, &it->pairs[0])
           && worked(wc_MlKemKey_Encapsulate(&it->kem_key.ml_kem, it->base.given, it->base.out, it->rng));
}

static int once_decapsulate(reprise_primitive *it)
{
    return agree(it, &it->pairs[0], &it->pairs[1])
           && worked(wc_MlKemKey_Decapsulate(&it->kem_key.ml_kem, it->base.out, it->base.given, (word32)it->base.given_length));
}

static int new_kem(reprise_primitive *it)
{
    word32 length = 0;
    if (!once_encapsulate(it) || !worked(wc_MlKemKey_CipherTextSize(&it->kem_key.ml_kem, &length))) return 0;
    it->base.given_length = length, it->base.once = it->base.operation == REPRISE_OP_ENCAPSULATE ? once_encapsulate : once_decapsulate;
    return 1;
}
#else
static int new_kem(reprise_primitive *it) { return (void)it, 0; }
#endif

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
    it->base.once = once_exchange;
    if (operation == REPRISE_OP_EXCHANGE) return is_known;
    it->base.once = once_key_pair;
    if (!is_known || !once_key_pair(it)) return 0; /* the build may be without it */
    if (operation == REPRISE_OP_KEY_PAIR) return 1;
    if (operation != REPRISE_OP_AGREE) return it->kem >= 0 && new_kem(it);
    return it->kem < 0 && new_agreement(it);
}

static int once_seal(reprise_primitive *it)
{
    byte *data = it->base.data, *out = it->base.out, *tag = out + it->base.length;
    word32 length = (word32)it->base.length, nonce = sizeof primitive_nonce;
    it->base.out_length = length + PRIMITIVE_TAG;
#if HAS_CHACHA
    if (it->kind == KIND_NONE) return worked(wc_ChaCha20Poly1305_Encrypt(data, primitive_nonce, data, PRIMITIVE_ADDITIONAL, data, length, out, tag));
#endif
    return worked(wc_AesGcmEncrypt(&it->pairs[0].key.aes, out, data, length, primitive_nonce, nonce, tag, PRIMITIVE_TAG, data, PRIMITIVE_ADDITIONAL));
}

static int once_open(reprise_primitive *it)
{
    byte *data = it->base.data, *given = it->base.given, *out = it->base.out, *tag = given + it->base.length;
    word32 length = (word32)it->base.length, nonce = sizeof primitive_nonce;
#if HAS_CHACHA
    if (it->kind == KIND_NONE) return worked(wc_ChaCha20Poly1305_Decrypt(data, primitive_nonce, data, PRIMITIVE_ADDITIONAL, given, length, tag, out));
#endif
    return worked(wc_AesGcmDecrypt(&it->pairs[0].key.aes, out, given, length, primitive_nonce, nonce, tag, PRIMITIVE_TAG, data, PRIMITIVE_ADDITIONAL));
}

static int new_aead(reprise_primitive *it)
{
    primitive_base *base = &it->base;
    Aes *aes = &it->pairs[0].key.aes;
    word32 key = (word32)primitive_key_length(base->algorithm);
    it->kind = base->algorithm == 0x1303 ? KIND_NONE : KIND_AES;
    if (!key || (it->kind == KIND_NONE && !HAS_CHACHA)) return 0;
    if (it->kind == KIND_AES && (!worked(wc_AesInit(aes, NULL, INVALID_DEVID)) || !worked(wc_AesGcmSetKey(aes, base->data, key)))) return 0;
    base->once = once_seal;
    return base->operation == REPRISE_OP_SEAL || primitive_keep(it, once_open);
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
    return hash != 0;
}

static int once_random(reprise_primitive *it) { return worked(wc_RNG_GenerateBlock(it->rng, it->base.out, (word32)it->base.out_length)); }

#include "primitive_table.h"


#endif
