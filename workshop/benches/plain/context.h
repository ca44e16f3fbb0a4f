/* Contexts as a program configures them that is to speak one version, one suite and one group. */
#ifndef PLAIN_CONTEXT_H
#define PLAIN_CONTEXT_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "row.h"

#define ID_CONTEXT (const unsigned char *)"plain" /* of sessions that a server takes */
#define IDENTITY "plain"
static const unsigned char psk[32] = "agreed on outside TLS, 32 bytes";

static void fail(const char *what)
{
    fprintf(stderr, "%s: ", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static unsigned psk_of_client(SSL *ssl, const char *hint, char *identity, unsigned room, unsigned char *key, unsigned key_room)
{
    (void)ssl, (void)hint;
    if (room < sizeof IDENTITY || key_room < sizeof psk) return 0;
    strcpy(identity, IDENTITY);
    memcpy(key, psk, sizeof psk);
    return sizeof psk;
}

static unsigned psk_of_server(SSL *ssl, const char *identity, unsigned char *key, unsigned room)
{
    (void)ssl;
    if (strcmp(identity, IDENTITY) || room < sizeof psk) return 0;
    memcpy(key, psk, sizeof psk);
    return sizeof psk;
}

/* Under TLS 1.3 a PSK is a session, made once. */
static SSL_SESSION *psk_session;

static int use_session(SSL *ssl, const EVP_MD *hash, const unsigned char **identity, size_t *length, SSL_SESSION **session)
{
    (void)ssl, (void)hash;
    SSL_SESSION_up_ref(*session = psk_session);
    *identity = (const unsigned char *)IDENTITY, *length = sizeof IDENTITY - 1;
    return 1;
}

static int find_session(SSL *ssl, const unsigned char *identity, size_t length, SSL_SESSION **session)
{
    (void)ssl;
    int is_known = length == sizeof IDENTITY - 1 && !memcmp(identity, IDENTITY, length);
    *session = is_known && SSL_SESSION_up_ref(psk_session) ? psk_session : NULL;
    return 1;
}

static int use_psk(SSL_CTX *context, const row *it)
{
    if (!is_tls13(it)) {
        SSL_CTX_set_psk_client_callback(context, psk_of_client);
        SSL_CTX_set_psk_server_callback(context, psk_of_server);
        return 1;
    }
    if (!psk_session) {
        SSL *probe = SSL_new(context); /* it alone finds a suite by its number */
        const SSL_CIPHER *cipher = SSL_CIPHER_find(probe, (const unsigned char *)"\x13\x01");
        psk_session = SSL_SESSION_new();
        if (!SSL_SESSION_set1_master_key(psk_session, psk, sizeof psk) || !SSL_SESSION_set_cipher(psk_session, cipher)
            || !SSL_SESSION_set_protocol_version(psk_session, TLS1_3_VERSION) || !SSL_SESSION_set_timeout(psk_session, 1L << 30)
            || !SSL_SESSION_set1_id_context(psk_session, ID_CONTEXT, 5))
            fail("PSK");
        SSL_free(probe);
    }
    SSL_CTX_set_psk_use_session_callback(context, use_session);
    SSL_CTX_set_psk_find_session_callback(context, find_session);
    return 1;
}

static const char *file(const row *it, const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", it->certificates, name);
    return path;
}

static int use_identity(SSL_CTX *context, const row *it, const char *chain, const char *key)
{
    return SSL_CTX_use_certificate_chain_file(context, file(it, chain)) == 1
           && SSL_CTX_use_PrivateKey_file(context, file(it, key), SSL_FILETYPE_PEM) == 1;
}

static int use_certificates(SSL_CTX *context, const row *it, int is_server)
{
    int done = 1;
    if (is_server) done = use_identity(context, it, "chain.pem", "key.pem");
    else if (it->mutual) done = use_identity(context, it, "client-chain.pem", "client-key.pem");
    if (is_server && !it->mutual) return done;
    SSL_CTX_set_verify(context, is_server ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_PEER, NULL);
    return done && SSL_CTX_load_verify_locations(context, file(it, "root.pem"), NULL) == 1;
}

static int use_suite(SSL_CTX *context, const row *it)
{
    return is_tls13(it) ? SSL_CTX_set_ciphersuites(context, it->suite)
                        : SSL_CTX_set_cipher_list(context, OPENSSL_cipher_name(it->suite));
}

static SSL_CTX *configured(const row *it, int is_server)
{
    SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    int version = is_tls13(it) ? TLS1_3_VERSION : TLS1_2_VERSION;
    SSL_CTX_set_security_level(context, 0); /* as the plugin has it */
    SSL_CTX_set_session_cache_mode(context, is_server && is_of_kind(it, "id") ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
    if (!is_of_kind(it, "ticket")) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, is_of_kind(it, "ticket") ? 1 : 0);
    SSL_CTX_set_session_id_context(context, ID_CONTEXT, 5);
    if (!SSL_CTX_set_min_proto_version(context, version) || !SSL_CTX_set_max_proto_version(context, version) || !use_suite(context, it)
        || (strcmp(it->group, "none") && !SSL_CTX_set1_groups_list(context, it->group))
        || !(is_of_kind(it, "psk") ? use_psk(context, it) : use_certificates(context, it, is_server)))
        fail("configuration");
    return context;
}

#endif
