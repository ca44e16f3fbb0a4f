/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See sessions_mbedtls.h. */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS /* of 3.6: the fields of a session */

#include "reprise/sessions_mbedtls.h"

#include <string.h>

#include "mbedtls/sha256.h"
#include "mbedtls/version.h"

#include "client_hello.h"

/* Whether a handshake has extended_master_secret is told by Mbed TLS's internal header alone; 3.6 has it in its folder `library`. */
#if MBEDTLS_VERSION_MAJOR == 3
#include "ssl_misc.h"
#define sha256_starts(context) mbedtls_sha256_starts(context, 0)
#define sha256_update mbedtls_sha256_update
#define sha256_finish mbedtls_sha256_finish
#elif MBEDTLS_VERSION_MAJOR == 2
#include "mbedtls/ssl_internal.h"
#define sha256_starts(context) mbedtls_sha256_starts_ret(context, 0)
#define sha256_update mbedtls_sha256_update_ret
#define sha256_finish mbedtls_sha256_finish_ret
#else
#error "Mbed TLS 4 is not supported: it has no mbedtls_sha256_*, mbedtls_ctr_drbg_* and no RNG in its configuration. Use 3.6 or 2.28."
#endif

static int name_hash(const reprise_mbedtls_sessions *sessions, const unsigned char *name, size_t len, uint8_t to[16])
{
    mbedtls_sha256_context context;
    unsigned char hash[32];
    mbedtls_sha256_init(&context);
    int result = sha256_starts(&context);
    if (result == 0) {
        result = sha256_update(&context, sessions->policy, sizeof sessions->policy);
    }
    if (result == 0) {
        result = sha256_update(&context, name, len);
    }
    if (result == 0) {
        result = sha256_finish(&context, hash);
    }
    mbedtls_sha256_free(&context);
    if (result == 0) {
        memcpy(to, hash, 16);
    }
    return result;
}

/* RFC 7627 section 5.3: a session with an extended master secret is another than one without. */
static void tag_of(const uint8_t name[16], bool extended, uint8_t tag[16])
{
    memcpy(tag, name, 16);
    tag[0] = (uint8_t)((tag[0] & 0xfe) | extended);
}

static void tag_of_handshake(const reprise_mbedtls_sessions *sessions, uint8_t tag[16])
{
#if defined(MBEDTLS_SSL_EXTENDED_MASTER_SECRET)
    tag_of(sessions->name, sessions->ssl->handshake->extended_ms == MBEDTLS_SSL_EXTENDED_MS_ENABLED, tag);
#else
    tag_of(sessions->name, false, tag);
#endif
}

/* Any name is served, unless the caller's own callback says no; a session of one name does not open another. */
static int take_name(void *context, mbedtls_ssl_context *ssl, const unsigned char *name, size_t len)
{
    reprise_mbedtls_sessions *sessions = context;
    const mbedtls_ssl_config *original = sessions->original;
    int result = name_hash(sessions, name, len, sessions->name);
    return result == 0 && original->f_sni != NULL ? original->f_sni(original->p_sni, ssl, name, len) : result;
}

#if REPRISE_SESSION_CACHE
static int find_session(reprise_mbedtls_sessions *sessions, const unsigned char *id, size_t id_len, mbedtls_ssl_session *session)
{
    const reprise_tls_config *config = sessions->config;
    reprise_session found;
    uint8_t tag[16];
    tag_of_handshake(sessions, tag);
    reprise_lock(config, true);
    bool is_found = reprise_session_cache_find(config->cache, config->seconds(config->context), id, id_len, tag, &found);
    reprise_lock(config, false);
    if (!is_found) {
        return -1;
    }
    /* The library itself checks that the suite is the one that it would choose now. */
#if MBEDTLS_VERSION_MAJOR == 3
    session->tls_version = MBEDTLS_SSL_VERSION_TLS1_2;
#endif
    session->ciphersuite = found.suite;
    session->id_len = found.id_len;
    memcpy(session->id, found.id, sizeof found.id);
    memcpy(session->master, found.master_secret, sizeof found.master_secret);
    reprise_wipe(&found, sizeof found);
    sessions->resumed = true;
    return 0;
}

static int put_session(reprise_mbedtls_sessions *sessions, const mbedtls_ssl_session *from)
{
    const reprise_tls_config *config = sessions->config;
    reprise_session session = {.version = 0x0303, .suite = (uint16_t)from->ciphersuite, .id_len = (uint8_t)from->id_len};
    if (from->id_len > sizeof session.id) {
        return -1;
    }
    memcpy(session.id, from->id, from->id_len);
    memcpy(session.master_secret, from->master, sizeof session.master_secret);
    tag_of_handshake(sessions, session.tag);
    reprise_lock(config, true);
    reprise_session_cache_put(config->cache, config->seconds(config->context), &session);
    reprise_lock(config, false);
    reprise_wipe(&session, sizeof session);
    /* Only a full handshake is stored: what was found did not suit this client's suites. */
    sessions->resumed = false;
    return 0;
}

#if MBEDTLS_VERSION_MAJOR == 3
static int find(void *context, unsigned char const *id, size_t id_len, mbedtls_ssl_session *session)
{
    return find_session(context, id, id_len, session);
}

static int put(void *context, unsigned char const *id, size_t id_len, const mbedtls_ssl_session *session)
{
    (void)id, (void)id_len;
    return put_session(context, session);
}
#else
static int find(void *context, mbedtls_ssl_session *session)
{
    return find_session(context, session->id, session->id_len, session);
}

static int put(void *context, const mbedtls_ssl_session *session)
{
    return put_session(context, session);
}
#endif
#endif

#if REPRISE_SESSION_TICKETS
static int write_ticket(void *context, const mbedtls_ssl_session *session, unsigned char *start, const unsigned char *end,
                        size_t *len, uint32_t *lifetime)
{
    reprise_mbedtls_sessions *sessions = context;
    const reprise_tls_config *config = sessions->config;
    uint8_t tag[16];
    tag_of_handshake(sessions, tag);
    if (session->id_len == 0) {
        /* A full handshake, which is not cached: what was found by ID did not suit this client's suites. */
        sessions->resumed = false;
    }
    reprise_lock(config, true);
    int result = reprise_session_tickets_write(config->tickets, config->seconds(config->context), tag, sessions->copy.f_rng,
                                               sessions->copy.p_rng, session, start, (size_t)(end - start), len, lifetime);
    reprise_lock(config, false);
    return result;
}

/*
 * A ticket is opened where its extension stands, which may be before the name and extended_master_secret: both are read here from
 * the message itself. The library has checked how long that is.
 */
static int read_hello(const reprise_mbedtls_sessions *sessions, reprise_client_hello *hello)
{
    enum { HEADER = 4, VERSION_AND_RANDOM = 34 };
    const unsigned char *message = sessions->ssl->in_msg;
    size_t len = HEADER + ((size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3]);
    size_t suites = HEADER + VERSION_AND_RANDOM + 1;
    if (len < suites || len - suites < message[suites - 1]) {
        return -1;
    }
    suites += message[suites - 1];
    return reprise_client_hello_read(hello, message + suites, len - suites) ? 0 : -1;
}

static int tag_of_hello(const reprise_mbedtls_sessions *sessions, const reprise_client_hello *hello, uint8_t tag[16])
{
    uint8_t name[16];
    if (name_hash(sessions, hello->name, hello->name_len, name) != 0) {
        return -1;
    }
#if defined(MBEDTLS_SSL_EXTENDED_MASTER_SECRET)
    tag_of(name, hello->extended_master_secret && sessions->copy.extended_ms == MBEDTLS_SSL_EXTENDED_MS_ENABLED, tag);
#else
    tag_of(name, false, tag);
#endif
    return 0;
}

/* Whether the key that signs for one suite signs for the other. */
static bool signs_alike(int one, int other)
{
    const mbedtls_ssl_ciphersuite_t *suites[] = {mbedtls_ssl_ciphersuite_from_id(one), mbedtls_ssl_ciphersuite_from_id(other)};
    return suites[0] != NULL && suites[1] != NULL
           && mbedtls_ssl_get_ciphersuite_sig_pk_alg(suites[0]) == mbedtls_ssl_get_ciphersuite_sig_pk_alg(suites[1]);
}

static int suite_at(const reprise_client_hello *hello, size_t at)
{
    return hello->suites[at] << 8 | hello->suites[at + 1];
}

/*
 * The suite that would be chosen now, of those for the key that the session's was signed with; 0 where there is none. Mbed TLS
 * chooses behind the extensions, of which the ticket is one.
 */
static int choose_suite(const reprise_mbedtls_sessions *sessions, const reprise_client_hello *hello, int session_suite)
{
#if MBEDTLS_VERSION_MAJOR == 3
    const int *known = sessions->copy.ciphersuite_list;
    bool client_prefers = sessions->copy.respect_cli_pref == MBEDTLS_SSL_SRV_CIPHERSUITE_ORDER_CLIENT;
#else
    const int *known = sessions->copy.ciphersuite_list[MBEDTLS_SSL_MINOR_VERSION_3];
#if defined(MBEDTLS_SSL_SRV_RESPECT_CLIENT_PREFERENCE)
    bool client_prefers = true;
#else
    bool client_prefers = false;
#endif
#endif
    int chosen = 0;
    size_t best = hello->suites_len;
    for (; *known != 0 && !(chosen != 0 && !client_prefers); known++) {
        for (size_t at = 0; at + 1 < best; at += 2) {
            if (suite_at(hello, at) == *known && signs_alike(*known, session_suite)) {
                chosen = *known;
                best = at;
            }
        }
    }
    return chosen;
}

/*
 * A client refuses a session that is resumed under another suite than its own (RFC 5246 section 7.4.1.3), which is what Mbed TLS
 * does with a ticket where the client offers one that it likes better.
 */
static bool keeps_suite(reprise_mbedtls_sessions *sessions, const reprise_client_hello *hello, const mbedtls_ssl_session *session)
{
    if (choose_suite(sessions, hello, session->ciphersuite) != session->ciphersuite) {
        return false;
    }
    sessions->suites[0] = session->ciphersuite;
    mbedtls_ssl_conf_ciphersuites(&sessions->copy, sessions->suites);
    return true;
}

static int parse_ticket(void *context, mbedtls_ssl_session *session, unsigned char *ticket, size_t len)
{
    reprise_mbedtls_sessions *sessions = context;
    const reprise_tls_config *config = sessions->config;
    reprise_client_hello hello;
    uint8_t tag[16];
    if (read_hello(sessions, &hello) != 0 || tag_of_hello(sessions, &hello, tag) != 0) {
        return MBEDTLS_ERR_SSL_INVALID_MAC;
    }
    reprise_lock(config, true);
    int result = reprise_session_tickets_parse(config->tickets, config->seconds(config->context), tag, session, ticket, len);
    reprise_lock(config, false);
    if (result == 0 && !keeps_suite(sessions, &hello, session)) {
        /* Mbed TLS wipes what was opened. */
        result = MBEDTLS_ERR_SSL_INVALID_MAC;
    }
    sessions->resumed = result == 0;
    return result;
}
#endif

int reprise_mbedtls_setup(reprise_mbedtls_sessions *sessions, mbedtls_ssl_context *ssl, const mbedtls_ssl_config *conf,
                          const reprise_tls_config *config, const uint8_t *policy)
{
    memset(sessions, 0, sizeof *sessions);
    sessions->copy = *conf;
    sessions->original = conf;
    sessions->ssl = ssl;
    sessions->config = config;
    if (policy != NULL) {
        memcpy(sessions->policy, policy, sizeof sessions->policy);
    }
#if defined(MBEDTLS_SSL_PROTO_TLS1_3) && MBEDTLS_VERSION_MAJOR == 3
    if (conf->max_tls_version > MBEDTLS_SSL_VERSION_TLS1_2) {
        return MBEDTLS_ERR_SSL_BAD_CONFIG;
    }
#endif
    int result = name_hash(sessions, NULL, 0, sessions->name);
    if (result != 0) {
        return result;
    }
    mbedtls_ssl_conf_sni(&sessions->copy, take_name, sessions);
#if REPRISE_SESSION_CACHE
    if (config->cache != NULL) {
        mbedtls_ssl_conf_session_cache(&sessions->copy, sessions, find, put);
    }
#endif
#if REPRISE_SESSION_TICKETS
    if (config->tickets != NULL) {
        mbedtls_ssl_conf_session_tickets_cb(&sessions->copy, write_ticket, parse_ticket, sessions);
    }
#endif
    return mbedtls_ssl_setup(ssl, &sessions->copy);
}
