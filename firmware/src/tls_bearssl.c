/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* BearSSL 0.6 behind tls_server.h: TLS 1.2, ECDHE, AEAD suites, no heap. */
#include <string.h>

#include "reprise/sessions_bearssl.h"

/* Bytes of DER of all certificates, the key's beside them while it is read; and how many certificates there may be. */
#ifndef REPRISE_BEARSSL_CHAIN
#define REPRISE_BEARSSL_CHAIN 4096
#endif
#ifndef REPRISE_BEARSSL_CERTIFICATES
#define REPRISE_BEARSSL_CERTIFICATES 4
#endif
/* 1: a buffer for each direction, 33,178 bytes; 0: one for both, 16,709 bytes, and never both at a time. */
#ifndef REPRISE_BEARSSL_TWO_WAY
#define REPRISE_BEARSSL_TWO_WAY 0
#endif
/* The arithmetic: i15 for CPUs without a 32x32->64 multiplier (Cortex-M0+, LX106), i31 for others. */
#ifndef REPRISE_BEARSSL_I15
#define REPRISE_BEARSSL_I15 1
#endif

/* 1: records of at most 4,096 bytes, and what stands around them. */
#ifndef REPRISE_SMALL_RECORDS
#define REPRISE_SMALL_RECORDS 0
#endif

#if REPRISE_SMALL_RECORDS
#define BUFFER ((4096 + (BR_SSL_BUFSIZE_MONO - 16384)) * (1 + REPRISE_BEARSSL_TWO_WAY))
#elif REPRISE_BEARSSL_TWO_WAY
#define BUFFER BR_SSL_BUFSIZE_BIDI
#else
#define BUFFER BR_SSL_BUFSIZE_MONO
#endif

#if REPRISE_BEARSSL_I15
#define EC_IMPL br_ec_all_m15
#define RSA_SIGN br_rsa_i15_pkcs1_sign
#define ECDSA_SIGN br_ecdsa_i15_sign_asn1
#else
#define EC_IMPL br_ec_all_m31
#define RSA_SIGN br_rsa_i31_pkcs1_sign
#define ECDSA_SIGN br_ecdsa_i31_sign_asn1
#endif

struct server {
    const reprise_tls_config *config;
    br_x509_certificate chain[REPRISE_BEARSSL_CERTIFICATES];
    size_t chain_len, der_len;
    br_skey_decoder_context key; /* the decoded key lives in its decoder */
#if REPRISE_SESSION_CACHE
    reprise_bearssl_sessions sessions;
#endif
    unsigned char der[REPRISE_BEARSSL_CHAIN];
};

struct connection {
    br_ssl_server_context tls;
    reprise_socket socket;
    /* Here it is aligned, whatever stands behind it: memcpy is faster so, and the same with and without the cache. */
    unsigned char buffer[BUFFER];
    bool ready, closing;
#if REPRISE_SESSION_CACHE
    bool resumed;
#endif
};

static int load_certificates(struct server *server, const char *pem, size_t len);
static int load_key(struct server *server, const char *pem, size_t len);
static void configure(br_ssl_server_context *tls, const struct server *server);
static int pump(struct connection *connection, unsigned wanted);
static void wipe(void *memory, size_t len);
#if REPRISE_SESSION_CACHE
static const br_ssl_session_cache_class cache_class;
#endif

static void stop(void *memory);

static int start(void *memory, const reprise_tls_config *config)
{
    struct server *server = memory;
    memset(server, 0, sizeof *server);
    server->config = config;
    if (load_certificates(server, config->certificates, config->certificates_len) != REPRISE_OK
        || load_key(server, config->key, config->key_len) != REPRISE_OK) {
        stop(server);
        return REPRISE_ERROR;
    }
#if REPRISE_SESSION_CACHE
    reprise_bearssl_sessions_init(&server->sessions, config, server->der, server->der_len);
    server->sessions.vtable = &cache_class;
#endif
    return REPRISE_OK;
}

static void stop(void *memory)
{
    wipe(memory, sizeof(struct server));
}

static int accept(void *memory, void *server_memory, reprise_socket socket)
{
    struct connection *connection = memory;
    struct server *server = server_memory;
    unsigned char seed[32];
    if (server->config->random(server->config->context, seed, sizeof seed) != REPRISE_OK) {
        wipe(seed, sizeof seed);
        return REPRISE_ERROR;
    }
    connection->socket = socket;
    connection->ready = connection->closing = false;
    configure(&connection->tls, server);
    br_ssl_engine_set_buffer(&connection->tls.eng, connection->buffer, sizeof connection->buffer, REPRISE_BEARSSL_TWO_WAY);
    br_ssl_engine_inject_entropy(&connection->tls.eng, seed, sizeof seed);
    wipe(seed, sizeof seed);
#if REPRISE_SESSION_CACHE
    connection->resumed = false;
    if (server->config->cache != NULL) {
        br_ssl_server_set_cache(&connection->tls, &server->sessions.vtable);
    }
#endif
    return br_ssl_server_reset(&connection->tls) ? REPRISE_OK : REPRISE_ERROR;
}

static int handshake(void *memory)
{
    struct connection *connection = memory;
    if (!connection->ready) {
        /* The engine offers room for application data when, and only when, the handshake is done. */
        int result = pump(connection, BR_SSL_SENDAPP | BR_SSL_RECVAPP);
        if (result != REPRISE_OK) {
            return result;
        }
        connection->ready = true;
    }
    return REPRISE_OK;
}

static int read(void *memory, uint8_t *bytes, size_t len)
{
    struct connection *connection = memory;
    int result = pump(connection, BR_SSL_RECVAPP);
    if (result != REPRISE_OK) {
        return result;
    }
    size_t there;
    unsigned char *data = br_ssl_engine_recvapp_buf(&connection->tls.eng, &there);
    size_t taken = there < len ? there : len;
    memcpy(bytes, data, taken);
    br_ssl_engine_recvapp_ack(&connection->tls.eng, taken);
    return (int)taken;
}

static int write(void *memory, const uint8_t *bytes, size_t len)
{
    struct connection *connection = memory;
    int result = pump(connection, BR_SSL_SENDAPP);
    if (result != REPRISE_OK) {
        return result;
    }
    size_t room;
    unsigned char *data = br_ssl_engine_sendapp_buf(&connection->tls.eng, &room);
    size_t taken = room < len ? room : len;
    memcpy(data, bytes, taken);
    br_ssl_engine_sendapp_ack(&connection->tls.eng, taken);
    return (int)taken;
}

static int flush(void *memory)
{
    struct connection *connection = memory;
    br_ssl_engine_flush(&connection->tls.eng, 0);
    return pump(connection, 0);
}

static int close(void *memory)
{
    struct connection *connection = memory;
    if (!connection->closing) {
        int result = flush(connection);
        if (result != REPRISE_OK) {
            return result;
        }
        /* A peer that still sends would be told of unread data; nobody is going to read it. */
        while (br_ssl_engine_current_state(&connection->tls.eng) & BR_SSL_RECVAPP) {
            size_t there;
            br_ssl_engine_recvapp_buf(&connection->tls.eng, &there);
            br_ssl_engine_recvapp_ack(&connection->tls.eng, there);
        }
        br_ssl_engine_close(&connection->tls.eng);
        connection->closing = true;
    }
    return pump(connection, 0);
}

static void end(void *memory)
{
    wipe(memory, sizeof(struct connection));
}

static void facts(const void *memory, reprise_tls_facts *facts)
{
    const struct connection *connection = memory;
    facts->version = connection->tls.eng.session.version;
    facts->suite = connection->tls.eng.session.cipher_suite;
#if REPRISE_SESSION_CACHE
    facts->resumed = connection->resumed;
#else
    facts->resumed = false;
#endif
}

const reprise_tls_backend reprise_bearssl = {
    .name = "BearSSL 0.6",
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

/*
 * Moves records until the engine offers one of the `wanted` buffers; with none wanted, until nothing is left to send.
 * Sending comes first: a peer that waits for it sends nothing.
 */
static int pump(struct connection *connection, unsigned wanted)
{
    br_ssl_engine_context *engine = &connection->tls.eng;
    for (;;) {
        unsigned state = br_ssl_engine_current_state(engine);
        size_t len;
        if (state & BR_SSL_CLOSED) {
            if (br_ssl_engine_last_error(engine) != BR_ERR_OK) {
                return REPRISE_ERROR;
            }
            return wanted == 0 ? REPRISE_OK : REPRISE_CLOSED;
        }
        if (state & BR_SSL_SENDREC) {
            unsigned char *record = br_ssl_engine_sendrec_buf(engine, &len);
            int sent = connection->socket.write(connection->socket.context, record, len);
            if (sent < 0) {
                return sent;
            }
            br_ssl_engine_sendrec_ack(engine, (size_t)sent);
            continue;
        }
        if (wanted == 0 || (state & wanted) != 0) {
            return REPRISE_OK;
        }
        if (!(state & BR_SSL_RECVREC)) {
            /* Writing, while what was received waits to be read: one buffer holds both. */
            return REPRISE_WOULD_BLOCK;
        }
        unsigned char *record = br_ssl_engine_recvrec_buf(engine, &len);
        int received = connection->socket.read(connection->socket.context, record, len);
        if (received < 0) {
            return received;
        }
        br_ssl_engine_recvrec_ack(engine, (size_t)received);
    }
}

/* reprise_wipe belongs to the cache, which may be compiled out. */
static void wipe(void *memory, size_t len)
{
    volatile unsigned char *byte = memory;
    while (len-- > 0) {
        *byte++ = 0;
    }
}

static void configure(br_ssl_server_context *tls, const struct server *server)
{
    static const uint16_t rsa_suites[] = {
        BR_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        BR_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        BR_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    };
    static const uint16_t ecdsa_suites[] = {
        BR_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        BR_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        BR_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    };
    br_ssl_server_zero(tls);
    br_ssl_engine_set_versions(&tls->eng, BR_TLS12, BR_TLS12);
    if (br_skey_decoder_key_type(&server->key) == BR_KEYTYPE_RSA) {
        br_ssl_engine_set_suites(&tls->eng, rsa_suites, sizeof rsa_suites / sizeof *rsa_suites);
        br_ssl_server_set_single_rsa(tls, server->chain, server->chain_len, br_skey_decoder_get_rsa(&server->key),
                                     BR_KEYTYPE_SIGN, 0, RSA_SIGN);
    } else {
        br_ssl_engine_set_suites(&tls->eng, ecdsa_suites, sizeof ecdsa_suites / sizeof *ecdsa_suites);
        br_ssl_server_set_single_ec(tls, server->chain, server->chain_len, br_skey_decoder_get_ec(&server->key),
                                    BR_KEYTYPE_SIGN, 0, &EC_IMPL, ECDSA_SIGN);
    }
    br_ssl_engine_set_ec(&tls->eng, &EC_IMPL);
    br_ssl_engine_set_hash(&tls->eng, br_sha256_ID, &br_sha256_vtable);
    br_ssl_engine_set_hash(&tls->eng, br_sha384_ID, &br_sha384_vtable);
    br_ssl_engine_set_prf_sha256(&tls->eng, br_tls12_sha256_prf);
    br_ssl_engine_set_prf_sha384(&tls->eng, br_tls12_sha384_prf);
    br_ssl_engine_set_aes_ctr(&tls->eng, &br_aes_ct_ctr_vtable);
    br_ssl_engine_set_ghash(&tls->eng, br_ghash_ctmul32);
    br_ssl_engine_set_gcm(&tls->eng, &br_sslrec_in_gcm_vtable, &br_sslrec_out_gcm_vtable);
    br_ssl_engine_set_chacha20(&tls->eng, br_chacha20_ct_run);
    br_ssl_engine_set_poly1305(&tls->eng, br_poly1305_ctmul32_run);
    br_ssl_engine_set_chapol(&tls->eng, &br_sslrec_in_chapol_vtable, &br_sslrec_out_chapol_vtable);
    /* The server's order counts, and the client cannot make us compute handshakes by asking for new ones. */
    br_ssl_engine_add_flags(&tls->eng, BR_OPT_ENFORCE_SERVER_PREFERENCES | BR_OPT_NO_RENEGOTIATION);
}

#if REPRISE_SESSION_CACHE
/* BearSSL does not tell whether it resumed: this class looks on. `tls` is the first member of its connection. */
static void save(const br_ssl_session_cache_class **context, br_ssl_server_context *tls,
                 const br_ssl_session_parameters *parameters)
{
    reprise_bearssl_sessions_class.save(context, tls, parameters);
    /* Only a full handshake is stored: what was found did not suit this client's suites. */
    ((struct connection *)(void *)tls)->resumed = false;
}

static int load(const br_ssl_session_cache_class **context, br_ssl_server_context *tls,
                br_ssl_session_parameters *parameters)
{
    int found = reprise_bearssl_sessions_class.load(context, tls, parameters);
    ((struct connection *)(void *)tls)->resumed = found != 0;
    return found;
}

static const br_ssl_session_cache_class cache_class = {sizeof(reprise_bearssl_sessions), save, load};
#endif

/* Hands the DER of every PEM object to `take`, until one is refused. */
typedef int (*take_object)(struct server *server, const char *name, const unsigned char *der, size_t len);

typedef struct {
    unsigned char *to;
    size_t room, len;
    bool overflow;
} der_buffer;

static void append(void *context, const void *bytes, size_t len)
{
    der_buffer *der = context;
    if (len > der->room - der->len) {
        der->overflow = true;
    } else {
        memcpy(der->to + der->len, bytes, len);
        der->len += len;
    }
}

static int each_object(struct server *server, const char *pem, size_t len, der_buffer *der, take_object take)
{
    br_pem_decoder_context decoder;
    size_t begin = 0;
    int result = REPRISE_OK;
    br_pem_decoder_init(&decoder);
    /* A last line without an end is one all the same. */
    for (bool ended = false; result == REPRISE_OK && (len > 0 || !ended);) {
        size_t pushed;
        if (len > 0) {
            pushed = br_pem_decoder_push(&decoder, pem, len);
            pem += pushed, len -= pushed;
        } else {
            br_pem_decoder_push(&decoder, "\n", 1);
            ended = true;
        }
        switch (br_pem_decoder_event(&decoder)) {
        case BR_PEM_BEGIN_OBJ:
            begin = der->len;
            br_pem_decoder_setdest(&decoder, append, der);
            break;
        case BR_PEM_END_OBJ:
            result = der->overflow
                         ? REPRISE_ERROR
                         : take(server, br_pem_decoder_name(&decoder), der->to + begin, der->len - begin);
            break;
        case BR_PEM_ERROR:
            result = REPRISE_ERROR;
            break;
        default:
            break;
        }
    }
    /* It has a part of the key. */
    wipe(&decoder, sizeof decoder);
    return result;
}

static int take_certificate(struct server *server, const char *name, const unsigned char *der, size_t len)
{
    if (strcmp(name, "CERTIFICATE") != 0 && strcmp(name, "X509 CERTIFICATE") != 0) {
        return REPRISE_OK;
    }
    if (server->chain_len == REPRISE_BEARSSL_CERTIFICATES) {
        return REPRISE_ERROR;
    }
    server->chain[server->chain_len].data = (unsigned char *)der;
    server->chain[server->chain_len].data_len = len;
    server->chain_len++;
    return REPRISE_OK;
}

static int load_certificates(struct server *server, const char *pem, size_t len)
{
    der_buffer der = {server->der, sizeof server->der, 0, false};
    int result = each_object(server, pem, len, &der, take_certificate);
    server->der_len = der.len;
    return result == REPRISE_OK && server->chain_len > 0 ? REPRISE_OK : REPRISE_ERROR;
}

static int take_key(struct server *server, const char *name, const unsigned char *der, size_t len)
{
    if (strcmp(name, "PRIVATE KEY") == 0 || strcmp(name, "RSA PRIVATE KEY") == 0 || strcmp(name, "EC PRIVATE KEY") == 0) {
        br_skey_decoder_init(&server->key);
        br_skey_decoder_push(&server->key, der, len);
        return br_skey_decoder_last_error(&server->key) == 0 ? REPRISE_OK : REPRISE_ERROR;
    }
    return REPRISE_OK;
}

static int load_key(struct server *server, const char *pem, size_t len)
{
    /* Behind the certificates, where it is wiped again. */
    der_buffer der = {server->der + server->der_len, sizeof server->der - server->der_len, 0, false};
    br_skey_decoder_init(&server->key);
    int result = each_object(server, pem, len, &der, take_key);
    wipe(der.to, der.len);
    return result == REPRISE_OK && br_skey_decoder_key_type(&server->key) != 0 ? REPRISE_OK : REPRISE_ERROR;
}
