/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The session cache in a br_ssl_server_context that exists already: bound to the name that the client asks for, with a lifetime,
 * and wiped. One call, after the context was set up and before br_ssl_server_reset():
 *
 *     static reprise_bearssl_sessions sessions;                      one for all connections of a server
 *     reprise_bearssl_sessions_init(&sessions, &config, certificate, certificate_len);
 *     br_ssl_server_set_cache(&context, &sessions.vtable);           the call
 */
#ifndef REPRISE_SESSIONS_BEARSSL_H
#define REPRISE_SESSIONS_BEARSSL_H

#if defined(__has_include)
#if !__has_include("bearssl.h")
#define REPRISE_BEARSSL_IN_FOLDER /* as the ESP8266 core has it */
#endif
#endif
#ifdef REPRISE_BEARSSL_IN_FOLDER
#include <bearssl/bearssl.h>
#else
#include "bearssl.h"
#endif
#include "reprise/tls_server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its fields belong to the functions here. */
typedef struct {
    const br_ssl_session_cache_class *vtable;
    const reprise_tls_config *config;
    br_sha256_context policy;
} reprise_bearssl_sessions;

/*
 * Of `config`, which stays where it is: cache, seconds, lock, context. A session is resumed only under the `policy` that it was
 * made under, whatever its bytes are: the server's certificates, or nothing where they do not change while the cache lives.
 */
void reprise_bearssl_sessions_init(reprise_bearssl_sessions *sessions, const reprise_tls_config *config, const void *policy,
                                   size_t policy_len);

/* What BearSSL calls: for those who look on with a class of their own. */
extern const br_ssl_session_cache_class reprise_bearssl_sessions_class;

#ifdef __cplusplus
}
#endif

#endif
