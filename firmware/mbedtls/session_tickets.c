/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * See session_tickets.h. A ticket:
 *
 *     name (4)  iv (12)  sealed { created (4), session as Mbed TLS saves it }  GCM tag (16)
 *
 * Name, iv and the policy's tag are authenticated with it; the policy's tag is not sent.
 */
#include "reprise/session_tickets.h"

#include <string.h>

#include "mbedtls/gcm.h"
#include "mbedtls/platform_util.h"
#include "mbedtls/ssl.h"

enum { NAME = 4, IV = 12, CREATED = 4, MAC = 16, OVERHEAD = NAME + IV + CREATED + MAC, TAG = 16 };

static const uint32_t MAX_LIFETIME = 604800; /* RFC 9846 section 4.7.1 */

static int rotate(reprise_session_tickets *tickets, uint32_t now, int (*random)(void *, unsigned char *, size_t),
                  void *random_context);
static reprise_ticket_key *key_named(reprise_session_tickets *tickets, uint32_t now, const uint8_t *name);
static void additional_data(uint8_t data[NAME + IV + TAG], const unsigned char *ticket, const uint8_t tag[TAG]);

void reprise_session_tickets_init(reprise_session_tickets *tickets, uint32_t lifetime)
{
    memset(tickets, 0, sizeof *tickets);
    tickets->lifetime = lifetime < MAX_LIFETIME ? lifetime : MAX_LIFETIME;
}

void reprise_session_tickets_clear(reprise_session_tickets *tickets)
{
    mbedtls_platform_zeroize(tickets->keys, sizeof tickets->keys);
}

int reprise_session_tickets_write(reprise_session_tickets *tickets, uint32_t now, const uint8_t tag[16],
                                  int (*random)(void *, unsigned char *, size_t), void *random_context,
                                  const struct mbedtls_ssl_session *session, unsigned char *ticket, size_t room, size_t *len,
                                  uint32_t *lifetime)
{
    mbedtls_gcm_context gcm;
    uint8_t data[NAME + IV + TAG];
    size_t saved;
    /* Mbed TLS sends both, whether there is a ticket or not. */
    *len = 0;
    *lifetime = 0;
    int result = rotate(tickets, now, random, random_context);
    if (result != 0) {
        return result;
    }
    if (room < OVERHEAD) {
        return MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL;
    }
    unsigned char *sealed = ticket + NAME + IV;
    result = mbedtls_ssl_session_save(session, sealed + CREATED, room - OVERHEAD, &saved);
    if (result != 0) {
        return result;
    }
    memcpy(ticket, tickets->keys[0].name, NAME);
    result = random(random_context, ticket + NAME, IV);
    for (int byte = 0; byte < CREATED; byte++) {
        sealed[byte] = (unsigned char)(now >> (24 - 8 * byte));
    }
    additional_data(data, ticket, tag);
    mbedtls_gcm_init(&gcm);
    if (result == 0) {
        result = mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, tickets->keys[0].key, 256);
    }
    if (result == 0) {
        result = mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, CREATED + saved, ticket + NAME, IV, data, sizeof data,
                                           sealed, sealed, MAC, sealed + CREATED + saved);
    }
    mbedtls_gcm_free(&gcm);
    if (result != 0) {
        /* What was saved is the master secret: it does not stay where a ticket was to be. */
        mbedtls_platform_zeroize(ticket, room);
        return result;
    }
    *len = OVERHEAD + saved;
    *lifetime = tickets->lifetime;
    return 0;
}

int reprise_session_tickets_parse(reprise_session_tickets *tickets, uint32_t now, const uint8_t tag[16],
                                  struct mbedtls_ssl_session *session, unsigned char *ticket, size_t len)
{
    mbedtls_gcm_context gcm;
    uint8_t data[NAME + IV + TAG];
    if (len < OVERHEAD) {
        return MBEDTLS_ERR_SSL_INVALID_MAC;
    }
    const reprise_ticket_key *key = key_named(tickets, now, ticket);
    if (key == NULL) {
        return MBEDTLS_ERR_SSL_INVALID_MAC;
    }
    unsigned char *sealed = ticket + NAME + IV;
    size_t sealed_len = len - NAME - IV - MAC;
    additional_data(data, ticket, tag);
    mbedtls_gcm_init(&gcm);
    int result = mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, key->key, 256);
    if (result == 0) {
        result = mbedtls_gcm_auth_decrypt(&gcm, sealed_len, ticket + NAME, IV, data, sizeof data, sealed + sealed_len, MAC,
                                          sealed, sealed);
    }
    mbedtls_gcm_free(&gcm);
    if (result != 0) {
        return MBEDTLS_ERR_SSL_INVALID_MAC;
    }
    uint32_t created = 0;
    for (int byte = 0; byte < CREATED; byte++) {
        created = created << 8 | sealed[byte];
    }
    result = now - created < tickets->lifetime
                 ? mbedtls_ssl_session_load(session, sealed + CREATED, sealed_len - CREATED)
                 : MBEDTLS_ERR_SSL_SESSION_TICKET_EXPIRED;
    mbedtls_platform_zeroize(sealed, sealed_len);
    return result;
}

/* Sees to it that the first key is young enough to seal. */
static int rotate(reprise_session_tickets *tickets, uint32_t now, int (*random)(void *, unsigned char *, size_t),
                  void *random_context)
{
    reprise_ticket_key fresh = {.created = now, .valid = true};
    if (tickets->lifetime == 0) {
        return MBEDTLS_ERR_SSL_FEATURE_UNAVAILABLE;
    }
    if (tickets->keys[0].valid && now - tickets->keys[0].created < tickets->lifetime) {
        return 0;
    }
    int result = random(random_context, fresh.name, sizeof fresh.name);
    if (result == 0) {
        result = random(random_context, fresh.key, sizeof fresh.key);
    }
    if (result == 0) {
        tickets->keys[1] = tickets->keys[0];
        tickets->keys[0] = fresh;
    }
    mbedtls_platform_zeroize(&fresh, sizeof fresh);
    return result;
}

/* A key that is too old to open anything is wiped. */
static reprise_ticket_key *key_named(reprise_session_tickets *tickets, uint32_t now, const uint8_t *name)
{
    for (int index = 0; index < 2; index++) {
        reprise_ticket_key *key = &tickets->keys[index];
        if (key->valid && now - key->created >= 2 * tickets->lifetime) {
            mbedtls_platform_zeroize(key, sizeof *key);
        }
        if (key->valid && memcmp(key->name, name, NAME) == 0) {
            return key;
        }
    }
    return NULL;
}

static void additional_data(uint8_t data[NAME + IV + TAG], const unsigned char *ticket, const uint8_t tag[TAG])
{
    memcpy(data, ticket, NAME + IV);
    memcpy(data + NAME + IV, tag, TAG);
}
