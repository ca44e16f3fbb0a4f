/*
 * BearSSL 0.6 as a plugin of Reprise: see reprise_stack.h. TLS 1.2 and session IDs. It acts on bytes in the call that feeds them.
 */
#include <stdio.h>

#include <bearssl.h>

#define REPRISE_PRIMITIVES &primitives
#include "bearssl_pem.h"
#include "bearssl_primitives.h"
#include "memory.h"

REPRISE_SESSION_IS_BYTES /* a plain copy of its parameters */

struct reprise_context {
    const br_ssl_session_cache_class *cache; /* first: the library finds the context by it */
    br_ssl_session_cache_lru lru;
    unsigned char *cache_memory;
    certificates pem;
    br_ec_impl curves; /* the library's own, and of its curves those that are pinned */
    uint16_t suites[16];
    size_t suites_length;
    int is_server, sessions, requires_client, was_found;
    char *server_name;
    size_t input, output; /* bytes of a connection's buffers */
    reprise_connection *spare; /* of a connection that has ended: a program makes the next with it, as BearSSL's own samples do */
};

struct reprise_connection {
    reprise_context *context;
    union { br_ssl_client_context client; br_ssl_server_context server; } side;
    br_ssl_engine_context *engine; /* in side */
    br_x509_minimal_context verifier;
    br_ssl_session_parameters offered;
    int is_taken, was_found;
    unsigned char memory[]; /* input, then output */
};

static __thread int last_error;

static int failed(const reprise_connection *connection)
{
    last_error = br_ssl_engine_last_error(connection->engine);
    return last_error == BR_ERR_OK ? REPRISE_CLOSED
           : last_error >= BR_ERR_X509_OK || last_error == BR_ERR_NO_CLIENT_AUTH ? REPRISE_BAD_CERTIFICATE : REPRISE_FAILED;
}

static int init(void) { return REPRISE_OK; }

/* The cache of the library, which notices what was found in it. */
#define CACHED 1024
static void cache_save(const br_ssl_session_cache_class **context, br_ssl_server_context *server, const br_ssl_session_parameters *session)
{
    reprise_context *own = (reprise_context *)context;
    own->lru.vtable->save(&own->lru.vtable, server, session);
}

static int cache_load(const br_ssl_session_cache_class **context, br_ssl_server_context *server, br_ssl_session_parameters *session)
{
    reprise_context *own = (reprise_context *)context;
    return own->was_found = own->lru.vtable->load(&own->lru.vtable, server, session);
}

static const br_ssl_session_cache_class cache_class = {sizeof(reprise_context), cache_save, cache_load};

static void context_free(reprise_context *context)
{
    if (!context) return;
    certificates_free(&context->pem);
    free(context->spare), free(context->cache_memory), free(context->server_name), free(context);
}

#define LARGEST_FRAGMENT 16384

static int pin(reprise_context *context, const reprise_options *options)
{
    static const uint16_t known[] = {0xc02b, 0xc02c, 0xc02f, 0xc030, 0xcca8, 0xcca9};
    context->curves = *br_ec_get_default();
    if (options->version != 0x0303 || options->sessions == REPRISE_SESSIONS_TICKET || options->suites_length > 16) return 0;
    for (size_t i = 0; i < options->suites_length; i++) {
        size_t k = 0;
        while (k < 6 && known[k] != options->suites[i]) k++;
        if (k == 6) return 0;
        context->suites[context->suites_length++] = options->suites[i];
    }
    /* A client with buffers for no more asks for it. */
    uint32_t most = max_fragment(options), fragment = most ? most : LARGEST_FRAGMENT;
    if (most && !fragment_code(most)) return 0;
    context->input = fragment + BR_SSL_BUFSIZE_INPUT - LARGEST_FRAGMENT, context->output = fragment + BR_SSL_BUFSIZE_OUTPUT - LARGEST_FRAGMENT;
    uint32_t curves = 0;
    for (size_t i = 0; i < options->groups_length; i++) {
        if (options->groups[i] > 31 || !(context->curves.supported_curves >> options->groups[i] & 1)) return 0;
        curves |= (uint32_t)1 << options->groups[i];
    }
    if (curves) context->curves.supported_curves = curves;
    return 1;
}

static int context_new(const reprise_options *options, reprise_context **out)
{
    reprise_context *context = calloc(1, sizeof *context);
    if (!context) return REPRISE_NO_MEMORY;
    int result = REPRISE_UNSUPPORTED;
    context->cache = &cache_class;
    context->is_server = options->side == REPRISE_SERVER;
    context->sessions = options->sessions;
    context->requires_client = options->require_client_certificate;
    if (!pin(context, options)) goto failed;
    if (options->key.length && !each_object(options->key, set_key, &context->pem)) goto failed; /* of a kind that it has not */
    result = REPRISE_INVALID;
    if (!each_object(options->chain, add_certificate, &context->pem) || !each_object(options->trust, add_root, &context->pem)) goto failed;
    result = REPRISE_NO_MEMORY;
    if (options->server_name && !(context->server_name = strdup(options->server_name))) goto failed;
    if (context->is_server && options->sessions == REPRISE_SESSIONS_ID) {
        if (!(context->cache_memory = malloc(100 * CACHED))) goto failed;
        br_ssl_session_cache_lru_init(&context->lru, context->cache_memory, 100 * CACHED);
    }
    *out = context;
    return REPRISE_OK;
failed:
    context_free(context);
    return result;
}

static void connection_free(reprise_connection *connection)
{
    if (!connection) return;
    reprise_context *context = connection->context;
    if (context->spare || br_ssl_engine_last_error(connection->engine) != BR_ERR_OK) free(connection);
    else context->spare = connection;
}

static void begin_client(reprise_connection *connection)
{
    reprise_context *context = connection->context;
    br_ssl_client_context *client = &connection->side.client;
    br_ssl_client_init_full(client, &connection->verifier, context->pem.roots.anchors, context->pem.roots.count);
    if (context->pem.key_kind == BR_KEYTYPE_RSA)
        br_ssl_client_set_single_rsa(client, context->pem.own.certificates, context->pem.own.count, br_skey_decoder_get_rsa(&context->pem.key), br_rsa_pkcs1_sign_get_default());
    else if (context->pem.key_kind == BR_KEYTYPE_EC)
        br_ssl_client_set_single_ec(client, context->pem.own.certificates, context->pem.own.count, br_skey_decoder_get_ec(&context->pem.key),
                                    BR_KEYTYPE_SIGN, BR_KEYTYPE_EC, br_ec_get_default(), br_ecdsa_sign_asn1_get_default());
}

static void begin_server(reprise_connection *connection)
{
    reprise_context *context = connection->context;
    br_ssl_server_context *server = &connection->side.server;
    if (context->pem.key_kind == BR_KEYTYPE_RSA)
        br_ssl_server_init_full_rsa(server, context->pem.own.certificates, context->pem.own.count, br_skey_decoder_get_rsa(&context->pem.key));
    else
        br_ssl_server_init_full_ec(server, context->pem.own.certificates, context->pem.own.count, BR_KEYTYPE_EC, br_skey_decoder_get_ec(&context->pem.key));
    if (context->cache_memory) br_ssl_server_set_cache(server, &context->cache);
    if (!context->requires_client) return;
    br_x509_minimal_context *verifier = &connection->verifier;
    br_x509_minimal_init(verifier, &br_sha256_vtable, context->pem.roots.anchors, context->pem.roots.count);
    br_x509_minimal_set_rsa(verifier, br_rsa_pkcs1_vrfy_get_default());
    br_x509_minimal_set_ecdsa(verifier, br_ec_get_default(), br_ecdsa_vrfy_asn1_get_default());
    br_x509_minimal_set_hash(verifier, br_sha256_ID, &br_sha256_vtable);
    br_x509_minimal_set_hash(verifier, br_sha384_ID, &br_sha384_vtable);
    br_ssl_engine_set_default_rsavrfy(connection->engine);
    br_ssl_engine_set_default_ecdsa(connection->engine);
    br_ssl_engine_set_x509(connection->engine, &verifier->vtable);
    br_ssl_server_set_trust_anchor_names_alt(server, context->pem.roots.anchors, context->pem.roots.count);
}

/* Everything of a connection that is the context's: with its buffer, and a generator of random bytes that the first connection seeds. */
static reprise_connection *configured(reprise_context *context)
{
    reprise_connection *connection = malloc(sizeof *connection + context->input + context->output);
    if (!connection) return NULL;
    connection->context = context;
    connection->engine = context->is_server ? &connection->side.server.eng : &connection->side.client.eng;
    (context->is_server ? begin_server : begin_client)(connection);
    br_ssl_engine_context *engine = connection->engine;
    br_ssl_engine_set_versions(engine, BR_TLS12, BR_TLS12);
    if (context->suites_length) br_ssl_engine_set_suites(engine, context->suites, context->suites_length);
    br_ssl_engine_set_ec(engine, &context->curves);
    br_ssl_engine_set_buffers_bidi(engine, connection->memory, context->input, connection->memory + context->input, context->output);
    return connection;
}

static int connection_new(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    reprise_connection *connection = context->spare;
    context->spare = NULL;
    if (!connection && !(connection = configured(context))) return REPRISE_NO_MEMORY;
    br_ssl_engine_context *engine = connection->engine;
    memset(&connection->offered, 0, sizeof connection->offered);
    connection->is_taken = connection->was_found = context->was_found = 0;
    if (session && session->length == sizeof connection->offered) memcpy(&connection->offered, session->bytes, session->length);
    if (session) br_ssl_engine_set_session_parameters(engine, &connection->offered);
    if (!(context->is_server ? br_ssl_server_reset(&connection->side.server)
                             : br_ssl_client_reset(&connection->side.client, context->server_name, session != NULL))) {
        int result = failed(connection);
        connection_free(connection);
        return result;
    }
    *out = connection;
    return REPRISE_OK;
}

/* Up to length bytes into or out of one of its four buffers. */
static ptrdiff_t pass(reprise_connection *connection, unsigned char *buffer(const br_ssl_engine_context *, size_t *),
                      void done(br_ssl_engine_context *, size_t), size_t length, uint8_t *out, const uint8_t *in)
{
    size_t room;
    unsigned char *bytes = buffer(connection->engine, &room);
    if (length > room) length = room;
    memcpy(out ? out : bytes, in ? in : bytes, length);
    done(connection->engine, length);
    return (ptrdiff_t)length;
}

static ptrdiff_t feed(reprise_connection *connection, const uint8_t *bytes, size_t length)
{
    unsigned state = br_ssl_engine_current_state(connection->engine);
    if (state & BR_SSL_CLOSED) return failed(connection);
    if (!(state & BR_SSL_RECVREC)) return state & BR_SSL_SENDREC ? REPRISE_WANT_WRITE : REPRISE_WANT_READ;
    return pass(connection, br_ssl_engine_recvrec_buf, br_ssl_engine_recvrec_ack, length, NULL, bytes);
}

static ptrdiff_t take(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    if (!(br_ssl_engine_current_state(connection->engine) & BR_SSL_SENDREC)) return 0;
    return pass(connection, br_ssl_engine_sendrec_buf, br_ssl_engine_sendrec_ack, capacity, out, NULL);
}

static int handshake(reprise_connection *connection)
{
    unsigned state = br_ssl_engine_current_state(connection->engine);
    if (state & BR_SSL_CLOSED) return failed(connection);
    if (!(state & BR_SSL_SENDAPP)) return state & BR_SSL_SENDREC ? REPRISE_WANT_WRITE : REPRISE_WANT_READ;
    connection->was_found = connection->context->was_found;
    return REPRISE_OK;
}

static ptrdiff_t read_data(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    unsigned state = br_ssl_engine_current_state(connection->engine);
    if (!(state & BR_SSL_RECVAPP)) return state & BR_SSL_CLOSED ? failed(connection) : state & BR_SSL_RECVREC ? REPRISE_WANT_READ : REPRISE_WANT_WRITE;
    return pass(connection, br_ssl_engine_recvapp_buf, br_ssl_engine_recvapp_ack, capacity, out, NULL);
}

static ptrdiff_t write_data(reprise_connection *connection, const uint8_t *data, size_t length)
{
    unsigned state = br_ssl_engine_current_state(connection->engine);
    if (!(state & BR_SSL_SENDAPP)) return state & BR_SSL_CLOSED ? failed(connection) : REPRISE_WANT_WRITE;
    ptrdiff_t count = pass(connection, br_ssl_engine_sendapp_buf, br_ssl_engine_sendapp_ack, length, NULL, data);
    br_ssl_engine_flush(connection->engine, 0);
    return count;
}

static int close_connection(reprise_connection *connection)
{
    br_ssl_engine_close(connection->engine);
    return REPRISE_OK;
}

static int facts(const reprise_connection *connection, reprise_facts *out)
{
    br_ssl_session_parameters now;
    br_ssl_engine_get_session_parameters(connection->engine, &now);
    out->version = now.version;
    out->suite = now.cipher_suite;
    out->group = 0; /* of a resumed connection it would be the last one's */
    out->resumed = connection->context->is_server ? connection->was_found
                   : connection->offered.session_id_len && now.session_id_len == connection->offered.session_id_len
                         && !memcmp(now.session_id, connection->offered.session_id, now.session_id_len);
    out->resumed_by = out->resumed ? REPRISE_SESSIONS_ID : -1;
    out->client_certificate = -1;
    return REPRISE_OK;
}

static int session_take(reprise_connection *connection, reprise_session **out)
{
    if (connection->is_taken || connection->context->is_server || connection->context->sessions == REPRISE_SESSIONS_NONE) return REPRISE_NO_SESSION;
    br_ssl_session_parameters now;
    br_ssl_engine_get_session_parameters(connection->engine, &now);
    connection->is_taken = 1;
    return session_import(connection->context, (const uint8_t *)&now, sizeof now, out);
}

REPRISE_ERROR_TEXT(if (last_error) snprintf(text, sizeof text, "BearSSL error %d", last_error))

REPRISE_STACK_TABLE("BearSSL", "0.6",
                    REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | REPRISE_CAN_ID | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT
                        | REPRISE_CAN_MAX_FRAGMENT)
