/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See sessions_bearssl.h. BearSSL knows no extended_master_secret: no session here was made with it (RFC 7627 section 5.3). */
#include "reprise/sessions_bearssl.h"

#include <string.h>

#include "client_hello.h"

static void tag_of(const reprise_bearssl_sessions *sessions, const void *name, size_t len, uint8_t tag[REPRISE_SESSION_TAG])
{
    br_sha256_context policy = sessions->policy;
    unsigned char hash[br_sha256_SIZE];
    br_sha256_update(&policy, name, len);
    br_sha256_out(&policy, hash);
    memcpy(tag, hash, REPRISE_SESSION_TAG);
}

static void save(const br_ssl_session_cache_class **context, br_ssl_server_context *tls,
                 const br_ssl_session_parameters *parameters)
{
    const reprise_bearssl_sessions *sessions = (const void *)context;
    const reprise_tls_config *config = sessions->config;
    const char *name = br_ssl_engine_get_server_name(&tls->eng);
    reprise_session session = {
        .version = parameters->version,
        .suite = parameters->cipher_suite,
        .id_len = parameters->session_id_len,
    };
    memcpy(session.id, parameters->session_id, sizeof session.id);
    memcpy(session.master_secret, parameters->master_secret, sizeof session.master_secret);
    tag_of(sessions, name, strlen(name), session.tag);
    reprise_lock(config, true);
    reprise_session_cache_put(config->cache, config->seconds(config->context), &session);
    reprise_lock(config, false);
    reprise_wipe(&session, sizeof session);
}

static int load(const br_ssl_session_cache_class **context, br_ssl_server_context *tls,
                br_ssl_session_parameters *parameters)
{
    const reprise_bearssl_sessions *sessions = (const void *)context;
    const reprise_tls_config *config = sessions->config;
    reprise_client_hello hello;
    reprise_session session;
    uint8_t tag[REPRISE_SESSION_TAG];
    /*
     * The library asks when it has read the session ID, and neither the suites nor the name. What it has not read yet stands in
     * its buffer; a ClientHello in several records, which no client sends, is not there as a whole: its handshake is full.
     */
    if (!reprise_client_hello_read(&hello, tls->eng.hbuf_in, tls->eng.hlen_in)) {
        return 0;
    }
    tag_of(sessions, hello.name, hello.name_len, tag);
    reprise_lock(config, true);
    bool is_found = reprise_session_cache_find(config->cache, config->seconds(config->context), parameters->session_id,
                                               parameters->session_id_len, tag, &session);
    reprise_lock(config, false);
    if (!is_found) {
        return 0;
    }
    parameters->version = session.version;
    parameters->cipher_suite = session.suite;
    memcpy(parameters->master_secret, session.master_secret, sizeof session.master_secret);
    reprise_wipe(&session, sizeof session);
    return 1;
}

const br_ssl_session_cache_class reprise_bearssl_sessions_class = {sizeof(reprise_bearssl_sessions), save, load};

void reprise_bearssl_sessions_init(reprise_bearssl_sessions *sessions, const reprise_tls_config *config, const void *policy,
                                   size_t policy_len)
{
    sessions->vtable = &reprise_bearssl_sessions_class;
    sessions->config = config;
    br_sha256_init(&sessions->policy);
    br_sha256_update(&sessions->policy, policy, policy_len);
}
