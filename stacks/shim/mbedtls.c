/*
 * Mbed TLS 2.28 as a plugin of Reprise: see reprise_stack.h. TLS 1.2. A server's cache and tickets are asked through wrappers, which
 * notice what was found: the library does not tell.
 */
#include <stdio.h>

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_cache.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/version.h>

#include "memory.h"

struct reprise_context {
    mbedtls_ssl_config config;
    mbedtls_x509_crt chain, trust;
    mbedtls_pk_context key;
    mbedtls_ssl_cache_context cache;
    mbedtls_ssl_ticket_context tickets;
    mbedtls_x509_crt_profile profile;
    int is_server, sessions, suites[16];
    mbedtls_ecp_group_id groups[16];
    char *server_name;
    int found_by; /* of the connection that is under way: they come one at a time */
};

struct reprise_connection {
    reprise_context *context;
    mbedtls_ssl_context ssl;
    queue in, out;
    int is_ready, is_taken, has_verified, found_by;
};

struct reprise_session {
    mbedtls_ssl_session session;
};

static mbedtls_entropy_context entropy;
static mbedtls_ctr_drbg_context drbg;
static __thread int last_error;

static int failed(int error)
{
    last_error = error;
    switch (error) {
    case MBEDTLS_ERR_SSL_WANT_READ: return REPRISE_WANT_READ;
    case MBEDTLS_ERR_SSL_WANT_WRITE: return REPRISE_WANT_WRITE;
    case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY: return REPRISE_CLOSED;
    case MBEDTLS_ERR_X509_CERT_VERIFY_FAILED: case MBEDTLS_ERR_SSL_NO_CLIENT_CERTIFICATE: return REPRISE_BAD_CERTIFICATE;
    default: return REPRISE_FAILED;
    }
}

static int init(void)
{
    mbedtls_entropy_init(&entropy);
    mbedtls_ctr_drbg_init(&drbg);
    int error = mbedtls_ctr_drbg_seed(&drbg, mbedtls_entropy_func, &entropy, NULL, 0);
    return error ? failed(error) : REPRISE_OK;
}

static int send_out(void *to, const unsigned char *bytes, size_t length)
{
    return queue_append(&((reprise_connection *)to)->out, bytes, length) ? (int)length : MBEDTLS_ERR_SSL_ALLOC_FAILED;
}

static int receive(void *from, unsigned char *out, size_t capacity)
{
    size_t count = queue_move(&((reprise_connection *)from)->in, capacity, out);
    return count ? (int)count : MBEDTLS_ERR_SSL_WANT_READ;
}

static int cache_get(void *context, mbedtls_ssl_session *session)
{
    int error = mbedtls_ssl_cache_get(&((reprise_context *)context)->cache, session);
    if (!error) ((reprise_context *)context)->found_by = REPRISE_SESSIONS_ID;
    return error;
}

static int cache_set(void *context, const mbedtls_ssl_session *session)
{
    return mbedtls_ssl_cache_set(&((reprise_context *)context)->cache, session);
}

static int ticket_parse(void *context, mbedtls_ssl_session *session, unsigned char *bytes, size_t length)
{
    int error = mbedtls_ssl_ticket_parse(&((reprise_context *)context)->tickets, session, bytes, length);
    if (!error) ((reprise_context *)context)->found_by = REPRISE_SESSIONS_TICKET;
    return error;
}

static int ticket_write(void *context, const mbedtls_ssl_session *session, unsigned char *start, const unsigned char *end,
                        size_t *length, uint32_t *lifetime)
{
    return mbedtls_ssl_ticket_write(&((reprise_context *)context)->tickets, session, start, end, length, lifetime);
}

/* Called for each certificate of a full handshake, and for none of a resumed one. */
static int verified(void *connection, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
    (void)certificate, (void)depth, (void)flags;
    ((reprise_connection *)connection)->has_verified = 1;
    return 0;
}

static int pin(reprise_context *context, const reprise_options *options)
{
    static const struct { uint16_t number; mbedtls_ecp_group_id id; } known[] = {
        {23, MBEDTLS_ECP_DP_SECP256R1}, {24, MBEDTLS_ECP_DP_SECP384R1}, {25, MBEDTLS_ECP_DP_SECP521R1}, {29, MBEDTLS_ECP_DP_CURVE25519}};
    static const unsigned char p[] = MBEDTLS_DHM_RFC7919_FFDHE2048_P_BIN, g[] = MBEDTLS_DHM_RFC7919_FFDHE2048_G_BIN;
    int curves = 0;
    if (options->version != 0x0303 || options->suites_length > 15 || options->groups_length > 15) return 0;
    for (size_t i = 0; i < options->suites_length; i++) {
        if (!mbedtls_ssl_ciphersuite_from_id(options->suites[i])) return 0;
        context->suites[i] = options->suites[i];
    }
    if (options->suites_length) mbedtls_ssl_conf_ciphersuites(&context->config, context->suites);
    for (size_t i = 0; i < options->groups_length; i++) {
        if (options->groups[i] == 256) {
            if (options->side == REPRISE_SERVER && mbedtls_ssl_conf_dh_param_bin(&context->config, p, sizeof p, g, sizeof g)) return 0;
            mbedtls_ssl_conf_dhm_min_bitlen(&context->config, 2048);
            continue;
        }
        size_t k = 0;
        while (k < sizeof known / sizeof *known && known[k].number != options->groups[i]) k++;
        if (k == sizeof known / sizeof *known) return 0;
        context->groups[curves++] = known[k].id;
    }
    if (curves) mbedtls_ssl_conf_curves(&context->config, context->groups);
    return 1;
}

static void context_free(reprise_context *context)
{
    if (!context) return;
    mbedtls_ssl_config_free(&context->config);
    mbedtls_x509_crt_free(&context->chain);
    mbedtls_x509_crt_free(&context->trust);
    mbedtls_pk_free(&context->key);
    mbedtls_ssl_cache_free(&context->cache);
    mbedtls_ssl_ticket_free(&context->tickets);
    free(context->server_name);
    free(context);
}

/* PEM is terminated by a zero to it, and the zero is part of its length. */
static unsigned char *terminated(reprise_text text)
{
    unsigned char *copy = malloc(text.length + 1);
    if (copy) memcpy(copy, text.data, text.length), copy[text.length] = 0;
    return copy;
}

static int parse(reprise_context *context, const reprise_options *options)
{
    unsigned char *chain = terminated(options->chain), *key = terminated(options->key), *trust = terminated(options->trust);
    int error = !chain || !key || !trust ? MBEDTLS_ERR_SSL_ALLOC_FAILED : 0;
    if (!error && options->key.length) {
        error = mbedtls_x509_crt_parse(&context->chain, chain, options->chain.length + 1);
        if (!error) error = mbedtls_pk_parse_key(&context->key, key, options->key.length + 1, NULL, 0);
        if (!error) error = mbedtls_ssl_conf_own_cert(&context->config, &context->chain, &context->key);
    }
    if (!error && options->trust.length) {
        error = mbedtls_x509_crt_parse(&context->trust, trust, options->trust.length + 1);
        mbedtls_ssl_conf_ca_chain(&context->config, &context->trust, NULL);
    }
    free(chain), free(key), free(trust);
    return error;
}

static int context_new(const reprise_options *options, reprise_context **out)
{
    reprise_context *context = calloc(1, sizeof *context);
    if (!context) return REPRISE_NO_MEMORY;
    int is_server = context->is_server = options->side == REPRISE_SERVER, by_ticket = options->sessions == REPRISE_SESSIONS_TICKET;
    mbedtls_ssl_config *config = &context->config;
    context->sessions = options->sessions;
    mbedtls_ssl_config_init(config);
    mbedtls_x509_crt_init(&context->chain);
    mbedtls_x509_crt_init(&context->trust);
    mbedtls_pk_init(&context->key);
    mbedtls_ssl_cache_init(&context->cache);
    mbedtls_ssl_cache_set_max_entries(&context->cache, 1024);
    mbedtls_ssl_ticket_init(&context->tickets);
    int error = mbedtls_ssl_config_defaults(config, is_server ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT,
                                            MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    mbedtls_ssl_conf_min_version(config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_max_version(config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_rng(config, mbedtls_ctr_drbg_random, &drbg);
    context->profile = mbedtls_x509_crt_profile_default;
    context->profile.rsa_min_bitlen = 1024; /* old boards have it, and it is compared */
    mbedtls_ssl_conf_cert_profile(config, &context->profile);
    mbedtls_ssl_conf_authmode(config, !is_server || options->require_client_certificate ? MBEDTLS_SSL_VERIFY_REQUIRED : MBEDTLS_SSL_VERIFY_NONE);
    int result = error ? failed(error) : REPRISE_UNSUPPORTED;
    if (error || !pin(context, options)) goto failed;
    if (!is_server) mbedtls_ssl_conf_session_tickets(config, by_ticket ? MBEDTLS_SSL_SESSION_TICKETS_ENABLED : MBEDTLS_SSL_SESSION_TICKETS_DISABLED);
    if (is_server && options->sessions == REPRISE_SESSIONS_ID) mbedtls_ssl_conf_session_cache(config, context, cache_get, cache_set);
    if (is_server && by_ticket) {
        error = mbedtls_ssl_ticket_setup(&context->tickets, mbedtls_ctr_drbg_random, &drbg, MBEDTLS_CIPHER_AES_256_GCM, 86400);
        mbedtls_ssl_conf_session_tickets_cb(config, ticket_write, ticket_parse, context);
    }
    if (!error) error = parse(context, options);
    if (!error && options->server_name && !(context->server_name = strdup(options->server_name))) error = MBEDTLS_ERR_SSL_ALLOC_FAILED;
    result = REPRISE_INVALID;
    if ((last_error = error)) goto failed;
    *out = context;
    return REPRISE_OK;
failed:
    context_free(context);
    return result;
}

static void connection_free(reprise_connection *connection)
{
    if (!connection) return;
    mbedtls_ssl_free(&connection->ssl);
    free(connection->in.bytes);
    free(connection->out.bytes);
    free(connection);
}

static int connection_new(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    reprise_connection *connection = calloc(1, sizeof *connection);
    if (!connection) return REPRISE_NO_MEMORY;
    connection->context = context;
    context->found_by = REPRISE_SESSIONS_NONE;
    mbedtls_ssl_init(&connection->ssl);
    int error = mbedtls_ssl_setup(&connection->ssl, &context->config);
    mbedtls_ssl_set_bio(&connection->ssl, connection, send_out, receive, NULL);
    mbedtls_ssl_set_verify(&connection->ssl, verified, connection);
    if (!error && context->server_name) error = mbedtls_ssl_set_hostname(&connection->ssl, context->server_name);
    if (!error && session) error = mbedtls_ssl_set_session(&connection->ssl, &session->session);
    if (error) {
        connection_free(connection);
        return failed(error);
    }
    *out = connection;
    return REPRISE_OK;
}

REPRISE_TRANSPORT_IS_QUEUES

static int handshake(reprise_connection *connection)
{
    if (connection->is_ready) return REPRISE_OK;
    int error = mbedtls_ssl_handshake(&connection->ssl);
    if (error) return failed(error);
    connection->is_ready = 1;
    connection->found_by = connection->context->found_by;
    return REPRISE_OK;
}

static ptrdiff_t read_data(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    int count = mbedtls_ssl_read(&connection->ssl, out, capacity);
    return count > 0 ? count : count == 0 ? REPRISE_CLOSED : failed(count);
}

static ptrdiff_t write_data(reprise_connection *connection, const uint8_t *data, size_t length)
{
    int count = mbedtls_ssl_write(&connection->ssl, data, length);
    return count > 0 ? count : failed(count);
}

static int close_connection(reprise_connection *connection)
{
    int error = mbedtls_ssl_close_notify(&connection->ssl);
    return error ? failed(error) : REPRISE_OK;
}

static int facts(const reprise_connection *connection, reprise_facts *out)
{
    if (!connection->is_ready) return REPRISE_FAILED;
    out->version = 0x0303;
    out->suite = (uint16_t)mbedtls_ssl_get_ciphersuite_id(mbedtls_ssl_get_ciphersuite(&connection->ssl));
    out->group = 0; /* it is forgotten with the handshake */
    out->resumed = connection->context->is_server ? connection->found_by != REPRISE_SESSIONS_NONE : !connection->has_verified;
    out->resumed_by = connection->context->is_server && connection->found_by ? connection->found_by : -1;
    out->client_certificate = connection->context->is_server ? mbedtls_ssl_get_peer_cert(&connection->ssl) != NULL : -1;
    return REPRISE_OK;
}

static void session_free(reprise_session *session)
{
    if (session) mbedtls_ssl_session_free(&session->session);
    free(session);
}

static int session_take(reprise_connection *connection, reprise_session **out)
{
    if (connection->is_taken || connection->context->is_server || connection->context->sessions == REPRISE_SESSIONS_NONE) return REPRISE_NO_SESSION;
    reprise_session *session = calloc(1, sizeof *session);
    if (!session) return REPRISE_NO_MEMORY;
    mbedtls_ssl_session_init(&session->session);
    int error = mbedtls_ssl_get_session(&connection->ssl, &session->session);
    if (error) {
        session_free(session);
        return failed(error);
    }
    connection->is_taken = 1;
    *out = session;
    return REPRISE_OK;
}

static ptrdiff_t session_export(const reprise_session *session, size_t capacity, uint8_t *out)
{
    size_t length = 0;
    int error = mbedtls_ssl_session_save(&session->session, out, capacity, &length);
    return error == MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL ? REPRISE_TOO_SMALL : error ? failed(error) : (ptrdiff_t)length;
}

static int session_import(reprise_context *context, const uint8_t *bytes, size_t length, reprise_session **out)
{
    (void)context;
    reprise_session *session = calloc(1, sizeof *session);
    if (!session) return REPRISE_NO_MEMORY;
    mbedtls_ssl_session_init(&session->session);
    if ((last_error = mbedtls_ssl_session_load(&session->session, bytes, length))) {
        session_free(session);
        return REPRISE_INVALID;
    }
    *out = session;
    return REPRISE_OK;
}

REPRISE_ERROR_TEXT(if (last_error) mbedtls_strerror(last_error, text, sizeof text))

static char version[16];
static const char *version_text(void)
{
    mbedtls_version_get_string(version);
    return version;
}

REPRISE_STACK_TABLE("Mbed TLS", version_text(),
                    REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | REPRISE_CAN_ID | REPRISE_CAN_TICKET
                        | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT)
