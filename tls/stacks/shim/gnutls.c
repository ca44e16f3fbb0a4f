/*
 * GnuTLS 3.7 and later as a plugin of Reprise: see reprise_stack.h. Its transport is callbacks, here over memory, and a server
 * brings its own store of session IDs.
 */
#include <errno.h>
#include <stdio.h>

#include <gnutls/gnutls.h>

#define REPRISE_PRIMITIVES &primitives
#include "memory.h"
#include "store.h"

REPRISE_SESSION_IS_BYTES

struct reprise_context {
    int is_server, sessions, requires_client;
    uint32_t max_early_data, max_fragment;
    uint16_t version;
    gnutls_certificate_credentials_t credentials;
    external_psk psk;
    gnutls_psk_client_credentials_t psk_of_client;
    gnutls_psk_server_credentials_t psk_of_server;
    gnutls_priority_t priority;
    gnutls_datum_t ticket_key;
    gnutls_anti_replay_t anti_replay;
    char *server_name;
    stored *store;
};

struct reprise_connection {
    reprise_context *context;
    gnutls_session_t tls;
    queue in, out;
    int is_ready, is_taken;
};

static __thread int last_error;

static int failed(int error)
{
    last_error = error;
    return error == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR || error == GNUTLS_E_NO_CERTIFICATE_FOUND
                   || error == GNUTLS_E_CERTIFICATE_REQUIRED ? REPRISE_BAD_CERTIFICATE : REPRISE_FAILED;
}

#define datum(text) {(unsigned char *)(text).data, (unsigned)(text).length}

#include "gnutls_primitives.h"

static ssize_t push(gnutls_transport_ptr_t to, const void *bytes, size_t length)
{
    reprise_connection *connection = to;
    return queue_append(&connection->out, bytes, length) ? (ssize_t)length : -1;
}

static ssize_t pull(gnutls_transport_ptr_t from, void *bytes, size_t capacity)
{
    reprise_connection *connection = from;
    size_t count = queue_move(&connection->in, capacity, bytes);
    if (!count) gnutls_transport_set_errno(connection->tls, EAGAIN);
    return count ? (ssize_t)count : -1;
}

static int pull_timeout(gnutls_transport_ptr_t from, unsigned milliseconds)
{
    const queue *in = ((void)milliseconds, &((reprise_connection *)from)->in); /* memory does not wait */
    return in->end > in->begin;
}

static int keep(void *context, gnutls_datum_t id, gnutls_datum_t session)
{
    return store_put(((reprise_context *)context)->store, id.data, id.size, session.data, session.size) ? 0 : -1;
}

static gnutls_datum_t retrieve(void *context, gnutls_datum_t id)
{
    const stored *from = store_find(((reprise_context *)context)->store, id.data, id.size);
    gnutls_datum_t found = {NULL, 0};
    if (from && (found.data = gnutls_malloc(from->length))) memcpy(found.data, from->bytes, found.size = from->length);
    return found;
}

/* Early data is accepted once: whoever is told that it was there refuses it. */
static int remember(void *context, time_t expires, const gnutls_datum_t *name, const gnutls_datum_t *data)
{
    (void)expires;
    int is_known = store_find(((reprise_context *)context)->store, name->data, name->size) != NULL;
    return is_known ? GNUTLS_E_DB_ENTRY_EXISTS : keep(context, *name, *data);
}

static int init(void) { return gnutls_global_init() ? REPRISE_FAILED : REPRISE_OK; }

/* Suites by number, in the words of a priority string: key exchange of TLS 1.2, cipher, and its MAC if it has one. */
static const struct { uint16_t number; const char *exchange, *cipher; gnutls_kx_algorithm_t kx; gnutls_cipher_algorithm_t algorithm; } suites[] = {
    {0x1301, NULL, "AES-128-GCM", 0, GNUTLS_CIPHER_AES_128_GCM}, {0x1302, NULL, "AES-256-GCM", 0, GNUTLS_CIPHER_AES_256_GCM},
    {0x1303, NULL, "CHACHA20-POLY1305", 0, GNUTLS_CIPHER_CHACHA20_POLY1305},
    {0xc02b, "ECDHE-ECDSA", "AES-128-GCM", GNUTLS_KX_ECDHE_ECDSA, GNUTLS_CIPHER_AES_128_GCM},
    {0xc02c, "ECDHE-ECDSA", "AES-256-GCM", GNUTLS_KX_ECDHE_ECDSA, GNUTLS_CIPHER_AES_256_GCM},
    {0xc02f, "ECDHE-RSA", "AES-128-GCM", GNUTLS_KX_ECDHE_RSA, GNUTLS_CIPHER_AES_128_GCM},
    {0xc030, "ECDHE-RSA", "AES-256-GCM", GNUTLS_KX_ECDHE_RSA, GNUTLS_CIPHER_AES_256_GCM},
    {0xcca8, "ECDHE-RSA", "CHACHA20-POLY1305", GNUTLS_KX_ECDHE_RSA, GNUTLS_CIPHER_CHACHA20_POLY1305},
    {0xcca9, "ECDHE-ECDSA", "CHACHA20-POLY1305", GNUTLS_KX_ECDHE_ECDSA, GNUTLS_CIPHER_CHACHA20_POLY1305},
    {0x009e, "DHE-RSA", "AES-128-GCM", GNUTLS_KX_DHE_RSA, GNUTLS_CIPHER_AES_128_GCM},
    {0x00a8, "PSK", "AES-128-GCM", GNUTLS_KX_PSK, GNUTLS_CIPHER_AES_128_GCM},
    {0x00aa, "DHE-PSK", "AES-128-GCM", GNUTLS_KX_DHE_PSK, GNUTLS_CIPHER_AES_128_GCM},
    {0xc037, "ECDHE-PSK", "AES-128-CBC:+SHA256", GNUTLS_KX_ECDHE_PSK, GNUTLS_CIPHER_AES_128_CBC}};
#define SUITES (sizeof suites / sizeof *suites)

static int pin(reprise_context *context, const reprise_options *options)
{
    char text[1024];
    int is_13 = options->version == 0x0304, psk_ke = REPRISE_HAS(options, psk_ke) && options->psk_ke;
    const char *exchanges = !has_psk(options) ? ":+ECDHE-ECDSA:+ECDHE-RSA:+DHE-RSA" : psk_ke ? "" : ":+ECDHE-PSK:+DHE-PSK";
    int length = snprintf(text, sizeof text, "NONE:+VERS-TLS1.%d:+AEAD:+COMP-NULL:+SIGN-ALL:+CTYPE-X509:%%PROFILE_VERY_WEAK%s%s",
                          is_13 ? 3 : 2, is_13 ? exchanges : "", psk_ke ? ":+PSK" : "");
    if (has_psk(options) && is_13 && (options->suites_length != 1 || options->suites[0] == 0x1302)) return 0; /* its hash is SHA-256 */
    for (size_t i = 0; i < options->suites_length; i++) {
        size_t s = 0;
        while (s < SUITES && suites[s].number != options->suites[i]) s++;
        if (s == SUITES || (suites[s].exchange == NULL) != is_13) return 0;
        length += snprintf(text + length, sizeof text - length, ":+%s", suites[s].cipher);
        if (!is_13) length += snprintf(text + length, sizeof text - length, ":+%s", suites[s].exchange);
    }
    for (size_t i = 0; i < options->groups_length; i++) {
        const char *name = group_name(options->groups[i]);
        if (!name) return 0;
        length += snprintf(text + length, sizeof text - length, ":+GROUP-%s", name);
    }
    return length < (int)sizeof text && !(last_error = gnutls_priority_init(&context->priority, text, NULL));
}

static int psk_find(gnutls_session_t tls, const char *identity, gnutls_datum_t *key)
{
    const external_psk *psk = &((reprise_context *)gnutls_session_get_ptr(tls))->psk;
    if (!psk_is(psk, identity, strlen(identity)) || !(key->data = gnutls_malloc(psk->key_length))) return -1;
    memcpy(key->data, psk->key, key->size = (unsigned)psk->key_length);
    return 0;
}

static int use_psk(reprise_context *context, const reprise_options *options)
{
    if (!has_psk(options)) return 1;
    if (!psk_copy(&context->psk, options)) return 0;
    gnutls_datum_t key = {context->psk.key, (unsigned)context->psk.key_length};
    if (!context->is_server)
        return !gnutls_psk_allocate_client_credentials(&context->psk_of_client)
               && !gnutls_psk_set_client_credentials(context->psk_of_client, context->psk.identity, &key, GNUTLS_PSK_KEY_RAW);
    if (gnutls_psk_allocate_server_credentials(&context->psk_of_server)) return 0;
    gnutls_psk_set_server_credentials_function(context->psk_of_server, psk_find);
    return !gnutls_psk_set_server_known_dh_params(context->psk_of_server, GNUTLS_SEC_PARAM_MEDIUM);
}

static int give_psk(gnutls_session_t tls, reprise_context *context)
{
    if (!context->psk.identity) return 0;
    gnutls_session_set_ptr(tls, context);
    return gnutls_credentials_set(tls, GNUTLS_CRD_PSK, context->is_server ? (void *)context->psk_of_server : (void *)context->psk_of_client);
}

static void context_free(reprise_context *context)
{
    if (!context) return;
    if (context->credentials) gnutls_certificate_free_credentials(context->credentials);
    if (context->psk_of_client) gnutls_psk_free_client_credentials(context->psk_of_client);
    if (context->psk_of_server) gnutls_psk_free_server_credentials(context->psk_of_server);
    psk_free(&context->psk);
    if (context->priority) gnutls_priority_deinit(context->priority);
    if (context->anti_replay) gnutls_anti_replay_deinit(context->anti_replay);
    gnutls_free(context->ticket_key.data);
    store_free(context->store), free(context->server_name), free(context);
}

static int context_new(const reprise_options *options, reprise_context **out)
{
    reprise_context *context = calloc(1, sizeof *context);
    if (!context) return REPRISE_NO_MEMORY;
    int result = REPRISE_UNSUPPORTED;
    context->is_server = options->side == REPRISE_SERVER;
    context->sessions = options->sessions, context->version = options->version;
    context->requires_client = options->require_client_certificate;
    context->max_fragment = max_fragment(options);
    if (context->max_fragment && context->max_fragment < 512) goto failed; /* RFC 8449 has less, for who allows small records */
    if ((options->sessions == REPRISE_SESSIONS_ID && options->version == 0x0304) || !pin(context, options)) goto failed;
    result = REPRISE_NO_MEMORY;
    if (gnutls_certificate_allocate_credentials(&context->credentials) || !use_psk(context, options)) goto failed;
    if (options->server_name && !(context->server_name = strdup(options->server_name))) goto failed;
    if (context->is_server && gnutls_session_ticket_key_generate(&context->ticket_key)) goto failed;
    if (REPRISE_HAS(options, max_early_data)) context->max_early_data = options->max_early_data;
    if (context->is_server && (options->sessions == REPRISE_SESSIONS_ID || context->max_early_data)
        && !(context->store = calloc(STORED, sizeof *context->store)))
        goto failed;
    if (context->is_server && context->max_early_data) {
        if (gnutls_anti_replay_init(&context->anti_replay)) goto failed;
        gnutls_anti_replay_set_add_function(context->anti_replay, remember), gnutls_anti_replay_set_ptr(context->anti_replay, context);
    }
    result = REPRISE_INVALID;
    gnutls_datum_t chain = datum(options->chain), key = datum(options->key), trust = datum(options->trust);
    if (key.size && (last_error = gnutls_certificate_set_x509_key_mem(context->credentials, &chain, &key, GNUTLS_X509_FMT_PEM)) < 0) goto failed;
    if (trust.size && (last_error = gnutls_certificate_set_x509_trust_mem(context->credentials, &trust, GNUTLS_X509_FMT_PEM)) < 0) goto failed;
    /* For a TLS 1.2 client that names no group of RFC 7919. */
    if (context->is_server) gnutls_certificate_set_known_dh_params(context->credentials, GNUTLS_SEC_PARAM_MEDIUM);
    *out = context;
    return REPRISE_OK;
failed:
    context_free(context);
    return result;
}

static void connection_free(reprise_connection *connection)
{
    if (!connection) return;
    if (connection->tls) gnutls_deinit(connection->tls);
    free(connection->in.bytes), free(connection->out.bytes), free(connection);
}

static int connection_new(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    reprise_connection *connection = calloc(1, sizeof *connection);
    if (!connection) return REPRISE_NO_MEMORY;
    unsigned flags = (context->is_server ? GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET : GNUTLS_CLIENT) | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;
    if (context->sessions != REPRISE_SESSIONS_TICKET) flags |= GNUTLS_NO_TICKETS;
    if (context->max_early_data) flags |= GNUTLS_ENABLE_EARLY_DATA;
    connection->context = context;
    int error = gnutls_init(&connection->tls, flags);
    gnutls_session_t tls = connection->tls;
    if (!error) error = gnutls_priority_set(tls, context->priority);
    if (!error) error = gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, context->credentials);
    if (!error) error = give_psk(tls, context);
    if (!error && context->max_fragment) error = (int)gnutls_record_set_max_recv_size(tls, context->max_fragment);
    if (error) goto failed;
    gnutls_transport_set_ptr(tls, connection);
    gnutls_transport_set_push_function(tls, push), gnutls_transport_set_pull_function(tls, pull);
    gnutls_transport_set_pull_timeout_function(tls, pull_timeout);
    gnutls_handshake_set_timeout(tls, GNUTLS_INDEFINITE_TIMEOUT);
    if (!context->is_server) {
        if (!context->psk.identity) gnutls_session_set_verify_cert(tls, context->server_name, 0);
        if (context->server_name) error = gnutls_server_name_set(tls, GNUTLS_NAME_DNS, context->server_name, strlen(context->server_name));
        if (!error && session) error = gnutls_session_set_data(tls, session->bytes, session->length);
    } else {
        if (context->requires_client) {
            gnutls_certificate_server_set_request(tls, GNUTLS_CERT_REQUIRE);
            gnutls_session_set_verify_cert(tls, NULL, 0);
        }
        if (context->sessions == REPRISE_SESSIONS_TICKET) error = gnutls_session_ticket_enable_server(tls, &context->ticket_key);
        if (context->anti_replay) {
            gnutls_record_set_max_early_data_size(tls, context->max_early_data);
            gnutls_anti_replay_enable(tls, context->anti_replay);
        }
        if (context->sessions == REPRISE_SESSIONS_ID) {
            gnutls_db_set_ptr(tls, context);
            gnutls_db_set_store_function(tls, keep), gnutls_db_set_retrieve_function(tls, retrieve);
        }
    }
    if (error) goto failed;
    *out = connection;
    return REPRISE_OK;
failed:
    connection_free(connection);
    return failed(error);
}

REPRISE_TRANSPORT_IS_QUEUES

static size_t unread(const reprise_connection *connection) { return connection->in.end - connection->in.begin; }

static int handshake(reprise_connection *connection)
{
    int result = 0;
    size_t before = 0;
    /* Once it is complete, another call would begin another handshake. After a part of a message it asks for more, where more is there. */
    while (!connection->is_ready && (before = unread(connection), result = gnutls_handshake(connection->tls)) < 0)
        if (result == GNUTLS_E_AGAIN && (!unread(connection) || unread(connection) == before)) return REPRISE_WANT_READ;
        else if (gnutls_error_is_fatal(result)) return gnutls_alert_send_appropriate(connection->tls, result), failed(result);
    const reprise_context *context = connection->context;
    /* By itself it would send two. Under TLS 1.2 the ticket is a part of the handshake. */
    int sends_ticket = context->is_server && context->version == 0x0304 && context->sessions == REPRISE_SESSIONS_TICKET;
    if (sends_ticket && !connection->is_ready && (result = gnutls_session_ticket_send(connection->tls, 1, 0)) < 0) return failed(result);
    connection->is_ready = 1;
    return REPRISE_OK;
}

static ptrdiff_t early_write(reprise_connection *connection, const uint8_t *data, size_t length)
{
    if (gnutls_record_get_max_early_data_size(connection->tls) < length) return 0;
    ssize_t error = gnutls_record_send_early_data(connection->tls, data, length); /* it is not a count */
    return error ? failed((int)error) : (ptrdiff_t)length;
}

static ptrdiff_t early_read(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    ssize_t count = connection->context->is_server ? gnutls_record_recv_early_data(connection->tls, out, capacity) : 0;
    return count >= 0 || count == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE ? (count > 0 ? count : 0) : failed((int)count);
}

static ptrdiff_t read_data(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    ssize_t count = gnutls_record_recv(connection->tls, out, capacity);
    if (count == GNUTLS_E_AGAIN || count == GNUTLS_E_INTERRUPTED) return REPRISE_WANT_READ;
    return count > 0 ? count : count == 0 ? REPRISE_CLOSED : failed((int)count);
}

static ptrdiff_t write_data(reprise_connection *connection, const uint8_t *data, size_t length)
{
    ssize_t count = gnutls_record_send(connection->tls, data, length);
    return count > 0 ? count : failed((int)count);
}

static int close_connection(reprise_connection *connection)
{
    int error = gnutls_bye(connection->tls, GNUTLS_SHUT_WR);
    return error ? failed(error) : REPRISE_OK;
}

static int facts(const reprise_connection *connection, reprise_facts *out)
{
    gnutls_session_t tls = connection->tls;
    int is_13 = gnutls_protocol_get_version(tls) == GNUTLS_TLS1_3;
    unsigned count = 0;
    out->version = is_13 ? 0x0304 : gnutls_protocol_get_version(tls) == GNUTLS_TLS1_2 ? 0x0303 : 0;
    out->suite = 0;
    for (size_t i = 0; i < SUITES; i++)
        if (gnutls_cipher_get(tls) == suites[i].algorithm && (is_13 ? !suites[i].exchange : suites[i].kx == gnutls_kx_get(tls)))
            out->suite = suites[i].number;
    out->group = group_number(gnutls_group_get_name(gnutls_group_get(tls)));
    out->resumed = gnutls_session_is_resumed(tls) != 0;
    out->resumed_by = -1;
    out->client_certificate = connection->context->is_server ? gnutls_certificate_get_peers(tls, &count) && count : -1;
    if (REPRISE_HAS(out, early_data)) out->early_data = (gnutls_session_get_flags(tls) & GNUTLS_SFLAGS_EARLY_DATA) != 0;
    return REPRISE_OK;
}

static int session_take(reprise_connection *connection, reprise_session **out)
{
    /* Under TLS 1.3 the library would wait for a ticket that has not come. */
    int has_ticket = (gnutls_session_get_flags(connection->tls) & GNUTLS_SFLAGS_SESSION_TICKET) != 0;
    if (connection->is_taken || connection->context->is_server || connection->context->sessions == REPRISE_SESSIONS_NONE
        || (connection->context->version == 0x0304 && !has_ticket))
        return REPRISE_NO_SESSION;
    gnutls_datum_t data;
    int error = gnutls_session_get_data2(connection->tls, &data);
    if (error) return failed(error);
    int result = session_import(connection->context, data.data, data.size, out);
    gnutls_free(data.data);
    connection->is_taken = result == REPRISE_OK;
    return result;
}

REPRISE_ERROR_TEXT(if (last_error) snprintf(text, sizeof text, "%s", gnutls_strerror(last_error)))

REPRISE_STACK_TABLE_WITH("GnuTLS", gnutls_check_version(NULL),
                         REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | REPRISE_CAN_TLS13 | REPRISE_CAN_ID
                             | REPRISE_CAN_TICKET | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT | REPRISE_CAN_PSK_KE
                             | REPRISE_CAN_EARLY_DATA | REPRISE_CAN_PSK | REPRISE_CAN_MAX_FRAGMENT,
                         early_write, early_read)
