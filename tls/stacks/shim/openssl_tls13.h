/* What only TLS 1.3 has, with OpenSSL's interface: tickets without a key exchange, and early data. */
#ifndef REPRISE_SHIM_OPENSSL_TLS13_H
#define REPRISE_SHIM_OPENSSL_TLS13_H

#include <openssl/ssl.h>

#include "memory.h"

#ifndef SSL_READ_EARLY_DATA_SUCCESS

/* AWS-LC and BoringSSL have no psk_ke, and another interface for early data. */
#define TLS13_CAPABILITIES 0
static inline int use_psk_ke(SSL_CTX *ssl) { return (void)ssl, 0; }
static inline int use_early_data(SSL_CTX *ssl, uint32_t most) { return (void)ssl, !most; }
static inline int read_early_data(SSL *ssl, queue *to) { return (void)ssl, (void)to, 1; }
static inline int write_early_data(SSL *ssl, const uint8_t *data, size_t length, size_t *count)
{
    return (void)ssl, (void)data, (void)length, (void)count, 1;
}
static inline int is_early_data_accepted(SSL *ssl) { return (void)ssl, -1; }

#else

#define TLS13_CAPABILITIES (REPRISE_CAN_PSK_KE | REPRISE_CAN_EARLY_DATA)

#ifdef SSL_OP_PREFER_NO_DHE_KEX

static inline int use_psk_ke(SSL_CTX *ssl)
{
    SSL_CTX_set_options(ssl, SSL_OP_ALLOW_NO_DHE_KEX | SSL_OP_PREFER_NO_DHE_KEX);
    return 1;
}

#else

/* Before OpenSSL 3.3 a server takes psk_ke only where the two share no group. So that there is none, it is left with one that nobody
 * offers here. A client whose session it does not know is refused then. */
static int share_no_group(SSL *ssl, int *alert, void *unused)
{
    enum { PSK_KE = 0 };
    const unsigned char *sessions, *modes;
    size_t sessions_length, length;
    (void)alert, (void)unused;
    int may = SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_psk, &sessions, &sessions_length)
              && SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_psk_kex_modes, &modes, &length) && length > 1
              && memchr(modes + 1, PSK_KE, length - 1);
    return !may || SSL_set1_groups_list(ssl, "ffdhe8192") == 1 ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR;
}

static inline int use_psk_ke(SSL_CTX *ssl)
{
    SSL_CTX_set_options(ssl, SSL_OP_ALLOW_NO_DHE_KEX);
    SSL_CTX_set_client_hello_cb(ssl, share_no_group, NULL); /* a client never calls it */
    return 1;
}

#endif

/* A server's: so many bytes. */
static inline int use_early_data(SSL_CTX *ssl, uint32_t most)
{
    return SSL_CTX_set_max_early_data(ssl, most) && SSL_CTX_set_recv_max_early_data(ssl, most);
}

static inline int is_early_data_accepted(SSL *ssl) { return SSL_get_early_data_status(ssl) == SSL_EARLY_DATA_ACCEPTED; }

/* Goes on with a server's handshake while early data may come, which it puts into the queue. 1: there will be no more;
 * 0: SSL_get_error says why not. */
static inline int read_early_data(SSL *ssl, queue *to)
{
    uint8_t bytes[4096];
    for (;;) {
        size_t count = 0;
        int result = SSL_read_early_data(ssl, bytes, sizeof bytes, &count);
        if (result == SSL_READ_EARLY_DATA_ERROR) return 0;
        if (count && !queue_append(to, bytes, count)) return 0;
        if (result == SSL_READ_EARLY_DATA_FINISH) return 1;
    }
}

/* A client's, where its session allows as much. 0: SSL_get_error says why not. */
static inline int write_early_data(SSL *ssl, const uint8_t *data, size_t length, size_t *count)
{
    const SSL_SESSION *session = SSL_get0_session(ssl);
    if (!session || SSL_SESSION_get_max_early_data(session) < length) return 1;
    return SSL_write_early_data(ssl, data, length, count);
}

#endif

#endif
