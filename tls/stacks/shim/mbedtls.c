/*
 * Mbed TLS 2.28 (TLS 1.2) and 3.6 as a plugin of Reprise: see reprise_stack.h. A server's cache and tickets are asked through
 * wrappers, which notice what was found: the library does not tell.
 */
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/ssl_cache.h>
#include <mbedtls/ssl_ticket.h>

#define REPRISE_PRIMITIVES &primitives
#include "mbedtls.h"
#include "memory.h"

struct reprise_context {
    mbedtls_ssl_config config;
    mbedtls_x509_crt chain, trust;
    mbedtls_pk_context key;
    mbedtls_ssl_cache_context cache;
    mbedtls_ssl_ticket_context tickets;
    mbedtls_x509_crt_profile profile;
    int is_server, sessions, suites[16];
    uint16_t version;
    pinned_group groups[16];
    char *server_name;
    int found_by; /* of the connection that is under way: they come one at a time */
};

struct reprise_connection {
    reprise_context *context;
    mbedtls_ssl_context ssl;
    queue in, out;
    int is_ready, has_session, has_verified, found_by;
};

struct reprise_session { mbedtls_ssl_session session; };

static mbedtls_entropy_context entropy;
static mbedtls_ctr_drbg_context drbg;
static __thread int last_error;

#include "mbedtls_primitives.h"

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
    mbedtls_entropy_init(&entropy), mbedtls_ctr_drbg_init(&drbg);
    int error = mbedtls_ctr_drbg_seed(&drbg, mbedtls_entropy_func, &entropy, NULL, 0);
    if (!error) error = init_of_version();
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

static int found(reprise_context *context, int by, int error) { return error ? error : (context->found_by = by, 0); }

static int cache_get(void *context, ID_PARAMETERS mbedtls_ssl_session *session)
{
    return found(context, REPRISE_SESSIONS_ID, mbedtls_ssl_cache_get(&((reprise_context *)context)->cache, ID_ARGUMENTS session));
}

static int cache_set(void *in, ID_PARAMETERS const mbedtls_ssl_session *session) { return mbedtls_ssl_cache_set(&((reprise_context *)in)->cache, ID_ARGUMENTS session); }

static int ticket_parse(void *context, mbedtls_ssl_session *session, unsigned char *bytes, size_t length)
{
    return found(context, REPRISE_SESSIONS_TICKET, mbedtls_ssl_ticket_parse(&((reprise_context *)context)->tickets, session, bytes, length));
}

static int ticket_write(void *context, const mbedtls_ssl_session *session, uint8_t *start, const uint8_t *end, size_t *length, uint32_t *lifetime)
{
    return mbedtls_ssl_ticket_write(&((reprise_context *)context)->tickets, session, start, end, length, lifetime);
}

/* Called for each certificate of a full handshake, and for none of a resumed one. */
static int verified(void *connection, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
    (void)certificate, (void)depth, (void)flags;
    return ((reprise_connection *)connection)->has_verified = 1, 0;
}

static int pin_groups(reprise_context *context, const reprise_options *options)
{
    static const unsigned char p[] = MBEDTLS_DHM_RFC7919_FFDHE2048_P_BIN, g[] = MBEDTLS_DHM_RFC7919_FFDHE2048_G_BIN;
    int count = 0;
    for (size_t i = 0; i < options->groups_length; i++) {
        if (options->groups[i] != 256 || options->version != 0x0303) {
            if (!group_of(options->groups[i], &context->groups[count++])) return 0;
            continue;
        }
        /* TLS 1.2 has no such group: the server brings its numbers. */
        if (options->side == REPRISE_SERVER && mbedtls_ssl_conf_dh_param_bin(&context->config, p, sizeof p, g, sizeof g)) return 0;
        mbedtls_ssl_conf_dhm_min_bitlen(&context->config, 2048);
    }
    if (count) pin_to(&context->config, context->groups);
    return 1;
}

/* Of TLS 1.2: the client's ClientHello of TLS 1.3 has no such extension. Buffers are smaller only if MBEDTLS_SSL_VARIABLE_BUFFER_LENGTH. */
static int use_max_fragment(mbedtls_ssl_config *config, const reprise_options *options)
{
    uint32_t most = max_fragment(options);
    return !most || (fragment_code(most) && options->version == 0x0303 && !mbedtls_ssl_conf_max_frag_len(config, (unsigned char)fragment_code(most)));
}

static int pin(reprise_context *context, const reprise_options *options)
{
    if (options->version == 0x0304 && (!HAS_TLS13 || options->sessions == REPRISE_SESSIONS_ID)) return 0;
    if (options->suites_length > 15 || options->groups_length > 15 || !use_max_fragment(&context->config, options)) return 0;
    speak_only(&context->config, options->version);
    for (size_t i = 0; i < options->suites_length; i++) {
        if (!mbedtls_ssl_ciphersuite_from_id(options->suites[i])) return 0;
        context->suites[i] = options->suites[i];
    }
    if (options->suites_length) mbedtls_ssl_conf_ciphersuites(&context->config, context->suites);
    return pin_groups(context, options);
}

static void context_free(reprise_context *context)
{
    if (!context) return;
    mbedtls_ssl_config_free(&context->config);
    mbedtls_x509_crt_free(&context->chain), mbedtls_x509_crt_free(&context->trust), mbedtls_pk_free(&context->key);
    mbedtls_ssl_cache_free(&context->cache), mbedtls_ssl_ticket_free(&context->tickets);
    free(context->server_name), free(context);
}

static int parse(reprise_context *context, const reprise_options *options)
{
    /* Its PEM is terminated by a zero, which its length counts. */
    uint8_t *chain = terminated(options->chain), *key = terminated(options->key), *trust = terminated(options->trust);
    int error = !chain || !key || !trust ? MBEDTLS_ERR_SSL_ALLOC_FAILED : 0;
    if (!error && options->key.length) {
        error = mbedtls_x509_crt_parse(&context->chain, chain, options->chain.length + 1);
        if (!error) error = mbedtls_pk_parse_key(&context->key, key, options->key.length + 1, NULL, 0 RANDOM_ARGUMENTS(&drbg));
        if (!error) error = mbedtls_ssl_conf_own_cert(&context->config, &context->chain, &context->key);
    }
    if (!error && options->trust.length) error = mbedtls_x509_crt_parse(&context->trust, trust, options->trust.length + 1);
    if (!error && has_psk(options))
        error = mbedtls_ssl_conf_psk(&context->config, options->psk_key, options->psk_key_length,
                                     (const uint8_t *)options->psk_identity.data, options->psk_identity.length);
    if (options->trust.length) mbedtls_ssl_conf_ca_chain(&context->config, &context->trust, NULL);
    free(chain), free(key), free(trust);
    return error;
}

static int context_new(const reprise_options *options, reprise_context **out)
{
    reprise_context *context = calloc(1, sizeof *context);
    if (!context) return REPRISE_NO_MEMORY;
    int is_server = context->is_server = options->side == REPRISE_SERVER, by_ticket = options->sessions == REPRISE_SESSIONS_TICKET;
    mbedtls_ssl_config *config = &context->config;
    context->sessions = options->sessions, context->version = options->version;
    mbedtls_ssl_config_init(config);
    mbedtls_x509_crt_init(&context->chain), mbedtls_x509_crt_init(&context->trust), mbedtls_pk_init(&context->key);
    mbedtls_ssl_cache_init(&context->cache), mbedtls_ssl_ticket_init(&context->tickets);
    mbedtls_ssl_cache_set_max_entries(&context->cache, 1024);
    int error = mbedtls_ssl_config_defaults(config, is_server ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT,
                                            MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
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
    free(connection->in.bytes), free(connection->out.bytes), free(connection);
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
    if (error) return connection_free(connection), failed(error);
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
    connection->has_session = connection->context->version == 0x0303; /* under TLS 1.3 it comes in a ticket, later */
    connection->found_by = connection->context->found_by;
    return REPRISE_OK;
}

static ptrdiff_t read_data(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    int count;
    do { /* it stops before a ticket, which it has read, and after it */
        count = mbedtls_ssl_read(&connection->ssl, out, capacity);
        if (count == TICKET_CAME) connection->has_session = 1;
    } while (count == TICKET_CAME || (HAS_TLS13 && count == MBEDTLS_ERR_SSL_WANT_READ && mbedtls_ssl_check_pending(&connection->ssl)));
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
    out->version = connection->context->version; /* the only one that it may speak */
    out->suite = (uint16_t)mbedtls_ssl_get_ciphersuite_id(mbedtls_ssl_get_ciphersuite(&connection->ssl));
    out->group = 0; /* it is forgotten with the handshake */
    int keeps = connection->context->sessions != REPRISE_SESSIONS_NONE; /* else a client may have verified nothing but a PSK */
    out->resumed = connection->context->is_server ? connection->found_by != REPRISE_SESSIONS_NONE : keeps && !connection->has_verified;
    out->resumed_by = connection->context->is_server && connection->found_by ? connection->found_by : -1;
    out->client_certificate = connection->context->is_server ? mbedtls_ssl_get_peer_cert(&connection->ssl) != NULL : -1;
    return REPRISE_OK;
}

static void session_free(reprise_session *session)
{
    if (session) mbedtls_ssl_session_free(&session->session);
    free(session);
}

/* A session in out, that error says whether fill could fill. */
#define SESSION_OR(result_, fill_)                                               \
    reprise_session *session = calloc(1, sizeof *session);                       \
    if (!session) return REPRISE_NO_MEMORY;                                      \
    mbedtls_ssl_session_init(&session->session);                                 \
    if ((last_error = (fill_))) return session_free(session), result_;           \
    *out = session

static int session_take(reprise_connection *connection, reprise_session **out)
{
    if (!connection->has_session || connection->context->is_server || connection->context->sessions == REPRISE_SESSIONS_NONE) return REPRISE_NO_SESSION;
    SESSION_OR(REPRISE_FAILED, mbedtls_ssl_get_session(&connection->ssl, &session->session));
    connection->has_session = 0;
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
    SESSION_OR(REPRISE_INVALID, mbedtls_ssl_session_load(&session->session, bytes, length));
    return REPRISE_OK;
}

REPRISE_ERROR_TEXT(if (last_error) mbedtls_strerror(last_error, text, sizeof text))

REPRISE_STACK_TABLE("Mbed TLS", MBEDTLS_VERSION_STRING,
                    REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | (HAS_TLS13 ? REPRISE_CAN_TLS13 : 0)
                        | REPRISE_CAN_ID | REPRISE_CAN_TICKET | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT
                        | REPRISE_CAN_PSK | REPRISE_CAN_MAX_FRAGMENT)
