/*
 * s2n-tls over AWS-LC as a plugin of Reprise: see reprise_stack.h. Its API picks security policies by name, and none of them has one
 * suite and one group. So this one makes policies of its own, from the structures inside the library, whose version is pinned.
 */
#include "utils/s2n_prelude.h" /* first, as in each file of the library */

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "crypto/s2n_ecc_evp.h"
#include "error/s2n_errno.h"
#include "tls/s2n_cipher_suites.h"
#include "tls/s2n_config.h"
#include "tls/s2n_kem.h"
#include "tls/s2n_security_policies.h"

#define REPRISE_PRIMITIVES &primitives
#define S2N_PRIMITIVES
#include "boringssl_primitives.h" /* of its libcrypto */
#include "memory.h"

REPRISE_SESSION_IS_BYTES

#define CACHED 1024
typedef struct { uint8_t id[32], state[512]; uint64_t length; } cached;

struct reprise_context {
    struct s2n_config *config;
    struct s2n_cert_chain_and_key *identity;
    struct s2n_security_policy policy;
    struct { struct s2n_cipher_suite *list[16]; struct s2n_cipher_preferences preferences; } suites;
    struct { const struct s2n_ecc_named_curve *list[4]; struct s2n_ecc_preferences preferences; } curves;
    int is_server, sessions, releases_buffers;
    uint16_t version;
    char *server_name;
    struct s2n_psk *psk;
    cached *cache; /* each ID in the one place that its first bytes name */
};

struct reprise_connection {
    reprise_context *context;
    struct s2n_connection *tls;
    queue in, out;
    reprise_session *session; /* not taken yet */
    int is_ready, has_session;
};

static int failed(void)
{
    switch (s2n_errno) {
    case S2N_ERR_IO_BLOCKED: return REPRISE_WANT_READ; /* output has room always */
    case S2N_ERR_MISSING_CLIENT_CERT: case S2N_ERR_NO_CERT_FOUND: case S2N_ERR_CERT_UNTRUSTED: case S2N_ERR_CERT_INVALID_HOSTNAME:
    case S2N_ERR_CERT_REVOKED: case S2N_ERR_CERT_NOT_YET_VALID: case S2N_ERR_CERT_EXPIRED: case S2N_ERR_CERT_TYPE_UNSUPPORTED:
    case S2N_ERR_CERT_INVALID: case S2N_ERR_CERT_REJECTED: return REPRISE_BAD_CERTIFICATE;
    default: return REPRISE_FAILED;
    }
}

static int init(void) { return s2n_init() == S2N_SUCCESS ? REPRISE_OK : REPRISE_FAILED; }

static int receive(void *from, uint8_t *out, uint32_t capacity)
{
    size_t count = queue_move(from, capacity, out);
    if (!count) errno = EAGAIN;
    return count ? (int)count : -1;
}

static int send_out(void *to, const uint8_t *bytes, uint32_t length) { return queue_append(to, bytes, length) ? (int)length : -1; }

static cached *place(reprise_context *context, const uint8_t *id) { return &context->cache[(id[0] << 8 | id[1]) % CACHED]; }

static int cache_store(struct s2n_connection *tls, void *context, uint64_t ttl, const void *id, uint64_t id_length, const void *state, uint64_t length)
{
    cached *at = ((void)tls, (void)ttl, place(context, id));
    if (id_length != sizeof at->id || length > sizeof at->state) return -1;
    memcpy(at->id, id, sizeof at->id);
    memcpy(at->state, state, at->length = length);
    return 0;
}

static int cache_retrieve(struct s2n_connection *tls, void *context, const void *id, uint64_t id_length, void *state, uint64_t *length)
{
    cached *at = ((void)tls, place(context, id));
    if (id_length != sizeof at->id || !at->length || memcmp(at->id, id, sizeof at->id) || at->length > *length) return -1;
    memcpy(state, at->state, *length = at->length);
    return 0;
}

static int cache_delete(struct s2n_connection *tls, void *context, const void *id, uint64_t id_length)
{
    return (void)tls, (void)id_length, place(context, id)->length = 0;
}

/* Of TLS 1.3: TLS 1.2's is complete with the handshake. */
static int ticket_came(struct s2n_connection *tls, void *unused, struct s2n_session_ticket *ticket)
{
    reprise_connection *connection = ((void)unused, s2n_connection_get_ctx(tls));
    size_t length;
    if (connection->context->version != 0x0304 || s2n_session_ticket_get_data_len(ticket, &length) != S2N_SUCCESS) return 0;
    reprise_session *session = malloc(sizeof *session + length);
    if (!session || s2n_session_ticket_get_data(ticket, length, session->bytes) != S2N_SUCCESS) return free(session), 0;
    session->length = length;
    free(connection->session);
    connection->session = session;
    return 0;
}

static uint8_t any_host(const char *name, size_t length, void *unused) { return (void)name, (void)length, (void)unused, 1; }

static int pin(reprise_context *context, const reprise_options *options)
{
    static const struct s2n_ecc_named_curve *const known[] = {
        &s2n_ecc_curve_secp256r1, &s2n_ecc_curve_secp384r1, &s2n_ecc_curve_secp521r1, &s2n_ecc_curve_x25519};
    static const struct s2n_kem_group *hybrids[] = {&s2n_x25519_mlkem_768, &s2n_secp256r1_mlkem_768};
    static const struct s2n_kem_preferences hybrid[] = {{.tls13_kem_group_count = 1, .tls13_kem_groups = &hybrids[0]},
                                                        {.tls13_kem_group_count = 1, .tls13_kem_groups = &hybrids[1]}};
    /* Of TLS 1.3 that with ML-DSA, "default_pq". */
    const struct s2n_security_policy *usual = options->version == 0x0304 ? &security_policy_20250721 : &security_policy_20240501;
    struct s2n_security_policy *policy = &context->policy;
    *policy = (struct s2n_security_policy){.minimum_protocol_version = options->version == 0x0304 ? S2N_TLS13 : S2N_TLS12,
                                           .cipher_preferences = usual->cipher_preferences, .kem_preferences = &kem_preferences_null,
                                           .signature_preferences = usual->signature_preferences,
                                           .ecc_preferences = usual->ecc_preferences};
    if (options->suites_length > 16 || options->groups_length > 4) return 0;
    for (size_t i = 0; i < options->suites_length; i++) {
        uint8_t number[2] = {options->suites[i] >> 8, options->suites[i] & 255};
        struct s2n_cipher_suite **place = &context->suites.list[i];
        if (s2n_result_is_error(s2n_cipher_suite_from_iana(number, 2, place)) || !*place || !(*place)->available) return 0;
    }
    if (options->suites_length) {
        context->suites.preferences = (struct s2n_cipher_preferences){options->suites_length, context->suites.list, false};
        policy->cipher_preferences = &context->suites.preferences;
    }
    for (size_t i = 0; i < options->groups_length; i++) {
        size_t k = 0, h = 0;
        while (k < 4 && known[k]->iana_id != options->groups[i]) k++;
        while (h < 2 && hybrids[h]->iana_id != options->groups[i]) h++;
        if (k < 4) context->curves.list[context->curves.preferences.count++] = known[k];
        else if (h < 2 && options->version == 0x0304) policy->kem_preferences = &hybrid[h];
        else return 0;
    }
    context->curves.preferences.ecc_curves = context->curves.list;
    if (options->groups_length) policy->ecc_preferences = &context->curves.preferences;
    context->config->security_policy = policy;
    return 1;
}

static int use_sessions(reprise_context *context, const reprise_options *options)
{
    struct s2n_config *config = context->config;
    int by_id = options->sessions == REPRISE_SESSIONS_ID, is_12 = options->version == 0x0303;
    uint8_t random[16 + 32];
    /* It resumes no connection whose client is authenticated. */
    if ((by_id && !is_12) || (options->sessions != REPRISE_SESSIONS_NONE && options->require_client_certificate)) return 0;
    if (s2n_config_set_session_tickets_onoff(config, options->sessions == REPRISE_SESSIONS_TICKET) != S2N_SUCCESS) return 0;
    if (!context->is_server) return s2n_config_set_session_ticket_cb(config, ticket_came, NULL) == S2N_SUCCESS;
    if (options->sessions == REPRISE_SESSIONS_NONE) return 1;
    if (by_id
        && (!(context->cache = calloc(CACHED, sizeof *context->cache)) || s2n_config_set_cache_store_callback(config, cache_store, context)
            || s2n_config_set_cache_retrieve_callback(config, cache_retrieve, context)
            || s2n_config_set_cache_delete_callback(config, cache_delete, context) || s2n_config_set_session_cache_onoff(config, 1)))
        return 0;
    return getrandom(random, sizeof random, 0) == sizeof random
           && s2n_config_add_ticket_crypto_key(config, random, 16, random + 16, 32, 0) == S2N_SUCCESS;
}

static int use_max_fragment(reprise_context *context, const reprise_options *options)
{
    uint32_t most = max_fragment(options);
    if (!most) return 1;
    if (context->is_server) return fragment_code(most) && s2n_config_accept_max_fragment_length(context->config) == S2N_SUCCESS;
    return fragment_code(most) && s2n_config_send_max_fragment_length(context->config, (s2n_max_frag_len)fragment_code(most)) == S2N_SUCCESS;
}

static int use_certificates(reprise_context *context, const reprise_options *options)
{
    struct s2n_config *config = context->config;
    uint8_t *trust = terminated(options->trust);
    int done = trust && (!options->trust.length || s2n_config_add_pem_to_trust_store(config, (char *)trust) == S2N_SUCCESS);
    free(trust);
    if (done && options->key.length)
        done = (context->identity = s2n_cert_chain_and_key_new())
               && s2n_cert_chain_and_key_load_pem_bytes(context->identity, (uint8_t *)options->chain.data, options->chain.length,
                                                        (uint8_t *)options->key.data, options->key.length) == S2N_SUCCESS
               && s2n_config_add_cert_chain_and_key_to_store(config, context->identity) == S2N_SUCCESS;
    s2n_cert_auth_type type = context->is_server ? (options->require_client_certificate ? S2N_CERT_AUTH_REQUIRED : S2N_CERT_AUTH_NONE)
                              : options->key.length ? S2N_CERT_AUTH_OPTIONAL : S2N_CERT_AUTH_NONE;
    if (done && context->is_server) done = s2n_config_set_verify_host_callback(config, any_host, NULL) == S2N_SUCCESS;
    return done && s2n_config_set_client_auth_type(config, type) == S2N_SUCCESS;
}

/* External ones are of TLS 1.3, by a key exchange, and stand for certificates. */
static int use_psk(reprise_context *context, const reprise_options *options)
{
    if (!has_psk(options)) return 1;
    return options->version == 0x0304 && (context->psk = s2n_external_psk_new())
           && s2n_psk_set_identity(context->psk, (const uint8_t *)options->psk_identity.data, (uint16_t)options->psk_identity.length) == S2N_SUCCESS
           && s2n_psk_set_secret(context->psk, options->psk_key, (uint16_t)options->psk_key_length) == S2N_SUCCESS
           && s2n_config_set_psk_mode(context->config, S2N_PSK_MODE_EXTERNAL) == S2N_SUCCESS;
}

static void context_free(reprise_context *context)
{
    if (!context) return;
    s2n_psk_free(&context->psk);
    s2n_config_free(context->config), s2n_cert_chain_and_key_free(context->identity);
    free(context->cache), free(context->server_name), free(context);
}

static int context_new(const reprise_options *options, reprise_context **out)
{
    int result = REPRISE_NO_MEMORY;
    reprise_context *context = calloc(1, sizeof *context);
    if (!context || !(context->config = s2n_config_new_minimal())) goto failed;
    context->is_server = options->side == REPRISE_SERVER;
    context->sessions = options->sessions, context->version = options->version;
    context->releases_buffers = releases_buffers(options);
    if (options->server_name && !(context->server_name = strdup(options->server_name))) goto failed;
    result = REPRISE_UNSUPPORTED;
    if (!pin(context, options) || !use_sessions(context, options) || !use_max_fragment(context, options) || !use_psk(context, options)) goto failed;
    result = REPRISE_INVALID;
    if (!use_certificates(context, options)) goto failed;
    *out = context;
    return REPRISE_OK;
failed:
    context_free(context);
    return result;
}

static void connection_free(reprise_connection *connection)
{
    if (!connection) return;
    s2n_connection_free(connection->tls);
    free(connection->in.bytes), free(connection->out.bytes), free(connection->session), free(connection);
}

static int connection_new(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    reprise_connection *connection = calloc(1, sizeof *connection);
    if (!connection) return REPRISE_NO_MEMORY;
    connection->context = context;
    struct s2n_connection *tls = connection->tls = s2n_connection_new(context->is_server ? S2N_SERVER : S2N_CLIENT);
    /* Blinding is a wait after an error, which nobody here is to see. */
    if (!tls || s2n_connection_set_config(tls, context->config) || s2n_connection_set_blinding(tls, S2N_SELF_SERVICE_BLINDING)
        || s2n_connection_set_ctx(tls, connection) || s2n_connection_set_recv_cb(tls, receive) || s2n_connection_set_send_cb(tls, send_out)
        || s2n_connection_set_recv_ctx(tls, &connection->in) || s2n_connection_set_send_ctx(tls, &connection->out)
        || (context->psk && s2n_connection_append_psk(tls, context->psk))
        || (context->server_name && s2n_set_server_name(tls, context->server_name))
        || (session && s2n_connection_set_session(tls, session->bytes, session->length)))
        return connection_free(connection), REPRISE_FAILED;
    *out = connection;
    return REPRISE_OK;
}

REPRISE_TRANSPORT_IS_QUEUES

/* Buffers with something in them stay. */
static void release(reprise_connection *connection)
{
    if (connection->context->releases_buffers) s2n_connection_release_buffers(connection->tls);
}

static int handshake(reprise_connection *connection)
{
    s2n_blocked_status blocked;
    if (connection->is_ready) return REPRISE_OK;
    if (s2n_negotiate(connection->tls, &blocked) != S2N_SUCCESS) return failed();
    connection->is_ready = 1;
    connection->has_session = !connection->context->is_server && connection->context->version == 0x0303
                              && connection->context->sessions != REPRISE_SESSIONS_NONE;
    /* What would go with it is a part of a session of TLS 1.2. */
    if (connection->context->releases_buffers && !connection->has_session && s2n_connection_free_handshake(connection->tls) != S2N_SUCCESS)
        return REPRISE_FAILED;
    release(connection);
    return REPRISE_OK;
}

static ptrdiff_t read_data(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    s2n_blocked_status blocked;
    ssize_t count = s2n_recv(connection->tls, out, (ssize_t)capacity, &blocked);
    /* One that this side has closed, of TLS 1.2, which it reads no more: but for the peer's close_notify. */
    if (count < 0 && s2n_errno == S2N_ERR_CLOSED) count = s2n_shutdown(connection->tls, &blocked);
    if (count > 0) release(connection);
    return count > 0 ? count : count == 0 ? REPRISE_CLOSED : failed();
}

/* What it puts into a record at most, as long as nobody prefers throughput. */
#define USUAL_RECORD 8087

static ptrdiff_t write_data(reprise_connection *connection, const uint8_t *data, size_t length)
{
    s2n_blocked_status blocked;
    if (length > USUAL_RECORD && s2n_connection_prefer_throughput(connection->tls) != S2N_SUCCESS) return failed();
    ssize_t count = s2n_send(connection->tls, data, (ssize_t)length, &blocked);
    if (count > 0) release(connection);
    return count > 0 ? count : failed();
}

static int close_connection(reprise_connection *connection)
{
    s2n_blocked_status blocked;
    return s2n_shutdown_send(connection->tls, &blocked) == S2N_SUCCESS ? REPRISE_OK : failed();
}

static int facts(const reprise_connection *connection, reprise_facts *out)
{
    const char *group = NULL;
    uint8_t number[2];
    const struct s2n_ecc_preferences *curves = &connection->context->curves.preferences;
    if (!connection->is_ready || s2n_connection_get_cipher_iana_value(connection->tls, &number[0], &number[1])) return REPRISE_FAILED;
    out->version = (uint16_t)(0x0303 + s2n_connection_get_actual_protocol_version(connection->tls) - S2N_TLS12);
    out->suite = (uint16_t)(number[0] << 8 | number[1]);
    out->group = 0;
    if (s2n_connection_get_key_exchange_group(connection->tls, &group) == S2N_SUCCESS)
        for (size_t i = 0; i < curves->count; i++)
            if (!strcmp(curves->ecc_curves[i]->name, group)) out->group = curves->ecc_curves[i]->iana_id;
    out->resumed = s2n_connection_is_session_resumed(connection->tls);
    out->resumed_by = -1;
    out->client_certificate = connection->context->is_server ? s2n_connection_client_cert_used(connection->tls) : -1;
    return REPRISE_OK;
}

static int session_take(reprise_connection *connection, reprise_session **out)
{
    int length = connection->has_session ? s2n_connection_get_session_length(connection->tls) : 0;
    connection->has_session = 0;
    if (length > 0 && (connection->session = malloc(sizeof **out + (size_t)length))) {
        connection->session->length = (size_t)length;
        if (s2n_connection_get_session(connection->tls, connection->session->bytes, (size_t)length) != length) return REPRISE_FAILED;
    }
    if (!connection->session) return REPRISE_NO_SESSION;
    *out = connection->session;
    connection->session = NULL;
    return REPRISE_OK;
}

REPRISE_ERROR_TEXT(snprintf(text, sizeof text, "%s", s2n_strerror(s2n_errno, "EN")))

REPRISE_STACK_TABLE("s2n-tls", LIBRARY_VERSION,
                    REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | REPRISE_CAN_TLS13 | REPRISE_CAN_ID | REPRISE_CAN_TICKET
                        | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT | REPRISE_CAN_MAX_FRAGMENT | REPRISE_CAN_RELEASE_BUFFERS
                        | REPRISE_CAN_PSK)
