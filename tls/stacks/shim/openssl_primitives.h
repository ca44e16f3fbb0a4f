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
    uint8_t *public_key; /* SubjectPublicKeyInfo, of who verifies by a key read anew */
    int public_length;
};

static int primitive_init(reprise_primitive *it) { return (void)it, ERR_clear_error(), 1; }

static void primitive_clear(reprise_primitive *it)
{
    EVP_PKEY_CTX_free(it->pkey), EVP_PKEY_free(it->key), EVP_PKEY_free(it->peer), EVP_MD_CTX_free(it->signer), EVP_MD_CTX_free(it->hasher);
    EVP_CIPHER_CTX_free(it->cipher), EVP_MD_free(it->md), EVP_KDF_CTX_free(it->kdf), OPENSSL_free(it->public_key);
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
    it->key = PEM_read_bio_PrivateKey(pem, NULL, NULL, NULL);
    BIO_free(pem);
    it->base.once = once_sign;
    if (!it->key || !signs(it, 0)) return 0;
    if (options->operation == REPRISE_OP_SIGN) return 1;
    if (options->operation == REPRISE_OP_VERIFY) return primitive_keep(it, once_verify) && signs(it, 1);
    return (it->public_length = i2d_PUBKEY(it->key, &it->public_key)) > 0 && primitive_keep(it, once_verify_new_key);
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

typedef int context_init(EVP_PKEY_CTX *context);

/* A context of a group, to make key pairs or the group alone. */
static EVP_PKEY_CTX *group_context(uint16_t group, context_init *init)
{
    static const struct { uint16_t group; const char *type, *name; } known[] = {
        {23, "EC", "prime256v1"}, {24, "EC", "secp384r1"}, {25, "EC", "secp521r1"}, {29, "X25519", NULL}, {30, "X448", NULL},
        {256, "DH", "ffdhe2048"}, {257, "DH", "ffdhe3072"}, {258, "DH", "ffdhe4096"}, {512, "ML-KEM-512", NULL},
        {513, "ML-KEM-768", NULL}, {514, "ML-KEM-1024", NULL}, {4587, "SecP256r1MLKEM768", NULL}, {4588, "X25519MLKEM768", NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].group != group) continue;
        EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, known[i].type, NULL);
        if (context && init(context) == 1 && (!known[i].name || EVP_PKEY_CTX_set_group_name(context, known[i].name) == 1)) return context;
        EVP_PKEY_CTX_free(context);
        return NULL;
    }
    return NULL;
}

/* The library's TLS makes three keys a side: its own pair (ssl_generate_pkey_group of the client, ssl_generate_pkey of the server), and one that
 * the peer's share is read into (EVP_PKEY_copy_parameters, ssl_generate_param_group). */
static EVP_PKEY *client_pair(uint16_t group)
{
    EVP_PKEY_CTX *context = group_context(group, EVP_PKEY_keygen_init);
    EVP_PKEY *pair = NULL;
    if (context) EVP_PKEY_keygen(context, &pair);
    EVP_PKEY_CTX_free(context);
    return pair;
}

static EVP_PKEY *server_pair(EVP_PKEY *like)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, like, NULL);
    EVP_PKEY *pair = NULL;
    if (context && EVP_PKEY_keygen_init(context) == 1) EVP_PKEY_keygen(context, &pair);
    EVP_PKEY_CTX_free(context);
    return pair;
}

static EVP_PKEY *server_peer(uint16_t group)
{
    EVP_PKEY_CTX *context = group_context(group, EVP_PKEY_paramgen_init);
    EVP_PKEY *peer = NULL;
    if (context) EVP_PKEY_paramgen(context, &peer);
    EVP_PKEY_CTX_free(context);
    return peer;
}

static EVP_PKEY *client_peer(EVP_PKEY *own)
{
    EVP_PKEY *peer = EVP_PKEY_new();
    if (peer && EVP_PKEY_copy_parameters(peer, own) == 1) return peer;
    EVP_PKEY_free(peer);
    return NULL;
}

/* As ssl_derive. */
static size_t derived(EVP_PKEY *own, EVP_PKEY *peer, uint8_t *out)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    size_t length = 0;
    if (context && EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, peer) == 1 && EVP_PKEY_derive(context, NULL, &length) == 1) {
        if (EVP_PKEY_is_a(own, "DH")) EVP_PKEY_CTX_set_dh_pad(context, 1);
        if (EVP_PKEY_derive(context, out, &length) != 1) length = 0;
    }
    EVP_PKEY_CTX_free(context);
    return length;
}

static int once_exchange(reprise_primitive *it)
{
    uint16_t group = it->base.algorithm;
    EVP_PKEY *client = client_pair(group), *of_client = NULL, *server = NULL, *of_server = NULL;
    uint8_t *client_share = NULL, *server_share = NULL;
    size_t client_length = client ? EVP_PKEY_get1_encoded_public_key(client, &client_share) : 0, server_length = 0, first = 0, second = 0;
    if (client_length && (of_client = server_peer(group)) && EVP_PKEY_set1_encoded_public_key(of_client, client_share, client_length) == 1
        && (server = server_pair(of_client)) && (server_length = EVP_PKEY_get1_encoded_public_key(server, &server_share)))
        second = derived(server, of_client, primitive_second_secret(&it->base));
    if (second && (of_server = client_peer(client)) && EVP_PKEY_set1_encoded_public_key(of_server, server_share, server_length) == 1)
        first = derived(client, of_server, it->base.out);
    EVP_PKEY_free(client), EVP_PKEY_free(of_client), EVP_PKEY_free(server), EVP_PKEY_free(of_server);
    OPENSSL_free(client_share), OPENSSL_free(server_share);
    return primitive_exchanged(&it->base, first, second);
}

static int new_exchange(reprise_primitive *it)
{
    int operation = it->base.operation;
    it->base.once = once_exchange;
    /* Of a KEM, whose sides do something else each, it is left out. */
    if (operation == REPRISE_OP_EXCHANGE) return it->base.algorithm < 512;
    EVP_PKEY_CTX *pairs = it->pkey = group_context(it->base.algorithm, EVP_PKEY_keygen_init);
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
