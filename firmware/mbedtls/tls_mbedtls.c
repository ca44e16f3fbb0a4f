/* SPDX-License-Identifier: MIT OR Apache-2.0 */
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
#ifdef MBEDTLS_PSA_CRYPTO_C
#include "psa/crypto.h"
#endif
#include "reprise/tls_server.h"

/* Whether handshakes can be told apart by session: each connection then has its own copy of the configuration. */
#define RESUMES (REPRISE_SESSION_CACHE || REPRISE_SESSION_TICKETS)
#if RESUMES
#include "reprise/sessions_mbedtls.h"
#endif

#if MBEDTLS_VERSION_MAJOR != 2 && MBEDTLS_VERSION_MAJOR != 3
#error "Mbed TLS 4 is not supported: it has no mbedtls_sha256_*, mbedtls_ctr_drbg_* and no RNG in its configuration. Use 3.6 or 2.28."
#endif
#define IS_3 (MBEDTLS_VERSION_MAJOR == 3)

#if IS_3
#define sha256 mbedtls_sha256
#else
#define sha256 mbedtls_sha256_ret
#endif

struct server {
    const reprise_tls_config *config;
    mbedtls_ssl_config tls;
    mbedtls_x509_crt chain;
    mbedtls_pk_context key;
    mbedtls_ctr_drbg_context drbg;
#if RESUMES
    unsigned char policy[32]; /* hash of the certificate */
#endif
};

struct connection {
    mbedtls_ssl_context tls;
    reprise_socket socket;
    bool ready;
#if RESUMES
    reprise_mbedtls_sessions sessions;
#endif
};

static int load_pem(struct server *server);
static int result_of(int code);
static int draw(void *context, unsigned char *bytes, size_t len);
static int send_bytes(void *context, const unsigned char *bytes, size_t len);
static int receive_bytes(void *context, unsigned char *bytes, size_t len);

static void stop(void *memory);

#ifdef MBEDTLS_PSA_CRYPTO_EXTERNAL_RNG
/* PSA has one source of randomness for the whole program: that of the server which started last. */
static const reprise_tls_config *randomness;
#endif

static int start(void *memory, const reprise_tls_config *config)
{
    struct server *server = memory;
    memset(server, 0, sizeof *server);
    server->config = config;
    mbedtls_ssl_config_init(&server->tls);
    mbedtls_x509_crt_init(&server->chain);
    mbedtls_pk_init(&server->key);
    mbedtls_ctr_drbg_init(&server->drbg);
#ifdef MBEDTLS_PSA_CRYPTO_EXTERNAL_RNG
    randomness = config;
    if (psa_crypto_init() != PSA_SUCCESS) {
        stop(server);
        return REPRISE_ERROR;
    }
#endif
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
#if RESUMES
    /* A session is not resumed with another certificate. */
    if (sha256(server->chain.raw.p, server->chain.raw.len, server->policy, 0) != 0) {
        stop(server);
        return REPRISE_ERROR;
    }
#endif
#if !IS_3 && defined(MBEDTLS_THREADING_C)
    /* 2.28 puts a table into an ECDSA key when it is first used: that is done before there are several threads. */
    unsigned char hash[32] = {0}, signature[MBEDTLS_PK_SIGNATURE_MAX_SIZE];
    size_t len;
    mbedtls_pk_sign(&server->key, MBEDTLS_MD_SHA256, hash, sizeof hash, signature, &len, mbedtls_ctr_drbg_random, &server->drbg);
#endif
    return REPRISE_OK;
}

static void stop(void *memory)
{
    struct server *server = memory;
    mbedtls_ssl_config_free(&server->tls);
    mbedtls_x509_crt_free(&server->chain);
    mbedtls_pk_free(&server->key);
    mbedtls_ctr_drbg_free(&server->drbg);
}

static int accept(void *memory, void *server_memory, reprise_socket socket)
{
    struct connection *connection = memory;
    struct server *server = server_memory;
    memset(connection, 0, sizeof *connection);
    connection->socket = socket;
    mbedtls_ssl_init(&connection->tls);
#if RESUMES
    int result = reprise_mbedtls_setup(&connection->sessions, &connection->tls, &server->tls, server->config, server->policy);
#else
    int result = mbedtls_ssl_setup(&connection->tls, &server->tls);
#endif
    if (result != 0) {
        mbedtls_ssl_free(&connection->tls);
        return REPRISE_ERROR;
    }
    mbedtls_ssl_set_bio(&connection->tls, connection, send_bytes, receive_bytes, NULL);
    return REPRISE_OK;
}

static int handshake(void *memory)
{
    struct connection *connection = memory;
    if (connection->ready) {
        return REPRISE_OK;
    }
    int result = result_of(mbedtls_ssl_handshake(&connection->tls));
    connection->ready = result == REPRISE_OK;
    return result;
}

static int read(void *memory, uint8_t *bytes, size_t len)
{
    struct connection *connection = memory;
    int result = result_of(mbedtls_ssl_read(&connection->tls, bytes, len));
    return result == 0 ? REPRISE_CLOSED : result;
}

static int write(void *memory, const uint8_t *bytes, size_t len)
{
    struct connection *connection = memory;
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
    struct connection *connection = memory;
    return result_of(mbedtls_ssl_close_notify(&connection->tls));
}

static void end(void *memory)
{
    struct connection *connection = memory;
    mbedtls_ssl_free(&connection->tls);
}

static void facts(const void *memory, reprise_tls_facts *facts)
{
    const struct connection *connection = memory;
    const mbedtls_ssl_session *session = connection->tls.session;
    facts->version = 0x0303;
    facts->suite = session == NULL ? 0 : (uint16_t)session->ciphersuite;
#if RESUMES
    facts->resumed = connection->sessions.resumed;
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
    .server_size = sizeof(struct server),
    .connection_size = sizeof(struct connection),
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
static int load_pem(struct server *server)
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
    const reprise_tls_config *config = ((struct server *)context)->config;
    return config->random(config->context, bytes, len) == REPRISE_OK ? 0 : MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED;
}

#ifdef MBEDTLS_PSA_CRYPTO_EXTERNAL_RNG
psa_status_t mbedtls_psa_external_get_random(mbedtls_psa_external_random_context_t *context, uint8_t *bytes, size_t len,
                                             size_t *filled)
{
    (void)context;
    bool is_filled = randomness != NULL && randomness->random(randomness->context, bytes, len) == REPRISE_OK;
    *filled = is_filled ? len : 0;
    return is_filled ? PSA_SUCCESS : PSA_ERROR_INSUFFICIENT_ENTROPY;
}
#endif

static int send_bytes(void *context, const unsigned char *bytes, size_t len)
{
    struct connection *connection = context;
    int sent = connection->socket.write(connection->socket.context, bytes, len);
    return sent == REPRISE_WOULD_BLOCK ? MBEDTLS_ERR_SSL_WANT_WRITE : sent < 0 ? MBEDTLS_ERR_SSL_CONN_EOF : sent;
}

static int receive_bytes(void *context, unsigned char *bytes, size_t len)
{
    struct connection *connection = context;
    int received = connection->socket.read(connection->socket.context, bytes, len);
    return received == REPRISE_WOULD_BLOCK ? MBEDTLS_ERR_SSL_WANT_READ : received == REPRISE_CLOSED ? 0 : received;
}
