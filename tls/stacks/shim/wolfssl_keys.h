/* Keys of wolfCrypt, of any kind, for wolfssl_primitives.h. What TLS 1.3 needs every build has, and the rest by the library's own macros. */
#ifndef REPRISE_SHIM_WOLFSSL_KEYS_H
#define REPRISE_SHIM_WOLFSSL_KEYS_H

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/asn_public.h>
#include <wolfssl/wolfcrypt/curve25519.h>
#include <wolfssl/wolfcrypt/dh.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/ed25519.h>
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

typedef enum { KIND_NONE, KIND_AES, KIND_RSA, KIND_EC, KIND_X25519, KIND_ED25519, KIND_DH, KIND_ML_KEM, KIND_ML_DSA } key_kind;

/* Room for more than any has: options.h does not tell all that the library was compiled with, and its structures may be larger than here. */
typedef union {
    Aes aes;
    RsaKey rsa;
    ecc_key ec;
#ifdef HAVE_CURVE25519
    curve25519_key x25519;
#endif
#ifdef HAVE_ED25519
    ed25519_key ed25519;
#endif
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

/* Of functions that return 0, or how much. */
static int worked(int result) { return refusal = NULL, last_error = result, result >= 0; }

/* Also of a key that is all zeros. */
static void key_free(key_kind kind, any_key *key)
{
    switch (kind) {
    case KIND_AES: wc_AesFree(&key->aes); break;
    case KIND_RSA: wc_FreeRsaKey(&key->rsa); break;
    case KIND_EC: wc_ecc_free(&key->ec); break;
#ifdef HAVE_CURVE25519
    case KIND_X25519: wc_curve25519_free(&key->x25519); break;
#endif
#ifdef HAVE_ED25519
    case KIND_ED25519: wc_ed25519_free(&key->ed25519); break;
#endif
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

/* The key of who signs: the scheme says of which kind it must be. KIND_NONE: it is not, and nothing is to be freed. */
static key_kind key_read(uint16_t scheme, const byte *der, word32 length, any_key *key)
{
    key_kind kind = KIND_NONE;
    word32 at = 0;
    int done = 0;
    switch (scheme) {
    case 0x0804: case 0x0805:
        kind = KIND_RSA;
        done = worked(wc_InitRsaKey(&key->rsa, NULL)) && worked(wc_RsaPrivateKeyDecode(der, &at, &key->rsa, length));
        break;
    case 0x0403: case 0x0503:
        kind = KIND_EC;
        done = worked(wc_ecc_init(&key->ec)) && worked(wc_EccPrivateKeyDecode(der, &at, &key->ec, length));
        break;
#ifdef HAVE_ED25519
    case 0x0807: { /* in PKCS #8 it has no public key */
        byte shown[ED25519_PUB_KEY_SIZE];
        kind = KIND_ED25519;
        done = worked(wc_ed25519_init(&key->ed25519)) && worked(wc_Ed25519PrivateKeyDecode(der, &at, &key->ed25519, length))
               && worked(wc_ed25519_make_public(&key->ed25519, shown, sizeof shown))
               && worked(wc_ed25519_import_public(shown, sizeof shown, &key->ed25519));
        break;
    }
#endif
#ifdef HAS_ML_DSA
    case 0x0904: case 0x0905:
        kind = KIND_ML_DSA;
        done = worked(wc_MlDsaKey_Init(&key->ml_dsa, NULL, INVALID_DEVID))
               && worked(wc_MlDsaKey_SetParams(&key->ml_dsa, scheme == 0x0904 ? WC_ML_DSA_44 : WC_ML_DSA_65))
               && worked(wc_MlDsaKey_PrivateKeyDecode(&key->ml_dsa, der, length, &at));
        break;
#endif
    }
    if (!done) key_free(kind, key);
    return done ? kind : KIND_NONE;
}

/* A public key as a certificate has it: how many bytes, 0: the kind is not known here. */
static word32 public_key_write(key_kind kind, any_key *key, byte *out, word32 room)
{
    int length = 0;
    switch (kind) {
    case KIND_RSA: length = wc_RsaKeyToPublicDer(&key->rsa, out, room); break;
    case KIND_EC: length = wc_EccPublicKeyToDer(&key->ec, out, room, 1); break;
#ifdef HAVE_ED25519
    case KIND_ED25519: return worked(wc_ed25519_export_public(&key->ed25519, out, &room)) ? room : 0;
#endif
    default: break;
    }
    return worked(length) ? (word32)length : 0;
}

/* As the client reads that of a certificate (ProcessPeerCertCheckKey). */
static int public_key_read(key_kind kind, const byte *bytes, word32 length, any_key *key)
{
    word32 at = 0;
    switch (kind) {
    case KIND_RSA: return worked(wc_InitRsaKey(&key->rsa, NULL)) && worked(wc_RsaPublicKeyDecode(bytes, &at, &key->rsa, length));
    case KIND_EC: return worked(wc_ecc_init(&key->ec)) && worked(wc_EccPublicKeyDecode(bytes, &at, &key->ec, length));
#ifdef HAVE_ED25519
    case KIND_ED25519: return worked(wc_ed25519_init(&key->ed25519)) && worked(wc_ed25519_import_public(bytes, length, &key->ed25519));
#endif
    default: return 0;
    }
}

/* ML-KEM from nothing, both sides, as TLSX_KeyShare_GenPqcKeyClient and the functions that follow it make it: the private key is kept in its
 * encoding. How many bytes each secret has; 0: it has failed. */
static word32 kem_exchange(int kem, WC_RNG *rng, byte *first, byte *second)
{
#ifdef HAS_ML_KEM
    byte share[2048], kept[4096], ciphertext[2048];
    word32 shared = 0, kept_length = 0, ciphertext_length = 0, secret = 0;
    any_key room;
    MlKemKey *key = &room.ml_kem;
    int done = worked(wc_MlKemKey_Init(key, kem, NULL, INVALID_DEVID)) && worked(wc_MlKemKey_PrivateKeySize(key, &kept_length))
               && worked(wc_MlKemKey_PublicKeySize(key, &shared)) && worked(wc_MlKemKey_MakeKey(key, rng))
               && worked(wc_MlKemKey_EncodePublicKey(key, share, shared)) && worked(wc_MlKemKey_EncodePrivateKey(key, kept, kept_length));
    wc_MlKemKey_Free(key);
    if (!done || !worked(wc_MlKemKey_Init(key, kem, NULL, INVALID_DEVID))) return 0;
    done = worked(wc_MlKemKey_CipherTextSize(key, &ciphertext_length)) && worked(wc_MlKemKey_SharedSecretSize(key, &secret))
           && worked(wc_MlKemKey_DecodePublicKey(key, share, shared)) && worked(wc_MlKemKey_Encapsulate(key, ciphertext, second, rng));
    wc_MlKemKey_Free(key);
    if (!done || !worked(wc_MlKemKey_Init(key, kem, NULL, INVALID_DEVID))) return 0;
    done = worked(wc_MlKemKey_DecodePrivateKey(key, kept, kept_length)) && worked(wc_MlKemKey_Decapsulate(key, first, ciphertext, ciphertext_length));
    wc_MlKemKey_Free(key);
    return done ? secret : 0;
#else
    return (void)kem, (void)rng, (void)first, (void)second, 0;
#endif
}

/* A finite field by its bits. */
static const DhParams *field(int bits)
{
#ifdef HAVE_FFDHE_2048
    if (bits == 2048) return wc_Dh_ffdhe2048_Get();
#endif
#ifdef HAVE_FFDHE_3072
    if (bits == 3072) return wc_Dh_ffdhe3072_Get();
#endif
    return (void)bits, NULL;
}

/* A new pair of a curve by wolfSSL's number, or of a field. Where there is to be none, as beside a KEM alone, it is there. */
static int pair_make(key_kind kind, int id, WC_RNG *rng, pair *to)
{
    any_key *key = &to->key;
    const DhParams *of = field(id);
    to->secret_length = to->shown_length = sizeof to->shown;
    switch (kind) {
    case KIND_NONE: return 1;
    case KIND_EC: return worked(wc_ecc_init(&key->ec)) && worked(wc_ecc_make_key_ex(rng, wc_ecc_get_curve_size_from_id(id), &key->ec, id));
#ifdef HAVE_CURVE25519
    case KIND_X25519: return worked(wc_curve25519_init(&key->x25519)) && worked(wc_curve25519_make_key(rng, CURVE25519_KEYSIZE, &key->x25519));
#endif
    case KIND_DH:
        return of && worked(wc_InitDhKey(&key->dh)) && worked(wc_DhSetKey(&key->dh, of->p, of->p_len, of->g, of->g_len))
               && worked(wc_DhGenerateKeyPair(&key->dh, rng, to->secret, &to->secret_length, to->shown, &to->shown_length));
    default: return 0;
    }
}

/* The share that its side sends: how many bytes. */
static word32 pair_share(key_kind kind, pair *own, byte out[512])
{
    word32 length = 512;
    switch (kind) {
    case KIND_EC: return worked(wc_ecc_export_x963(&own->key.ec, out, &length)) ? length : 0;
#ifdef HAVE_CURVE25519
    case KIND_X25519: return worked(wc_curve25519_export_public_ex(&own->key.x25519, out, &length, EC25519_LITTLE_ENDIAN)) ? length : 0;
#endif
    case KIND_DH: memcpy(out, own->shown, own->shown_length); return own->shown_length;
    default: return 0;
    }
}

/* Of a share that was received, as TLSX_KeyShare_Process reads and checks it. */
static int pair_read(key_kind kind, int id, const byte *share, word32 length, pair *peer)
{
    any_key *key = &peer->key;
    switch (kind) {
#if LIBWOLFSSL_VERSION_HEX >= 0x05006004
    case KIND_EC: return worked(wc_ecc_init(&key->ec)) && worked(wc_ecc_import_x963_ex2(share, length, &key->ec, id, 1));
#else
    case KIND_EC: return worked(wc_ecc_init(&key->ec)) && worked(wc_ecc_import_x963_ex(share, length, &key->ec, id));
#endif
#ifdef HAVE_CURVE25519
    case KIND_X25519:
        return (void)id, worked(wc_curve25519_init(&key->x25519)) && worked(wc_curve25519_check_public(share, length, EC25519_LITTLE_ENDIAN))
                             && worked(wc_curve25519_import_public_ex(share, length, &key->x25519, EC25519_LITTLE_ENDIAN));
#endif
    case KIND_DH: memcpy(peer->shown, share, peer->shown_length = length); return 1;
    default: return 0;
    }
}

/* How many bytes the secret has; 0: it has failed. */
static word32 pair_agree(key_kind kind, WC_RNG *rng, pair *own, pair *peer, byte *out, word32 room)
{
    switch (kind) {
    case KIND_NONE: return 1;
    case KIND_EC:
#ifdef ECC_TIMING_RESISTANT
        if (!worked(wc_ecc_set_rng(&own->key.ec, rng))) return 0;
#endif
        return (void)rng, worked(wc_ecc_shared_secret(&own->key.ec, &peer->key.ec, out, &room)) ? room : 0;
#ifdef HAVE_CURVE25519
    case KIND_X25519: return worked(wc_curve25519_shared_secret_ex(&own->key.x25519, &peer->key.x25519, out, &room, EC25519_LITTLE_ENDIAN)) ? room : 0;
#endif
    case KIND_DH: return worked(wc_DhAgree(&own->key.dh, out, &room, own->secret, own->secret_length, peer->shown, peer->shown_length)) ? room : 0;
    default: return 0;
    }
}

#endif
