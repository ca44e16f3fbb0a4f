/* A whole key exchange as the TLS of AWS-LC and BoringSSL makes it (ssl_key_share.cc): for boringssl_primitives.h. */
#ifndef REPRISE_SHIM_BORINGSSL_EXCHANGE_H
#define REPRISE_SHIM_BORINGSSL_EXCHANGE_H

#include <openssl/bn.h>

/* One side: its private key, and its share as it is sent. */
typedef struct {
    BIGNUM *number; /* of a curve with points */
    uint8_t secret[X25519_PRIVATE_KEY_LEN], share[256];
    size_t length;
} side;

static int side_begin(const EC_GROUP *group, side *own)
{
    if (!group) return X25519_keypair(own->share, own->secret), own->length = X25519_PUBLIC_VALUE_LEN, 1;
    EC_POINT *point = EC_POINT_new(group);
    own->number = BN_new();
    int done = point && own->number && BN_rand_range_ex(own->number, 1, EC_GROUP_get0_order(group))
               && EC_POINT_mul(group, point, own->number, NULL, NULL, NULL)
               && (own->length = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, own->share, sizeof own->share, NULL));
    EC_POINT_free(point);
    return done;
}

/* How long the secret is; 0: it has failed. */
static size_t side_finish(const EC_GROUP *group, const side *own, const side *peer, uint8_t *out)
{
    if (!group) return X25519(out, own->secret, peer->share) ? X25519_SHARED_KEY_LEN : 0;
    EC_POINT *point = EC_POINT_new(group), *product = EC_POINT_new(group);
    BIGNUM *x = BN_new();
    size_t length = (EC_GROUP_get_degree(group) + 7) / 8;
    int done = point && product && x && EC_POINT_oct2point(group, point, peer->share, peer->length, NULL)
               && EC_POINT_mul(group, product, NULL, point, own->number, NULL)
               && EC_POINT_get_affine_coordinates_GFp(group, product, x, NULL, NULL) && BN_bn2bin_padded(out, length, x);
    EC_POINT_free(point), EC_POINT_free(product), BN_free(x);
    return done ? length : 0;
}

static int curve_exchange(reprise_primitive *it, uint8_t *first, size_t *one, uint8_t *second, size_t *other)
{
    const EC_GROUP *group = it->group;
    side client = {0}, server = {0};
    int begun = side_begin(group, &client) && side_begin(group, &server);
    *other = begun ? side_finish(group, &server, &client, second) : 0;
    *one = *other ? side_finish(group, &client, &server, first) : 0;
    BN_free(client.number), BN_free(server.number);
    return *one != 0;
}

#endif
