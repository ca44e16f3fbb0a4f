/*
 * A loop over OpenSSL as one would write it, whose connections stay: client and server in one thread, memory BIOs between them. What
 * `reprise compare memory` says of OpenSSL is held against it, by the same counter, which is preloaded.
 *
 *   memory CHAIN KEY ROOT, then on standard input lines "VERSION COUNT" (1.2 or 1.3), answered by "CLIENT SERVER": bytes of the heap that
 *   each side of a connection holds once the handshake is complete.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

typedef struct {
    SSL *ssl;
    BIO *in, *out;
    uint8_t sent[65536];
    int length;
    long held; /* of all connections */
} side;

static side client, server;
static size_t (*live)(void);

static void fail(const char *what)
{
    fprintf(stderr, "%s: ", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static SSL_CTX *configured(int is_server, int version, char **files)
{
    SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    int done = SSL_CTX_set_min_proto_version(context, version) && SSL_CTX_set_max_proto_version(context, version)
               && SSL_CTX_set1_groups_list(context, "P-256") && SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256")
               && SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256") && SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    if (is_server)
        done = done && SSL_CTX_use_certificate_chain_file(context, files[0]) == 1
               && SSL_CTX_use_PrivateKey_file(context, files[1], SSL_FILETYPE_PEM) == 1;
    else
        done = done && SSL_CTX_load_verify_locations(context, files[2], NULL) == 1;
    if (!done) fail("configuration");
    if (!is_server) SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
}

/* Makes the connection where there is none, takes what the peer sent, goes on, and leaves what is to be sent. */
static void go_on(side *it, side *peer, SSL_CTX *context)
{
    size_t before = live();
    if (!it->ssl) {
        it->ssl = SSL_new(context);
        it->in = BIO_new(BIO_s_mem()), it->out = BIO_new(BIO_s_mem());
        BIO_set_mem_eof_return(it->in, -1);
        SSL_set_bio(it->ssl, it->in, it->out);
        if (it == &server) SSL_set_accept_state(it->ssl);
        else SSL_set_connect_state(it->ssl), SSL_set_tlsext_host_name(it->ssl, "localhost"), SSL_set1_host(it->ssl, "localhost");
    }
    if (peer->length) BIO_write(it->in, peer->sent, peer->length);
    peer->length = 0;
    int result = SSL_do_handshake(it->ssl);
    if (result != 1 && SSL_get_error(it->ssl, result) != SSL_ERROR_WANT_READ) fail(it == &client ? "client" : "server");
    it->length = BIO_read(it->out, it->sent, sizeof it->sent);
    if (it->length < 0) it->length = 0;
    it->held += (long)(live() - before);
}

static void complete(SSL_CTX **contexts)
{
    client.ssl = server.ssl = NULL;
    do go_on(&client, &server, contexts[0]), go_on(&server, &client, contexts[1]);
    while (client.length || server.length);
    if (!SSL_is_init_finished(client.ssl) || !SSL_is_init_finished(server.ssl)) fail("not complete");
}

int main(int count, char **arguments)
{
    char version[8];
    int connections;
    if (count != 4) return 2;
    /* The name is the counter's alone. */
    *(void **)&live = dlsym(RTLD_DEFAULT, "reprise_heap_live");
    if (!live) fail("reprise-heap is not preloaded");
    while (scanf("%7s %d", version, &connections) == 2 && connections > 0) {
        int number = version[2] == '3' ? TLS1_3_VERSION : TLS1_2_VERSION;
        SSL_CTX *contexts[2] = {configured(0, number, arguments + 1), configured(1, number, arguments + 1)};
        /* What is made once is there before the first that counts; all stay. */
        for (int i = -4; i < connections; i++) {
            if (!i) client.held = server.held = 0;
            complete(contexts);
        }
        printf("%ld %ld\n", client.held / connections, server.held / connections);
        fflush(stdout);
    }
    return 0;
}
