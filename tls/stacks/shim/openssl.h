/* What OpenSSL names or does otherwise than AWS-LC and BoringSSL, for openssl.c: groups have names, and sessions are asked for. */
#ifndef REPRISE_SHIM_OPENSSL_H
#define REPRISE_SHIM_OPENSSL_H

#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "memory.h"

#define LIBRARY "OpenSSL"
#define LIBRARY_VERSION OpenSSL_version(OPENSSL_VERSION_STRING)

/* The library's state, of the process where there is none. */
#define LIBRARY_CAPABILITIES (REPRISE_CAN_LIBRARY_CONTEXT | REPRISE_CAN_MAX_FRAGMENT | REPRISE_CAN_RELEASE_BUFFERS | SHARES_CAPABILITY)
/* From 3.5 on a list of groups says by a star which of them have a key share. */
#if OPENSSL_VERSION_NUMBER >= 0x30500000L
#define SHARES_CAPABILITY REPRISE_CAN_SHARE_ALL_GROUPS
#define STAR "*"
#else
#define SHARES_CAPABILITY 0
#define STAR ""
#endif
typedef OSSL_LIB_CTX library_context;
static library_context *new_library(void) { return OSSL_LIB_CTX_new(); }
static void free_library(library_context *library) { OSSL_LIB_CTX_free(library); }
static SSL_CTX *new_ssl(library_context *library, const SSL_METHOD *method) { return SSL_CTX_new_ex(library, NULL, method); }

static X509 *read_certificate(BIO *from, library_context *library)
{
    X509 *certificate = X509_new_ex(library, NULL);
    if (certificate && PEM_read_bio_X509(from, &certificate, NULL, NULL)) return certificate;
    X509_free(certificate);
    return NULL;
}

static EVP_PKEY *read_key(BIO *from, library_context *library)
{
    return PEM_read_bio_PrivateKey_ex(from, NULL, NULL, NULL, library, NULL);
}

/* TLS 1.2 has no name for such a group on the wire: the server brings the parameters (RFC 5246 §7.4.3). */
static int use_dh_parameters(SSL_CTX *ssl, const char *name)
{
    OSSL_PARAM parameters[2] = {OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)name, strlen(name)), OSSL_PARAM_END};
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
    EVP_PKEY *group = NULL;
    int done = context && EVP_PKEY_fromdata_init(context) == 1
               && EVP_PKEY_fromdata(context, &group, EVP_PKEY_KEY_PARAMETERS, parameters) == 1
               && SSL_CTX_set0_tmp_dh_pkey(ssl, group) == 1;
    if (!done) EVP_PKEY_free(group);
    EVP_PKEY_CTX_free(context);
    return done;
}

static int pin_groups(SSL_CTX *ssl, const reprise_options *options)
{
    int is_starred = REPRISE_HAS(options, share_all_groups) && options->share_all_groups;
    char list[256] = "", starred[64];
    for (size_t i = 0; i < options->groups_length; i++) {
        const char *name = group_name(options->groups[i]);
        if (options->version == TLS1_2_VERSION && options->groups[i] >= 256) {
            if (!name || options->groups[i] >= 512 || (options->side == REPRISE_SERVER && !use_dh_parameters(ssl, name))) return 0;
        } else if (!name || snprintf(starred, sizeof starred, "%s%s", is_starred ? STAR : "", name) >= (int)sizeof starred
                   || !list_append(list, sizeof list, starred)) {
            return 0;
        }
    }
    return !*list || SSL_CTX_set1_groups_list(ssl, list) == 1;
}

/* What the library calls a group is its own number, its name is IANA's. TLS 1.2's DHE has neither. */
static uint16_t negotiated_group(SSL *ssl)
{
    int group = SSL_get_negotiated_group(ssl);
    return group_number(group ? SSL_group_to_name(ssl, group) : NULL);
}

/* Buffers of what is sent are as large as this side's own records may be; those of what is received are the largest always. */
static int use_buffers(SSL_CTX *ssl, const reprise_options *options)
{
    uint32_t most = max_fragment(options);
    if (releases_buffers(options)) SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    if (!most) return 1;
    if (!fragment_code(most) || !SSL_CTX_set_max_send_fragment(ssl, most)) return 0;
    return options->side == REPRISE_SERVER || SSL_CTX_set_tlsext_max_fragment_length(ssl, (uint8_t)fragment_code(most));
}

static void shed_configuration(SSL *ssl) { (void)ssl; }

static void tell_sessions(SSL_CTX *ssl) { (void)ssl; }

static SSL_SESSION *newest_session(SSL *ssl) { return SSL_get1_session(ssl); }

static void drop_session(SSL *ssl) { (void)ssl; }

static void send_tickets(SSL *ssl) { (void)ssl; }

/* Its clients send a key share of the preferred group alone. */
static int share_key_of(SSL *ssl, uint16_t group) { return (void)ssl, (void)group, 1; }

#endif
