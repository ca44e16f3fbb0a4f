/*
 * Mbed TLS behind tls_server.h: compiled once for 2.28 and once for 3.6. Where both are linked into one image, each is
 * linked with this file into one object whose only global symbol is its reprise_tls_backend (see firmware/Makefile).
 */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS /* of 3.6: the fields of a session */

#include <string.h>

#include "mbedtls/ctr_drbg.h"
#include "mbedtls/pk.h"
#include "mbedtls/platform.h"
#include "mbedtls/platform_util.h"
#include "mbedtls/sha256.h"
#include "mbedtls/ssl.h"
#include "mbedtls/version.h"
#include "mbedtls/x509_crt.h"
#include "reprise/tls_server.h"

#define IS_3 (MBEDTLS_VERSION_MAJOR == 3)

#if IS_3
#define sha256_starts(context) mbedtls_sha256_starts(context, 0)
#define sha256_update mbedtls_sha256_update
#define sha256_finish mbedtls_sha256_finish
#else
#define sha256_starts(context) mbedtls_sha256_starts_ret(context, 0)
#define sha256_update mbedtls_sha256_update_ret
#define sha256_finish mbedtls_sha256_finish_ret
#endif

typedef struct connection connection;

typedef struct {
    const reprise_tls_config *config;
    mbedtls_ssl_config tls;
    mbedtls_x509_crt chain;
    mbedtls_pk_context key;
    mbedtls_ctr_drbg_context drbg;
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
    mbedtls_sha256_context policy; /* hash of the certificate, to be continued with the client's SNI */
    connection *current;           /* whose handshake goes on: the callbacks are not told */
#endif
} server;

struct connection {
    mbedtls_ssl_context tls;
    reprise_socket socket;
    server *server;
    bool ready;
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
    bool resumed;
    uint8_t tag[16];         /* of this connection, as far as its ClientHello was read */
    uint8_t resumed_tag[16]; /* that its session was found under */
#endif
};

static int load_pem(server *server);
static int result_of(int code);
static int draw(void *context, unsigned char *bytes, size_t len);
static int send_bytes(void *context, const unsigned char *bytes, size_t len);
static int receive_bytes(void *context, unsigned char *bytes, size_t len);
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
static int take_name(void *context, mbedtls_ssl_context *tls, const unsigned char *name, size_t len);
static void tag_of(server *server, connection *connection, const unsigned char *name, size_t len);
#endif
#if REPRISE_SESSION_CACHE
#if IS_3
static int find(void *context, unsigned char const *id, size_t id_len, mbedtls_ssl_session *session);
static int put(void *context, unsigned char const *id, size_t id_len, const mbedtls_ssl_session *session);
#else
static int find(void *context, mbedtls_ssl_session *session);
static int put(void *context, const mbedtls_ssl_session *session);
#endif
#endif
#if REPRISE_SESSION_TICKETS
static int write_ticket(void *context, const mbedtls_ssl_session *session, unsigned char *start, const unsigned char *end,
                        size_t *len, uint32_t *lifetime);
static int parse_ticket(void *context, mbedtls_ssl_session *session, unsigned char *ticket, size_t len);
#endif

static void stop(void *memory);

static int start(void *memory, const reprise_tls_config *config)
{
    server *server = memory;
    memset(server, 0, sizeof *server);
    server->config = config;
    mbedtls_ssl_config_init(&server->tls);
    mbedtls_x509_crt_init(&server->chain);
    mbedtls_pk_init(&server->key);
    mbedtls_ctr_drbg_init(&server->drbg);
    if (mbedtls_ctr_drbg_seed(&server->drbg, draw, server, NULL, 0) != 0 || load_pem(server) != REPRISE_OK
        || mbedtls_ssl_config_defaults(&server->tls, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM,
                                       MBEDTLS_SSL_PRESET_DEFAULT)
               != 0
        || mbedtls_ssl_conf_own_cert(&server->tls, &server->chain, &server->key) != 0) {
        stop(server);
        return REPRISE_ERROR;
    }
    mbedtls_ssl_conf_rng(&server->tls, mbedtls_ctr_drbg_random, &server->drbg);
    /* TLS 1.2, whatever else the library was configured for. */
    mbedtls_ssl_conf_min_version(&server->tls, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_max_version(&server->tls, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
    mbedtls_sha256_init(&server->policy);
    sha256_starts(&server->policy);
    for (const mbedtls_x509_crt *it = &server->chain; it != NULL && it->raw.len > 0; it = it->next) {
        sha256_update(&server->policy, it->raw.p, it->raw.len);
    }
    mbedtls_ssl_conf_sni(&server->tls, take_name, server);
#endif
#if REPRISE_SESSION_CACHE
    if (config->cache != NULL) {
        mbedtls_ssl_conf_session_cache(&server->tls, server, find, put);
    }
#endif
#if REPRISE_SESSION_TICKETS
    if (config->tickets != NULL) {
        mbedtls_ssl_conf_session_tickets_cb(&server->tls, write_ticket, parse_ticket, server);
    }
#endif
    return REPRISE_OK;
}

static void stop(void *memory)
{
    server *server = memory;
    mbedtls_ssl_config_free(&server->tls);
    mbedtls_x509_crt_free(&server->chain);
    mbedtls_pk_free(&server->key);
    mbedtls_ctr_drbg_free(&server->drbg);
}

static int accept(void *memory, void *server_memory, reprise_socket socket)
{
    connection *connection = memory;
    server *server = server_memory;
    memset(connection, 0, sizeof *connection);
    connection->socket = socket;
    connection->server = server;
    mbedtls_ssl_init(&connection->tls);
    if (mbedtls_ssl_setup(&connection->tls, &server->tls) != 0) {
        mbedtls_ssl_free(&connection->tls);
        return REPRISE_ERROR;
    }
    mbedtls_ssl_set_bio(&connection->tls, connection, send_bytes, receive_bytes, NULL);
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
    tag_of(server, connection, NULL, 0);
#endif
    return REPRISE_OK;
}

static int handshake(void *memory)
{
    connection *connection = memory;
    if (connection->ready) {
        return REPRISE_OK;
    }
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
    connection->server->current = connection;
#endif
    int result = result_of(mbedtls_ssl_handshake(&connection->tls));
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
    /* A ticket is opened where its extension stands, which may be before the name: then it was opened for no name. */
    if (result == REPRISE_OK && connection->resumed
        && memcmp(connection->resumed_tag, connection->tag, sizeof connection->tag) != 0) {
        return REPRISE_ERROR;
    }
#endif
    connection->ready = result == REPRISE_OK;
    return result;
}

static int read(void *memory, uint8_t *bytes, size_t len)
{
    connection *connection = memory;
#if REPRISE_SESSION_TICKETS
    connection->server->current = connection;
#endif
    int result = result_of(mbedtls_ssl_read(&connection->tls, bytes, len));
    return result == 0 ? REPRISE_CLOSED : result;
}

static int write(void *memory, const uint8_t *bytes, size_t len)
{
    connection *connection = memory;
    return result_of(mbedtls_ssl_write(&connection->tls, bytes, len));
}

/* A write is out when it has returned. */
static int flush(void *memory)
{
    (void)memory;
    return REPRISE_OK;
}

static int close(void *memory)
{
    connection *connection = memory;
    return result_of(mbedtls_ssl_close_notify(&connection->tls));
}

static void end(void *memory)
{
    connection *connection = memory;
    mbedtls_ssl_free(&connection->tls);
}

static void facts(const void *memory, reprise_tls_facts *facts)
{
    const connection *connection = memory;
    const mbedtls_ssl_session *session = connection->tls.session;
    facts->version = 0x0303;
    facts->suite = session == NULL ? 0 : (uint16_t)session->ciphersuite;
#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
    facts->resumed = connection->resumed;
#else
    facts->resumed = false;
#endif
}

#if IS_3
const reprise_tls_backend reprise_mbedtls3 = {
    .name = "Mbed TLS " MBEDTLS_VERSION_STRING,
#else
const reprise_tls_backend reprise_mbedtls2 = {
    .name = "Mbed TLS " MBEDTLS_VERSION_STRING,
#endif
    .server_size = sizeof(server),
    .connection_size = sizeof(connection),
    .start = start,
    .stop = stop,
    .accept = accept,
    .handshake = handshake,
    .read = read,
    .write = write,
    .flush = flush,
    .close = close,
    .end = end,
    .facts = facts,
};

static int result_of(int code)
{
    switch (code) {
    case MBEDTLS_ERR_SSL_WANT_READ:
    case MBEDTLS_ERR_SSL_WANT_WRITE:
        return REPRISE_WOULD_BLOCK;
    case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY:
    case MBEDTLS_ERR_SSL_CONN_EOF:
        return REPRISE_CLOSED;
    default:
        return code < 0 ? REPRISE_ERROR : code;
    }
}

/* The parser wants the terminating zero of the PEM text, which the caller need not have: the text is copied. */
static int load_pem(server *server)
{
    const reprise_tls_config *config = server->config;
    size_t longest = config->certificates_len > config->key_len ? config->certificates_len : config->key_len;
    unsigned char *text = mbedtls_calloc(1, longest + 1);
    if (text == NULL) {
        return REPRISE_ERROR;
    }
    memcpy(text, config->certificates, config->certificates_len);
    int result = mbedtls_x509_crt_parse(&server->chain, text, config->certificates_len + 1);
    if (result == 0) {
        memset(text, 0, longest + 1);
        memcpy(text, config->key, config->key_len);
#if IS_3
        result = mbedtls_pk_parse_key(&server->key, text, config->key_len + 1, NULL, 0, mbedtls_ctr_drbg_random,
                                      &server->drbg);
#else
        result = mbedtls_pk_parse_key(&server->key, text, config->key_len + 1, NULL, 0);
#endif
    }
    mbedtls_platform_zeroize(text, longest + 1);
    mbedtls_free(text);
    return result == 0 ? REPRISE_OK : REPRISE_ERROR;
}

static int draw(void *context, unsigned char *bytes, size_t len)
{
    const reprise_tls_config *config = ((server *)context)->config;
    return config->random(config->context, bytes, len) == REPRISE_OK ? 0 : MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED;
}

static int send_bytes(void *context, const unsigned char *bytes, size_t len)
{
    connection *connection = context;
    int sent = connection->socket.write(connection->socket.context, bytes, len);
    return sent == REPRISE_WOULD_BLOCK ? MBEDTLS_ERR_SSL_WANT_WRITE : sent < 0 ? MBEDTLS_ERR_SSL_CONN_EOF : sent;
}

static int receive_bytes(void *context, unsigned char *bytes, size_t len)
{
    connection *connection = context;
    int received = connection->socket.read(connection->socket.context, bytes, len);
    return received == REPRISE_WOULD_BLOCK ? MBEDTLS_ERR_SSL_WANT_READ : received == REPRISE_CLOSED ? 0 : received;
}

#if REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS
/* Any name is served; what it is for is that a session of one name does not open another. */
static int take_name(void *context, mbedtls_ssl_context *tls, const unsigned char *name, size_t len)
{
    server *server = context;
    (void)tls;
    if (server->current != NULL) {
        tag_of(server, server->current, name, len);
    }
    return 0;
}

static void tag_of(server *server, connection *connection, const unsigned char *name, size_t len)
{
    mbedtls_sha256_context policy;
    unsigned char hash[32];
    mbedtls_sha256_init(&policy);
    mbedtls_sha256_clone(&policy, &server->policy);
    sha256_update(&policy, name, len);
    sha256_finish(&policy, hash);
    mbedtls_sha256_free(&policy);
    memcpy(connection->tag, hash, sizeof connection->tag);
}
#endif

#if REPRISE_SESSION_CACHE
static int find_session(server *server, const unsigned char *id, size_t id_len, mbedtls_ssl_session *session)
{
    const reprise_tls_config *config = server->config;
    reprise_session found;
    /* The library itself checks that the suite is the one that it would choose now. */
    if (server->current == NULL
        || !reprise_session_cache_find(config->cache, config->seconds(config->context), id, id_len, server->current->tag,
                                       &found)) {
        return -1;
    }
#if IS_3
    session->tls_version = MBEDTLS_SSL_VERSION_TLS1_2;
#endif
    session->ciphersuite = found.suite;
    session->id_len = found.id_len;
    memcpy(session->id, found.id, sizeof found.id);
    memcpy(session->master, found.master_secret, sizeof found.master_secret);
    reprise_wipe(&found, sizeof found);
    server->current->resumed = true;
    memcpy(server->current->resumed_tag, server->current->tag, sizeof server->current->tag);
    return 0;
}

static int put_session(server *server, const mbedtls_ssl_session *from)
{
    const reprise_tls_config *config = server->config;
    reprise_session session = {.version = 0x0303, .suite = (uint16_t)from->ciphersuite, .id_len = (uint8_t)from->id_len};
    if (server->current == NULL || from->id_len > sizeof session.id) {
        return -1;
    }
    memcpy(session.id, from->id, from->id_len);
    memcpy(session.master_secret, from->master, sizeof session.master_secret);
    memcpy(session.tag, server->current->tag, sizeof session.tag);
    reprise_session_cache_put(config->cache, config->seconds(config->context), &session);
    reprise_wipe(&session, sizeof session);
    /* Only a full handshake is stored: what was found did not suit this client's suites. */
    server->current->resumed = false;
    return 0;
}

#if IS_3
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
    server *server = context;
    const reprise_tls_config *config = server->config;
    if (server->current == NULL) {
        return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
    }
    if (session->id_len == 0) {
        /* A full handshake, which is not cached: what was found by ID did not suit this client's suites. */
        server->current->resumed = false;
    }
    return reprise_session_tickets_write(config->tickets, config->seconds(config->context), server->current->tag,
                                         mbedtls_ctr_drbg_random, &server->drbg, session, start, (size_t)(end - start), len,
                                         lifetime);
}

static int parse_ticket(void *context, mbedtls_ssl_session *session, unsigned char *ticket, size_t len)
{
    server *server = context;
    const reprise_tls_config *config = server->config;
    if (server->current == NULL) {
        return MBEDTLS_ERR_SSL_INVALID_MAC;
    }
    int result = reprise_session_tickets_parse(config->tickets, config->seconds(config->context), server->current->tag,
                                               session, ticket, len);
    if (result == 0) {
        server->current->resumed = true;
        memcpy(server->current->resumed_tag, server->current->tag, sizeof server->current->tag);
    }
    return result;
}
#endif
