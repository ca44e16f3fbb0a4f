/*
 * wolfSSL 5.5 and later, built with its OpenSSL layer, as a plugin of Reprise: see reprise_stack.h. Its transport is callbacks,
 * here over memory.
 */
#include <limits.h>
#include <stdio.h>

#include <wolfssl/options.h>
#include <wolfssl/ssl.h>
#include <wolfssl/version.h>
#include <wolfssl/wolfcrypt/dh.h>

#define REPRISE_PREGENERATE pregenerate
#define REPRISE_PRIMITIVES &primitives
#include "memory.h"

struct reprise_context {
    WOLFSSL_CTX *ssl;
    int is_server, sessions, rather_ke;
    uint16_t version;
    int groups[8], groups_length;
    char *server_name;
    external_psk psk;
    const char *psk_suite; /* of TLS 1.3 */
    int is_ahead; /* a server's connections come from here, each with its key pair: wolfSSL keeps it in them */
    WOLFSSL **ready;
    size_t ready_length;
};

struct reprise_connection {
    reprise_context *context;
    WOLFSSL *ssl;
    queue in, out;
    int is_ready, is_taken, has_ticket;
};

static __thread int last_error;
static __thread const char *refusal; /* why something is unsupported */

#include "wolfssl_primitives.h"

/* A client that offers psk_dhe_ke alone. */
#if LIBWOLFSSL_VERSION_HEX >= 0x05006000
#define ONLY_DHE_PSK 1
static int only_dhe_psk(WOLFSSL_CTX *ssl) { return wolfSSL_CTX_only_dhe_psk(ssl) == 0; }
#else
#define ONLY_DHE_PSK 0
static int only_dhe_psk(WOLFSSL_CTX *ssl) { return (void)ssl, 1; }
#endif

/* What a peer may do and this build cannot, or NULL. */
static const char *cannot(const reprise_connection *connection, int error)
{
    const reprise_context *context = connection->context;
    if (context->version != 0x0304 || context->is_server) return NULL;
#ifndef WOLFSSL_TICKET_NONCE_MALLOC
    if (connection->is_ready && error == INVALID_PARAMETER) return "this build of wolfSSL accepts no ticket whose nonce is longer than 8 bytes";
#endif
    if (!ONLY_DHE_PSK && !context->rather_ke && error == AES_GCM_AUTH_E && wolfSSL_session_reused(connection->ssl))
        return "wolfSSL before 5.6 offers psk_ke beside psk_dhe_ke, and cannot read what follows where the server chooses it";
    return NULL;
}

static int failed(const reprise_connection *connection, int result)
{
    int error = last_error = wolfSSL_get_error(connection->ssl, result);
    if ((refusal = cannot(connection, error))) return REPRISE_UNSUPPORTED;
    switch (error) {
    case WOLFSSL_ERROR_WANT_READ: return REPRISE_WANT_READ;
    case WOLFSSL_ERROR_WANT_WRITE: return REPRISE_WANT_WRITE;
    case WOLFSSL_ERROR_ZERO_RETURN: return REPRISE_CLOSED;
    case NO_PEER_CERT: case ASN_NO_SIGNER_E: case ASN_SELF_SIGNED_E: case DOMAIN_NAME_MISMATCH: return REPRISE_BAD_CERTIFICATE;
    default: return REPRISE_FAILED;
    }
}

static int receive(WOLFSSL *ssl, char *out, int capacity, void *from)
{
    (void)ssl;
    size_t count = queue_move(&((reprise_connection *)from)->in, (size_t)capacity, out);
    return count ? (int)count : WOLFSSL_CBIO_ERR_WANT_READ;
}

static int send_out(WOLFSSL *ssl, char *bytes, int length, void *to)
{
    (void)ssl;
    return queue_append(&((reprise_connection *)to)->out, bytes, (size_t)length) ? length : WOLFSSL_CBIO_ERR_GENERAL;
}

static int note_ticket(WOLFSSL *ssl, const unsigned char *ticket, int length, void *connection)
{
    return (void)ssl, (void)ticket, (void)length, ((reprise_connection *)connection)->has_ticket = 1, 0;
}

static int init(void) { return wolfSSL_Init() == WOLFSSL_SUCCESS ? REPRISE_OK : REPRISE_FAILED; }

static const struct { uint16_t number; const char *name; } suites[] = {
    {0x1301, "TLS13-AES128-GCM-SHA256"}, {0x1302, "TLS13-AES256-GCM-SHA384"}, {0x1303, "TLS13-CHACHA20-POLY1305-SHA256"},
    {0xc02b, "ECDHE-ECDSA-AES128-GCM-SHA256"}, {0xc02c, "ECDHE-ECDSA-AES256-GCM-SHA384"}, {0xc02f, "ECDHE-RSA-AES128-GCM-SHA256"},
    {0xc030, "ECDHE-RSA-AES256-GCM-SHA384"}, {0xcca8, "ECDHE-RSA-CHACHA20-POLY1305"}, {0xcca9, "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {0x009e, "DHE-RSA-AES128-GCM-SHA256"}, {0x00a8, "PSK-AES128-GCM-SHA256"}, {0x00aa, "DHE-PSK-AES128-GCM-SHA256"},
    {0xd001, "ECDHE-PSK-AES128-GCM-SHA256"}, {0xc037, "ECDHE-PSK-AES128-CBC-SHA256"}};

static int pin_suites(WOLFSSL_CTX *ssl, const reprise_options *options)
{
    char list[512] = "";
    for (size_t i = 0; i < options->suites_length; i++) {
        size_t s = 0;
        while (s < sizeof suites / sizeof *suites && suites[s].number != options->suites[i]) s++;
        if (s == sizeof suites / sizeof *suites || !list_append(list, sizeof list, suites[s].name)) return 0;
    }
    return !*list || wolfSSL_CTX_set_cipher_list(ssl, list) == WOLFSSL_SUCCESS;
}

/* ML-KEM, alone or in a hybrid. */
static int has_ml_kem(uint16_t group)
{
#ifdef WOLFSSL_HAVE_MLKEM
    static const uint16_t groups[] = {WOLFSSL_X25519MLKEM768, WOLFSSL_SECP256R1MLKEM768,
#ifndef WOLFSSL_TLS_NO_MLKEM_STANDALONE
                                      WOLFSSL_ML_KEM_768,
#endif
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (groups[i] == group) return 1;
#endif
    return (void)group, 0;
}

static int pin_groups(reprise_context *context, const reprise_options *options)
{
    for (size_t i = 0; i < options->groups_length && i < 8; i++) {
        uint16_t group = options->groups[i];
        int is_curve = group >= WOLFSSL_ECC_SECP256R1 && group <= WOLFSSL_ECC_X448;
        int is_13_alone = options->version == 0x0304 && has_ml_kem(group);
        const DhParams *field = group == WOLFSSL_FFDHE_2048 ? wc_Dh_ffdhe2048_Get() : NULL;
        if (!is_curve && !is_13_alone && !field) return 0;
        /* TLS 1.2's server brings the numbers. It would choose a larger field of its own, if the client did not name this one. */
        if (options->version == 0x0303 && field && options->side == REPRISE_SERVER
            && wolfSSL_CTX_SetTmpDH(context->ssl, field->p, (int)field->p_len, field->g, (int)field->g_len) != WOLFSSL_SUCCESS)
            return 0;
        if (wolfSSL_CTX_UseSupportedCurve(context->ssl, group) != WOLFSSL_SUCCESS) return 0;
        context->groups[context->groups_length++] = group;
    }
    return 1;
}

#ifdef HAVE_MAX_FRAGMENT
#define MAX_FRAGMENT_CAPABILITY REPRISE_CAN_MAX_FRAGMENT

static int use_max_fragment(WOLFSSL_CTX *ssl, const reprise_options *options)
{
    uint32_t most = max_fragment(options);
    if (!most || options->side == REPRISE_SERVER) return !most || fragment_code(most);
    return fragment_code(most) && wolfSSL_CTX_UseMaxFragment(ssl, (unsigned char)fragment_code(most)) == WOLFSSL_SUCCESS;
}
#else
#define MAX_FRAGMENT_CAPABILITY 0
static int use_max_fragment(WOLFSSL_CTX *ssl, const reprise_options *options) { return (void)ssl, !max_fragment(options); }
#endif

#ifdef NO_PSK
#define PSK_CAPABILITY 0
static int use_psk(reprise_context *context, const reprise_options *options) { return (void)context, !has_psk(options); }
#else
#define PSK_CAPABILITY REPRISE_CAN_PSK

static unsigned psk_of_client(WOLFSSL *ssl, const char *hint, char *identity, unsigned room, unsigned char *key, unsigned key_room)
{
    const reprise_context *context = wolfSSL_get_psk_callback_ctx(ssl);
    return (void)hint, psk_write(&context->psk, identity, room, key, key_room);
}

static unsigned psk_of_server(WOLFSSL *ssl, const char *identity, unsigned char *key, unsigned room)
{
    const reprise_context *context = wolfSSL_get_psk_callback_ctx(ssl);
    return psk_is(&context->psk, identity, strlen(identity)) ? psk_write(&context->psk, NULL, 0, key, room) : 0;
}

static unsigned psk_of_client_13(WOLFSSL *ssl, const char *hint, char *identity, unsigned room, unsigned char *key, unsigned key_room, const char **suite)
{
    *suite = ((const reprise_context *)wolfSSL_get_psk_callback_ctx(ssl))->psk_suite;
    return psk_of_client(ssl, hint, identity, room, key, key_room);
}

static unsigned psk_of_server_13(WOLFSSL *ssl, const char *identity, unsigned char *key, unsigned room, const char **suite)
{
    *suite = ((const reprise_context *)wolfSSL_get_psk_callback_ctx(ssl))->psk_suite;
    return psk_of_server(ssl, identity, key, room);
}

static int use_psk(reprise_context *context, const reprise_options *options)
{
    WOLFSSL_CTX *ssl = context->ssl;
    if (!has_psk(options)) return 1;
    if (!psk_copy(&context->psk, options) || wolfSSL_CTX_set_psk_callback_ctx(ssl, context) != WOLFSSL_SUCCESS) return 0;
    for (size_t s = 0; options->suites_length && s < sizeof suites / sizeof *suites; s++)
        if (suites[s].number == options->suites[0]) context->psk_suite = suites[s].name;
    if (options->version == 0x0304)
        wolfSSL_CTX_set_psk_client_tls13_callback(ssl, psk_of_client_13), wolfSSL_CTX_set_psk_server_tls13_callback(ssl, psk_of_server_13);
    else wolfSSL_CTX_set_psk_client_callback(ssl, psk_of_client), wolfSSL_CTX_set_psk_server_callback(ssl, psk_of_server);
    return 1;
}
#endif

static void context_free(reprise_context *context)
{
    if (!context) return;
    while (context->ready_length) wolfSSL_free(context->ready[--context->ready_length]);
    free(context->ready);
    wolfSSL_CTX_free(context->ssl);
    psk_free(&context->psk);
    free(context->server_name);
    free(context);
}

static const char *why_no_key_pairs(int key_pairs, const reprise_options *options)
{
    if (key_pairs == REPRISE_KEYS_FRESH) return NULL;
    if (key_pairs == REPRISE_KEYS_REUSED) return "wolfSSL_CTX_set_ephemeral_key is in few builds";
    if (options->version != 0x0304) return "a server's wolfSSL_UseKeyShare is of TLS 1.3 alone";
    if (!options->groups_length) return "the group is to be known ahead";
    /* TLSX_KeyShare_GenDhKey frees what TLSX_KeyShare_Establish looks for: the handshake would make another pair. */
    if (options->groups[0] >= WOLFSSL_FFDHE_2048) return "wolfSSL 5 discards a DH key pair of wolfSSL_UseKeyShare, and makes another";
    return NULL;
}

static int context_new(const reprise_options *options, reprise_context **out)
{
    int is_server = options->side == REPRISE_SERVER, is_13 = options->version == 0x0304, result = REPRISE_UNSUPPORTED;
    int by_ticket = options->sessions == REPRISE_SESSIONS_TICKET;
    int key_pairs = is_server && REPRISE_HAS(options, key_pairs) ? options->key_pairs : REPRISE_KEYS_FRESH;
    if (options->sessions == REPRISE_SESSIONS_ID && is_13) return REPRISE_UNSUPPORTED;
    if ((refusal = why_no_key_pairs(key_pairs, options))) return REPRISE_UNSUPPORTED;
    reprise_context *context = calloc(1, sizeof *context);
    if (!context) return REPRISE_NO_MEMORY;
    context->is_server = is_server;
    context->is_ahead = key_pairs == REPRISE_KEYS_AHEAD;
    context->sessions = options->sessions;
    context->version = options->version;
    context->ssl = wolfSSL_CTX_new(is_13 ? (is_server ? wolfTLSv1_3_server_method() : wolfTLSv1_3_client_method())
                                         : (is_server ? wolfTLSv1_2_server_method() : wolfTLSv1_2_client_method()));
    WOLFSSL_CTX *ssl = context->ssl;
    if (!ssl || !use_psk(context, options) || !pin_suites(ssl, options) || !pin_groups(context, options) || !use_max_fragment(ssl, options)) goto failed;
    wolfSSL_CTX_SetIORecv(ssl, receive);
    wolfSSL_CTX_SetIOSend(ssl, send_out);
    if (options->sessions == REPRISE_SESSIONS_NONE) wolfSSL_CTX_set_session_cache_mode(ssl, WOLFSSL_SESS_CACHE_OFF);
    if (is_server && !by_ticket && (is_13 ? wolfSSL_CTX_no_ticket_TLSv13(ssl) : wolfSSL_CTX_NoTicketTLSv12(ssl)) != (is_13 ? 0 : WOLFSSL_SUCCESS)) goto failed;
    if (is_server && by_ticket && is_13 && wolfSSL_CTX_set_num_tickets(ssl, 1) != WOLFSSL_SUCCESS) goto failed;
    if (!is_server && by_ticket && wolfSSL_CTX_UseSessionTicket(ssl) != WOLFSSL_SUCCESS) goto failed;
    context->rather_ke = REPRISE_HAS(options, psk_ke) && options->psk_ke;
    if (context->rather_ke && wolfSSL_CTX_no_dhe_psk(ssl) != 0) goto failed;
    if (is_13 && !is_server && !context->rather_ke && !only_dhe_psk(ssl)) goto failed;
    if (REPRISE_HAS(options, max_early_data) && options->max_early_data) goto failed; /* most builds are without it */
    result = REPRISE_INVALID;
    if (options->server_name && !(context->server_name = strdup(options->server_name))) goto failed;
    if (options->key.length
        && (wolfSSL_CTX_use_certificate_chain_buffer(ssl, (const uint8_t *)options->chain.data, (long)options->chain.length) != WOLFSSL_SUCCESS
            || wolfSSL_CTX_use_PrivateKey_buffer(ssl, (const uint8_t *)options->key.data, (long)options->key.length, WOLFSSL_FILETYPE_PEM) != WOLFSSL_SUCCESS))
        goto failed;
    if (options->trust.length
        && wolfSSL_CTX_load_verify_buffer(ssl, (const uint8_t *)options->trust.data, (long)options->trust.length, WOLFSSL_FILETYPE_PEM) != WOLFSSL_SUCCESS)
        goto failed;
    if (!is_server) wolfSSL_CTX_set_verify(ssl, WOLFSSL_VERIFY_PEER, NULL);
    else if (options->require_client_certificate)
        wolfSSL_CTX_set_verify(ssl, WOLFSSL_VERIFY_PEER | WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    else wolfSSL_CTX_set_verify(ssl, WOLFSSL_VERIFY_NONE, NULL);
    *out = context;
    return REPRISE_OK;
failed:
    context_free(context);
    return result;
}

static void connection_free(reprise_connection *connection)
{
    if (!connection) return;
    wolfSSL_free(connection->ssl);
    free(connection->in.bytes);
    free(connection->out.bytes);
    free(connection);
}

static WOLFSSL *ssl_new(const reprise_context *context)
{
    WOLFSSL *ssl = wolfSSL_new(context->ssl);
    int is_13 = ssl && context->version == 0x0304 && context->groups_length;
    if (is_13 && wolfSSL_set_groups(ssl, (int *)context->groups, context->groups_length) != WOLFSSL_SUCCESS) return wolfSSL_free(ssl), NULL;
    return ssl;
}

/* After a connection was accepted and before its ClientHello comes, as wolfSSL describes it: "TLS 1.3 Performance Part 4". */
static int pregenerate(reprise_context *context, size_t count)
{
    if (!context->is_ahead) return REPRISE_UNSUPPORTED;
    WOLFSSL **ready = realloc(context->ready, (context->ready_length + count) * sizeof *ready);
    if (!ready) return count ? REPRISE_NO_MEMORY : REPRISE_OK;
    context->ready = ready;
    for (; count; count--) {
        WOLFSSL *ssl = ssl_new(context);
        if (!ssl) return REPRISE_NO_MEMORY;
        if (wolfSSL_UseKeyShare(ssl, (word16)context->groups[0]) != WOLFSSL_SUCCESS) return wolfSSL_free(ssl), REPRISE_FAILED;
        context->ready[context->ready_length++] = ssl;
    }
    return REPRISE_OK;
}

static int connection_new(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    reprise_connection *connection = calloc(1, sizeof *connection);
    if (!connection) return REPRISE_NO_MEMORY;
    connection->context = context;
    if (!context->is_ahead) connection->ssl = ssl_new(context);
    else if (context->ready_length) connection->ssl = context->ready[--context->ready_length];
    WOLFSSL *ssl = connection->ssl;
    if (!ssl) goto failed;
    wolfSSL_SetIOReadCtx(ssl, connection);
    wolfSSL_SetIOWriteCtx(ssl, connection);
    if (!context->is_server) {
        if (context->version == 0x0304 && context->groups_length && wolfSSL_UseKeyShare(ssl, context->groups[0]) != WOLFSSL_SUCCESS) goto failed;
        if (context->server_name
            && (wolfSSL_UseSNI(ssl, WOLFSSL_SNI_HOST_NAME, context->server_name, strlen(context->server_name)) != WOLFSSL_SUCCESS
                || wolfSSL_check_domain_name(ssl, context->server_name) != WOLFSSL_SUCCESS))
            goto failed;
        wolfSSL_set_SessionTicket_cb(ssl, note_ticket, connection);
        /* The library copies it: it may be offered again. */
        if (session && wolfSSL_set_session(ssl, (WOLFSSL_SESSION *)session) != WOLFSSL_SUCCESS) goto failed;
    }
    *out = connection;
    return REPRISE_OK;
failed:
    connection_free(connection);
    return REPRISE_FAILED;
}

REPRISE_TRANSPORT_IS_QUEUES

static int handshake(reprise_connection *connection)
{
    if (connection->is_ready) return REPRISE_OK;
    int result = connection->context->is_server ? wolfSSL_accept(connection->ssl) : wolfSSL_connect(connection->ssl);
#if LIBWOLFSSL_VERSION_HEX >= 0x05009000
    /* A ticket of each of 255 resumptions in a row, and no more: then it is resumed without another. */
    if (result != WOLFSSL_SUCCESS && wolfSSL_get_error(connection->ssl, result) == SESSION_TICKET_NONCE_OVERFLOW) {
        wolfSSL_no_ticket_TLSv13(connection->ssl);
        result = wolfSSL_accept(connection->ssl);
    }
#endif
    if (result != WOLFSSL_SUCCESS) return failed(connection, result);
    connection->is_ready = 1;
    return REPRISE_OK;
}

static ptrdiff_t read_data(reprise_connection *connection, size_t capacity, uint8_t *out)
{
    int count = wolfSSL_read(connection->ssl, out, (int)capacity);
    return count > 0 ? count : failed(connection, count);
}

static ptrdiff_t write_data(reprise_connection *connection, const uint8_t *data, size_t length)
{
    int count = wolfSSL_write(connection->ssl, data, (int)length);
    return count > 0 ? count : failed(connection, count);
}

static int close_connection(reprise_connection *connection)
{
    int result = wolfSSL_shutdown(connection->ssl);
    return result == WOLFSSL_SUCCESS || result == WOLFSSL_SHUTDOWN_NOT_DONE ? REPRISE_OK : failed(connection, result);
}

static int facts(const reprise_connection *connection, reprise_facts *out)
{
    WOLFSSL *ssl = connection->ssl;
    if (!connection->is_ready) return REPRISE_FAILED;
    out->version = (uint16_t)wolfSSL_version(ssl);
    out->suite = (uint16_t)(wolfSSL_CIPHER_get_id(wolfSSL_get_current_cipher(ssl)) & 0xffff);
    out->group = 0; /* it has a name for it, and only in some builds */
    out->resumed = wolfSSL_session_reused(ssl) != 0;
    out->resumed_by = -1;
    out->client_certificate = -1;
    return REPRISE_OK;
}

static int session_take(reprise_connection *connection, reprise_session **out)
{
    if (connection->is_taken || connection->context->is_server || connection->context->sessions == REPRISE_SESSIONS_NONE) return REPRISE_NO_SESSION;
    if (connection->context->version == 0x0304 && !connection->has_ticket) return REPRISE_NO_SESSION; /* it would give what no ticket belongs to */
    WOLFSSL_SESSION *session = wolfSSL_get1_session(connection->ssl);
    if (!session) return REPRISE_NO_SESSION;
    connection->is_taken = 1;
    *out = (reprise_session *)session;
    return REPRISE_OK;
}

static void session_free(reprise_session *session) { wolfSSL_SESSION_free((WOLFSSL_SESSION *)session); }

static ptrdiff_t session_export(const reprise_session *session, size_t capacity, uint8_t *out)
{
    uint8_t *bytes = NULL;
    int length = wolfSSL_i2d_SSL_SESSION((WOLFSSL_SESSION *)session, &bytes);
    ptrdiff_t result = length <= 0 ? REPRISE_FAILED : (size_t)length > capacity ? REPRISE_TOO_SMALL : length;
    if (result > 0) memcpy(out, bytes, (size_t)length);
    if (bytes) wolfSSL_Free(bytes);
    return result;
}

static int session_import(reprise_context *context, const uint8_t *bytes, size_t length, reprise_session **out)
{
    (void)context;
    WOLFSSL_SESSION *session = length > INT_MAX ? NULL : wolfSSL_d2i_SSL_SESSION(NULL, &bytes, (long)length);
    if (!session) return REPRISE_INVALID;
    *out = (reprise_session *)session;
    return REPRISE_OK;
}

REPRISE_ERROR_TEXT(if (refusal) snprintf(text, sizeof text, "%s", refusal); else if (last_error) wolfSSL_ERR_error_string_n((unsigned long)last_error, text, sizeof text))

REPRISE_STACK_TABLE("wolfSSL", wolfSSL_lib_version(),
                    REPRISE_CAN_CLIENT | REPRISE_CAN_SERVER | REPRISE_CAN_TLS12 | REPRISE_CAN_TLS13 | REPRISE_CAN_ID
                        | REPRISE_CAN_TICKET | REPRISE_CAN_CLIENT_AUTH | REPRISE_CAN_EXPORT | REPRISE_CAN_PSK_KE
                        | REPRISE_CAN_KEYS_AHEAD | PSK_CAPABILITY | MAX_FRAGMENT_CAPABILITY)
