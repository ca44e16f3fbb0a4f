/*
 * OpenSSL 3.0 and later, AWS-LC and BoringSSL as a plugin of Reprise: see reprise_stack.h. Memory BIOs, a session cache of the
 * library's own for IDs, its ticket keys for tickets.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#define REPRISE_RANDOM random_bytes
#define ID_CONTEXT "reprise" /* of sessions that a server takes */
#define REPRISE_PRIMITIVES &primitives
#if defined(OPENSSL_IS_AWSLC) || defined(OPENSSL_IS_BORINGSSL)
#include "boringssl.h"
#include "boringssl_primitives.h"
#else
#include "openssl.h"
#include "openssl_primitives.h"
#endif

#include "memory.h"
#include "openssl_psk.h"
#include "openssl_tls13.h"

struct reprise_context {
    SSL_CTX *ssl;
    library_context *library; /* its own; NULL for the one of the process */
    int is_server, sessions, accepts_early, releases_buffers;
    uint16_t group; /* the preferred; 0: the library's */
    char *server_name;
    openssl_psk psk;
};

struct reprise_connection {
    SSL *ssl;
    BIO *in, *out; /* owned by ssl */
    int keeps_session /* a client's, not taken yet */, reads_early /* a server's, until there is no more */;
    queue early;
};

/* SSL_SESSION is counted: a reprise_session is one, under another name. */
#define ssl_session(session) ((SSL_SESSION *)(session))

/* Whether the library's queue of errors may hold some. SSL_get_error needs an empty one, and even to look costs a short record more than
 * a hundredth. The queue is the thread's. */
static __thread int has_errors;

static void forget_errors(void)
{
    if (has_errors) ERR_clear_error();
    has_errors = 0;
}

static int init(void) { return OPENSSL_init_ssl(0, NULL) ? REPRISE_OK : REPRISE_FAILED; }

#define text_bio(text) BIO_new_mem_buf((text).data, (int)(text).length)

static int use_identity(SSL_CTX *ssl, library_context *library, const reprise_options *options)
{
    BIO *chain = text_bio(options->chain), *key = text_bio(options->key);
    X509 *leaf = read_certificate(chain, library), *next;
    EVP_PKEY *private_key = read_key(key, library);
    int done = leaf && private_key && SSL_CTX_use_certificate(ssl, leaf) == 1 && SSL_CTX_use_PrivateKey(ssl, private_key) == 1;
    while (done && (next = read_certificate(chain, library)))
        if (!(done = SSL_CTX_add0_chain_cert(ssl, next))) X509_free(next);
    if (done) ERR_clear_error(); /* the end of the PEM is an error to it */
    X509_free(leaf), EVP_PKEY_free(private_key), BIO_free(chain), BIO_free(key);
    return done;
}

static int use_trust(SSL_CTX *ssl, library_context *library, const reprise_options *options)
{
    BIO *trust = text_bio(options->trust);
    X509 *root;
    int count = 0;
    for (; (root = read_certificate(trust, library)); X509_free(root))
        if (X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), root) && ++count && options->side == REPRISE_SERVER) SSL_CTX_add_client_CA(ssl, root);
    ERR_clear_error();
    BIO_free(trust);
    return count;
}

static int pin_suites(SSL_CTX *ssl, const reprise_options *options)
{
    SSL *probe = SSL_new(ssl); /* it alone finds a suite by its number */
    char list[1024] = "";
    int done = probe != NULL;
    for (size_t i = 0; done && i < options->suites_length; i++) {
        unsigned char number[2] = {options->suites[i] >> 8, options->suites[i] & 255};
        const SSL_CIPHER *cipher = SSL_CIPHER_find(probe, number);
        done = cipher && list_append(list, sizeof list, SSL_CIPHER_get_name(cipher));
    }
    SSL_free(probe);
    if (!done || !*list) return done;
    return options->version == TLS1_3_VERSION ? SSL_CTX_set_ciphersuites(ssl, list) : SSL_CTX_set_cipher_list(ssl, list);
}

static int use_sessions(SSL_CTX *ssl, const reprise_options *options)
{
    int by_ticket = options->sessions == REPRISE_SESSIONS_TICKET, by_id = options->sessions == REPRISE_SESSIONS_ID;
    if (by_id && options->version == TLS1_3_VERSION) return 0;
    if (!by_ticket) SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET);
    if (SSL_CTX_set_num_tickets(ssl, by_ticket ? 1 : 0) != 1) return 0;
    uint32_t early = options->side == REPRISE_SERVER && REPRISE_HAS(options, max_early_data) ? options->max_early_data : 0;
    /* Early data is accepted once a session, which the cache sees to: its tickets are names then. A client's cache would call a session
     * unusable whose ticket was renewed, and the one in its place nobody is told of. */
    SSL_CTX_set_session_cache_mode(ssl, (by_id && options->side == REPRISE_SERVER) || early ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
    SSL_CTX_sess_set_cache_size(ssl, 1024);
    if (!use_early_data(ssl, early) || (REPRISE_HAS(options, psk_ke) && options->psk_ke && !use_psk_ke(ssl))) return 0;
    if (options->side == REPRISE_CLIENT) tell_sessions(ssl);
    return SSL_CTX_set_session_id_context(ssl, (const unsigned char *)ID_CONTEXT, sizeof ID_CONTEXT - 1);
}

static void context_free(reprise_context *context)
{
    if (!context) return;
    SSL_CTX_free(context->ssl), free_library(context->library);
    free_psk(&context->psk), free(context->server_name), free(context);
}

static int context_new(const reprise_options *options, reprise_context **out)
{
    int is_server = options->side == REPRISE_SERVER, result = REPRISE_NO_MEMORY;
    reprise_context *context = calloc(1, sizeof *context);
    ERR_clear_error();
    int is_own = REPRISE_HAS(options, own_library_context) && options->own_library_context;
    if (!context || (is_own && !(context->library = new_library()))) goto failed;
    context->ssl = new_ssl(context->library, is_server ? TLS_server_method() : TLS_client_method());
    if (!context->ssl) goto failed;
    SSL_CTX *ssl = context->ssl;
    context->is_server = is_server, context->sessions = options->sessions;
    context->group = options->groups_length && options->version == TLS1_3_VERSION ? options->groups[0] : 0;
    if (options->server_name && !(context->server_name = strdup(options->server_name))) goto failed;
    /* Level 0 takes RSA-1024, which is compared too. */
    SSL_CTX_set_security_level(ssl, 0);
    result = REPRISE_UNSUPPORTED;
    if (!SSL_CTX_set_min_proto_version(ssl, options->version) || !SSL_CTX_set_max_proto_version(ssl, options->version)
        || !pin_suites(ssl, options) || !pin_groups(ssl, options) || !use_sessions(ssl, options) || !use_buffers(ssl, options))
        goto failed;
    if ((result = use_psk(ssl, &context->psk, options))) goto failed;
    result = REPRISE_INVALID;
    if (options->key.length && !use_identity(ssl, context->library, options)) goto failed;
    if (options->trust.length && !use_trust(ssl, context->library, options)) goto failed;
    if (!is_server) SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    context->releases_buffers = releases_buffers(options);
    context->accepts_early = is_server && REPRISE_HAS(options, max_early_data) && options->max_early_data;
    if (is_server && options->require_client_certificate)
        SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    *out = context;
    return REPRISE_OK;
failed:
    has_errors = 1;
    context_free(context);
    return result;
}

static void connection_free(reprise_connection *connection)
{
    if (!connection) return;
    /* Else the library takes a connection that said no close_notify for a failed one, and forgets its session. */
    if (SSL_is_init_finished(connection->ssl)) SSL_set_shutdown(connection->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    drop_session(connection->ssl);
    SSL_free(connection->ssl), free(connection->early.bytes), free(connection);
}

static int connection_new(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    reprise_connection *connection = (ERR_clear_error(), calloc(1, sizeof *connection));
    if (!connection) return REPRISE_NO_MEMORY;
    if (!(connection->ssl = SSL_new(context->ssl))) goto failed;
    if (context->releases_buffers) shed_configuration(connection->ssl);
    connection->in = BIO_new(BIO_s_mem()), connection->out = BIO_new(BIO_s_mem());
    SSL_set_bio(connection->ssl, connection->in, connection->out);
    if (!connection->in || !connection->out) goto failed;
    BIO_set_mem_eof_return(connection->in, -1);
    if (context->is_server) {
        SSL_set_accept_state(connection->ssl);
        connection->reads_early = context->accepts_early;
    } else {
        SSL_set_connect_state(connection->ssl);
        if (context->group && !share_key_of(connection->ssl, context->group)) goto failed;
        connection->keeps_session = context->sessions != REPRISE_SESSIONS_NONE;
        if (context->server_name
            && (!SSL_set_tlsext_host_name(connection->ssl, context->server_name)
                || !X509_VERIFY_PARAM_set1_host(SSL_get0_param(connection->ssl), context->server_name, strlen(context->server_name))))
            goto failed;
        if (session && !SSL_set_session(connection->ssl, ssl_session(session))) goto failed;
    }
    *out = connection;
    return REPRISE_OK;
failed:
    SSL_free(connection->ssl), free(connection);
    return REPRISE_FAILED;
}

static int outcome(const reprise_connection *connection, int result)
{
    has_errors = 1;
    switch (SSL_get_error(connection->ssl, result)) {
    case SSL_ERROR_NONE: return REPRISE_OK;
    case SSL_ERROR_WANT_READ: return REPRISE_WANT_READ;
    case SSL_ERROR_WANT_WRITE: return REPRISE_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN: return REPRISE_CLOSED;
    }
    int why = ERR_GET_REASON(ERR_peek_error());
    int is_refused = why == SSL_R_CERTIFICATE_VERIFY_FAILED || why == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
    return is_refused ? REPRISE_BAD_CERTIFICATE : REPRISE_FAILED;
}

static ptrdiff_t feed(reprise_connection *connection, const uint8_t *bytes, size_t length)
{
    return BIO_write(connection->in, bytes, (int)length) == (int)length ? (ptrdiff_t)length : REPRISE_NO_MEMORY;
}

static ptrdiff_t take(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    int count = BIO_read(connection->out, out, (int)capacity);
    return count > 0 ? count : 0;
}

static int handshake(reprise_connection *connection)
{
    ERR_clear_error();
    if (connection->reads_early && !read_early_data(connection->ssl, &connection->early)) return outcome(connection, 0);
    connection->reads_early = 0;
    int result = SSL_do_handshake(connection->ssl);
    if (result == 1) send_tickets(connection->ssl);
    return outcome(connection, result);
}

REPRISE_EARLY_IS_QUEUE

static ptrdiff_t early_write(reprise_connection *connection, const uint8_t *data, size_t length)
{
    size_t count = 0;
    ERR_clear_error();
    return write_early_data(connection->ssl, data, length, &count) ? (ptrdiff_t)count : outcome(connection, 0);
}

static ptrdiff_t read_data(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    int count = (forget_errors(), SSL_read(connection->ssl, out, (int)capacity));
    return count > 0 ? count : outcome(connection, count);
}

static ptrdiff_t write_data(reprise_connection *connection, const uint8_t *data, size_t length)
{
    int count = (forget_errors(), SSL_write(connection->ssl, data, (int)length));
    return count > 0 ? count : outcome(connection, count);
}

static int close_connection(reprise_connection *connection)
{
    ERR_clear_error();
    return SSL_shutdown(connection->ssl) < 0 ? REPRISE_FAILED : REPRISE_OK;
}

static int facts(const reprise_connection *connection, reprise_facts *out)
{
    SSL *ssl = connection->ssl;
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    if (!SSL_is_init_finished(ssl) || !cipher) return REPRISE_FAILED;
    out->group = negotiated_group(ssl);
    out->version = SSL_version(ssl);
    out->suite = SSL_CIPHER_get_protocol_id(cipher);
    out->resumed = SSL_session_reused(ssl);
    out->resumed_by = -1;
    out->client_certificate = SSL_is_server(ssl) ? SSL_get0_peer_certificate(ssl) != NULL : -1;
    if (REPRISE_HAS(out, early_data)) out->early_data = is_early_data_accepted(ssl);
    return REPRISE_OK;
}

static int session_take(reprise_connection *connection, reprise_session **out)
{
    SSL_SESSION *session = connection->keeps_session ? newest_session(connection->ssl) : NULL;
    if (!session || !SSL_SESSION_is_resumable(session)) { /* under TLS 1.3 not before a ticket has come */
        SSL_SESSION_free(session);
        return REPRISE_NO_SESSION;
    }
    connection->keeps_session = 0;
    *out = (reprise_session *)session;
    return REPRISE_OK;
}

static void session_free(reprise_session *session) { SSL_SESSION_free(ssl_session(session)); }

static ptrdiff_t session_export(const reprise_session *session, size_t capacity, uint8_t *out)
{
    int length = i2d_SSL_SESSION(ssl_session(session), NULL);
    if (length <= 0) return REPRISE_FAILED;
    return (size_t)length > capacity ? REPRISE_TOO_SMALL : i2d_SSL_SESSION(ssl_session(session), &out);
}

static int session_import(reprise_context *context, const uint8_t *bytes, size_t length, reprise_session **out)
{
    (void)context;
    SSL_SESSION *session = d2i_SSL_SESSION(NULL, &bytes, (long)length);
    has_errors |= !session;
    if (!session) return REPRISE_INVALID;
    *out = (reprise_session *)session;
    return REPRISE_OK;
}

static int random_bytes(size_t length, uint8_t *out) { return RAND_bytes(out, (int)length) == 1 ? REPRISE_OK : REPRISE_FAILED; }

REPRISE_ERROR_TEXT(ERR_error_string_n(ERR_peek_error(), text, sizeof text))

REPRISE_STACK_TABLE_WITH(LIBRARY, LIBRARY_VERSION,
                         REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | REPRISE_CAN_TLS13 | REPRISE_CAN_ID
                             | REPRISE_CAN_TICKET | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT | PSK_CAPABILITY | TLS13_CAPABILITIES
                             | LIBRARY_CAPABILITIES | REPRISE_CAN_SHARE_CONTEXT,
                         early_write, early_read)
