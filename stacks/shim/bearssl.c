/*
 * BearSSL 0.6 as a plugin of Reprise: see reprise_stack.h. TLS 1.2 and session IDs. It acts on bytes in the call that feeds them.
 */
#include <stdio.h>

#include <bearssl.h>

#include "memory.h"

REPRISE_SESSION_IS_BYTES /* a plain copy of its parameters */

struct reprise_context {
    const br_ssl_session_cache_class *cache; /* first: the library finds the context by it */
    br_ssl_session_cache_lru lru;
    unsigned char *cache_memory;
    struct { br_x509_certificate *certificates; size_t count; } own;
    struct { br_x509_trust_anchor *anchors; size_t count; } roots;
    br_skey_decoder_context key;
    br_ec_impl curves; /* the library's own, and of its curves those that are pinned */
    uint16_t suites[16];
    size_t suites_length;
    int is_server, sessions, key_kind, requires_client, was_found;
    char *server_name;
};

struct reprise_connection {
    reprise_context *context;
    union { br_ssl_client_context client; br_ssl_server_context server; } side;
    br_ssl_engine_context *engine; /* in side */
    br_x509_minimal_context verifier;
    br_ssl_session_parameters offered;
    int is_taken, was_found;
    unsigned char memory[BR_SSL_BUFSIZE_BIDI];
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

static void append(void *to, const void *bytes, size_t length) { queue_append(to, bytes, length); }

/* Calls found with the DER of each object; 0 where the PEM cannot be read. */
static int each_object(reprise_text pem, int (*found)(reprise_context *, queue *), reprise_context *context)
{
    br_pem_decoder_context decoder;
    queue der = {0};
    int done = 1;
    br_pem_decoder_init(&decoder);
    for (size_t fed = 0; done && fed < pem.length;) {
        fed += br_pem_decoder_push(&decoder, pem.data + fed, pem.length - fed);
        switch (br_pem_decoder_event(&decoder)) {
        case BR_PEM_BEGIN_OBJ: der.begin = der.end = 0; br_pem_decoder_setdest(&decoder, append, &der); break;
        case BR_PEM_END_OBJ: done = found(context, &der); break;
        case BR_PEM_ERROR: done = 0; break;
        }
    }
    free(der.bytes);
    return done;
}

static int add_certificate(reprise_context *context, queue *der)
{
    br_x509_certificate *more = realloc(context->own.certificates, (context->own.count + 1) * sizeof *more);
    if (!more) return 0;
    context->own.certificates = more;
    more[context->own.count++] = (br_x509_certificate){der->bytes, der->end};
    *der = (queue){0}; /* its memory is the chain's now */
    return 1;
}

static int set_key(reprise_context *context, queue *der)
{
    br_skey_decoder_init(&context->key);
    br_skey_decoder_push(&context->key, der->bytes, der->end);
    return (context->key_kind = br_skey_decoder_key_type(&context->key)) != 0;
}

static unsigned char *copied(const unsigned char *bytes, size_t length)
{
    unsigned char *copy = malloc(length ? length : 1);
    return copy ? memcpy(copy, bytes, length) : NULL;
}

static int add_root(reprise_context *context, queue *der)
{
    br_x509_decoder_context decoder;
    queue name = {0};
    br_x509_decoder_init(&decoder, append, &name);
    br_x509_decoder_push(&decoder, der->bytes, der->end);
    const br_x509_pkey *key = br_x509_decoder_get_pkey(&decoder);
    br_x509_trust_anchor *more = key ? realloc(context->roots.anchors, (context->roots.count + 1) * sizeof *more) : NULL;
    if (!more) return free(name.bytes), 0;
    context->roots.anchors = more;
    br_x509_trust_anchor *anchor = &more[context->roots.count++];
    *anchor = (br_x509_trust_anchor){{name.bytes, name.end}, br_x509_decoder_isCA(&decoder) ? BR_X509_TA_CA : 0, *key};
    if (key->key_type == BR_KEYTYPE_RSA) {
        anchor->pkey.key.rsa.n = copied(key->key.rsa.n, key->key.rsa.nlen);
        anchor->pkey.key.rsa.e = copied(key->key.rsa.e, key->key.rsa.elen);
    } else {
        anchor->pkey.key.ec.q = copied(key->key.ec.q, key->key.ec.qlen);
    }
    return 1;
}

static void context_free(reprise_context *context)
{
    if (!context) return;
    for (size_t i = 0; i < context->own.count; i++) free(context->own.certificates[i].data);
    for (size_t i = 0; i < context->roots.count; i++) {
        br_x509_trust_anchor *anchor = &context->roots.anchors[i];
        free(anchor->dn.data);
        if (anchor->pkey.key_type == BR_KEYTYPE_RSA) free(anchor->pkey.key.rsa.n), free(anchor->pkey.key.rsa.e);
        else free(anchor->pkey.key.ec.q);
    }
    free(context->own.certificates);
    free(context->roots.anchors);
    free(context->cache_memory);
    free(context->server_name);
    free(context);
}

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
    if (options->key.length && !each_object(options->key, set_key, context)) goto failed; /* of a kind that it has not */
    result = REPRISE_INVALID;
    if (!each_object(options->chain, add_certificate, context) || !each_object(options->trust, add_root, context)) goto failed;
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

static void connection_free(reprise_connection *connection) { free(connection); }

static void begin_client(reprise_connection *connection)
{
    reprise_context *context = connection->context;
    br_ssl_client_context *client = &connection->side.client;
    br_ssl_client_init_full(client, &connection->verifier, context->roots.anchors, context->roots.count);
    if (context->key_kind == BR_KEYTYPE_RSA)
        br_ssl_client_set_single_rsa(client, context->own.certificates, context->own.count, br_skey_decoder_get_rsa(&context->key), br_rsa_pkcs1_sign_get_default());
    else if (context->key_kind == BR_KEYTYPE_EC)
        br_ssl_client_set_single_ec(client, context->own.certificates, context->own.count, br_skey_decoder_get_ec(&context->key),
                                    BR_KEYTYPE_SIGN, BR_KEYTYPE_EC, br_ec_get_default(), br_ecdsa_sign_asn1_get_default());
}

static void begin_server(reprise_connection *connection)
{
    reprise_context *context = connection->context;
    br_ssl_server_context *server = &connection->side.server;
    if (context->key_kind == BR_KEYTYPE_RSA)
        br_ssl_server_init_full_rsa(server, context->own.certificates, context->own.count, br_skey_decoder_get_rsa(&context->key));
    else
        br_ssl_server_init_full_ec(server, context->own.certificates, context->own.count, BR_KEYTYPE_EC, br_skey_decoder_get_ec(&context->key));
    if (context->cache_memory) br_ssl_server_set_cache(server, &context->cache);
    if (!context->requires_client) return;
    br_x509_minimal_context *verifier = &connection->verifier;
    br_x509_minimal_init(verifier, &br_sha256_vtable, context->roots.anchors, context->roots.count);
    br_x509_minimal_set_rsa(verifier, br_rsa_pkcs1_vrfy_get_default());
    br_x509_minimal_set_ecdsa(verifier, br_ec_get_default(), br_ecdsa_vrfy_asn1_get_default());
    br_x509_minimal_set_hash(verifier, br_sha256_ID, &br_sha256_vtable);
    br_x509_minimal_set_hash(verifier, br_sha384_ID, &br_sha384_vtable);
    br_ssl_engine_set_default_rsavrfy(connection->engine);
    br_ssl_engine_set_default_ecdsa(connection->engine);
    br_ssl_engine_set_x509(connection->engine, &verifier->vtable);
    br_ssl_server_set_trust_anchor_names_alt(server, context->roots.anchors, context->roots.count);
}

static int connection_new(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    reprise_connection *connection = malloc(sizeof *connection);
    if (!connection) return REPRISE_NO_MEMORY;
    memset(&connection->offered, 0, sizeof connection->offered);
    connection->is_taken = connection->was_found = 0;
    connection->context = context;
    connection->engine = context->is_server ? &connection->side.server.eng : &connection->side.client.eng;
    context->was_found = 0;
    (context->is_server ? begin_server : begin_client)(connection);
    br_ssl_engine_context *engine = connection->engine;
    br_ssl_engine_set_versions(engine, BR_TLS12, BR_TLS12);
    if (context->suites_length) br_ssl_engine_set_suites(engine, context->suites, context->suites_length);
    br_ssl_engine_set_ec(engine, &context->curves);
    br_ssl_engine_set_buffer(engine, connection->memory, sizeof connection->memory, 1);
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

static ptrdiff_t feed(reprise_connection *connection, const uint8_t *bytes, size_t length)
{
    unsigned state = br_ssl_engine_current_state(connection->engine);
    if (state & BR_SSL_CLOSED) return failed(connection);
    if (!(state & BR_SSL_RECVREC)) return state & BR_SSL_SENDREC ? REPRISE_WANT_WRITE : REPRISE_WANT_READ;
    size_t room;
    unsigned char *place = br_ssl_engine_recvrec_buf(connection->engine, &room);
    if (length > room) length = room;
    memcpy(place, bytes, length);
    br_ssl_engine_recvrec_ack(connection->engine, length);
    return (ptrdiff_t)length;
}

static ptrdiff_t take(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    if (!(br_ssl_engine_current_state(connection->engine) & BR_SSL_SENDREC)) return 0;
    size_t length;
    unsigned char *bytes = br_ssl_engine_sendrec_buf(connection->engine, &length);
    if (length > capacity) length = capacity;
    memcpy(out, bytes, length);
    br_ssl_engine_sendrec_ack(connection->engine, length);
    return (ptrdiff_t)length;
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
    size_t length;
    unsigned char *bytes = br_ssl_engine_recvapp_buf(connection->engine, &length);
    if (length > capacity) length = capacity;
    memcpy(out, bytes, length);
    br_ssl_engine_recvapp_ack(connection->engine, length);
    return (ptrdiff_t)length;
}

static ptrdiff_t write_data(reprise_connection *connection, const uint8_t *data, size_t length)
{
    unsigned state = br_ssl_engine_current_state(connection->engine);
    if (!(state & BR_SSL_SENDAPP)) return state & BR_SSL_CLOSED ? failed(connection) : REPRISE_WANT_WRITE;
    size_t room;
    unsigned char *place = br_ssl_engine_sendapp_buf(connection->engine, &room);
    if (length > room) length = room;
    memcpy(place, data, length);
    br_ssl_engine_sendapp_ack(connection->engine, length);
    br_ssl_engine_flush(connection->engine, 0);
    return (ptrdiff_t)length;
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
                    REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | REPRISE_CAN_ID | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT)
