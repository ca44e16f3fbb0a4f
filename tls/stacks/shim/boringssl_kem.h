/* ML-KEM from nothing, both sides, as the TLS of AWS-LC and BoringSSL (ssl_key_share.cc) and s2n-tls (s2n_evp_kem.c) make it. */
#ifndef REPRISE_SHIM_BORINGSSL_KEM_H
#define REPRISE_SHIM_BORINGSSL_KEM_H

#define KEM_SECRET 32

#ifdef OPENSSL_IS_AWSLC
/* The server's: it reads what the client has sent. */
static int kem_encapsulate(int kem, const uint8_t *share, size_t length, uint8_t *ciphertext, size_t *ciphertext_length, uint8_t *secret)
{
    size_t secret_length = KEM_SECRET;
    EVP_PKEY *peer = EVP_PKEY_kem_new_raw_public_key(kem, share, length);
    EVP_PKEY_CTX *context = peer ? EVP_PKEY_CTX_new(peer, NULL) : NULL;
    int done = context && EVP_PKEY_encapsulate(context, ciphertext, ciphertext_length, secret, &secret_length) == 1;
    EVP_PKEY_CTX_free(context), EVP_PKEY_free(peer);
    return done;
}

/* s2n keeps the private key in its encoding, and the other its key. Whether all is done: both secrets are written. */
static int kem_exchange(int kem, uint8_t *first, uint8_t *second)
{
    uint8_t share[2048], ciphertext[2048];
    size_t length = sizeof share, ciphertext_length = sizeof ciphertext, secret = KEM_SECRET;
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_KEM, NULL);
    int done = context && EVP_PKEY_CTX_kem_set_params(context, kem) == 1 && EVP_PKEY_keygen_init(context) == 1
               && EVP_PKEY_keygen(context, &key) == 1 && EVP_PKEY_get_raw_public_key(key, share, &length) == 1;
    EVP_PKEY_CTX_free(context), context = NULL;
#ifdef S2N_PRIMITIVES
    uint8_t kept[4096];
    size_t kept_length = sizeof kept;
    done = done && EVP_PKEY_get_raw_private_key(key, kept, &kept_length) == 1;
    EVP_PKEY_free(key), key = NULL;
    done = done && kem_encapsulate(kem, share, length, ciphertext, &ciphertext_length, second)
           && (key = EVP_PKEY_kem_new_raw_secret_key(kem, kept, kept_length));
#else
    done = done && kem_encapsulate(kem, share, length, ciphertext, &ciphertext_length, second);
#endif
    done = done && (context = EVP_PKEY_CTX_new(key, NULL)) && EVP_PKEY_decapsulate(context, first, &secret, ciphertext, ciphertext_length) == 1;
    EVP_PKEY_CTX_free(context), EVP_PKEY_free(key);
    return done;
}
#else
#include <openssl/bytestring.h>
#include <openssl/mlkem.h>

static int kem_exchange(int kem, uint8_t *first, uint8_t *second)
{
    uint8_t share[MLKEM768_PUBLIC_KEY_BYTES], ciphertext[MLKEM768_CIPHERTEXT_BYTES];
    struct MLKEM768_private_key key;
    struct MLKEM768_public_key peer;
    CBS encoded;
    if (kem != ML_KEM_768) return 0;
    MLKEM768_generate_key(share, NULL, &key);
    CBS_init(&encoded, share, sizeof share);
    if (!MLKEM768_parse_public_key(&peer, &encoded)) return 0;
    MLKEM768_encap(ciphertext, second, &peer);
    return MLKEM768_decap(first, ciphertext, sizeof ciphertext, &key);
}
#endif

#endif
