/* A whole key exchange as s2n-tls makes it (s2n_ecc_evp.c): for boringssl_primitives.h, whose library is beneath. */
#ifndef REPRISE_SHIM_S2N_EXCHANGE_H
#define REPRISE_SHIM_S2N_EXCHANGE_H

/* A key of a curve that has its parameters alone; of X25519 its type. */
static EVP_PKEY *key_of_curve(int nid)
{
    EVP_PKEY *key = NULL;
    if (nid == NID_X25519) return (key = EVP_PKEY_new()) && EVP_PKEY_set_type(key, nid) == 1 ? key : (EVP_PKEY_free(key), NULL);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
    if (context && EVP_PKEY_paramgen_init(context) == 1 && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, nid) == 1) EVP_PKEY_paramgen(context, &key);
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *key_pair(int nid)
{
    EVP_PKEY *parameters = nid == NID_X25519 ? NULL : key_of_curve(nid), *pair = NULL;
    EVP_PKEY_CTX *context = nid == NID_X25519 ? EVP_PKEY_CTX_new_id(nid, NULL) : parameters ? EVP_PKEY_CTX_new(parameters, NULL) : NULL;
    if (context && EVP_PKEY_keygen_init(context) == 1) EVP_PKEY_keygen(context, &pair);
    EVP_PKEY_CTX_free(context), EVP_PKEY_free(parameters);
    return pair;
}

/* Of what the peer has sent; how long the secret is, 0: it has failed. */
static size_t side_finish(int nid, EVP_PKEY *own, const uint8_t *share, size_t length, uint8_t *out)
{
    EVP_PKEY *peer = key_of_curve(nid);
    EVP_PKEY_CTX *context = NULL;
    size_t secret = 0;
    int is_read = peer && EVP_PKEY_set1_tls_encodedpoint(peer, share, length) == 1;
    if (is_read && nid != NID_X25519) {
        EC_KEY *point = EVP_PKEY_get1_EC_KEY(peer);
        is_read = point && EC_KEY_check_key(point) == 1;
        EC_KEY_free(point);
    }
    if (!is_read || !(context = EVP_PKEY_CTX_new(own, NULL)) || EVP_PKEY_derive_init(context) != 1 || EVP_PKEY_derive_set_peer(context, peer) != 1
        || EVP_PKEY_derive(context, NULL, &secret) != 1 || EVP_PKEY_derive(context, out, &secret) != 1)
        secret = 0;
    EVP_PKEY_CTX_free(context), EVP_PKEY_free(peer);
    return secret;
}

static int curve_exchange(reprise_primitive *it, uint8_t *first, size_t *one, uint8_t *second, size_t *other)
{
    int nid = it->kind == KIND_X25519 ? NID_X25519 : it->nid;
    EVP_PKEY *client = key_pair(nid), *server = key_pair(nid);
    uint8_t *client_share = NULL, *server_share = NULL;
    size_t client_length = client ? EVP_PKEY_get1_tls_encodedpoint(client, &client_share) : 0;
    size_t server_length = server ? EVP_PKEY_get1_tls_encodedpoint(server, &server_share) : 0;
    *one = *other = 0;
    if (client_length && server_length) *other = side_finish(nid, server, client_share, client_length, second);
    if (*other) *one = side_finish(nid, client, server_share, server_length, first);
    OPENSSL_free(client_share), OPENSSL_free(server_share), EVP_PKEY_free(client), EVP_PKEY_free(server);
    return *one != 0;
}

#endif
