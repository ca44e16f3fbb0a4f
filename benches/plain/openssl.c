/*
 * A loop over OpenSSL as one would write it: client and server in one thread, memory BIOs between them, each side's CPU on the
 * thread's clock. What `reprise compare` says of OpenSSL is held against it.
 *
 *   plain CHAIN KEY ROOT, then on standard input lines "VERSION KIND COUNT" (1.2 or 1.3; full, id or ticket),
 *   answered by "CLIENT SERVER": mean nanoseconds of a connection.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

typedef struct {
    SSL *ssl;
    BIO *in, *out;
    uint8_t sent[131072];
    int length;
    int64_t spent;
} side;

static int64_t reading; /* what a reading of the clock costs */
static side client, server;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: ", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void calibrate(void)
{
    int64_t gaps[2001];
    for (int i = 0; i < 2001; i++) {
        int64_t begin = now();
        gaps[i] = now() - begin;
    }
    qsort(gaps, 2001, sizeof *gaps, by_size);
    reading = gaps[1000];
}

static SSL_CTX *configured(int is_server, int version, const char *kind, char **files)
{
    SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    int done = SSL_CTX_set_min_proto_version(context, version) && SSL_CTX_set_max_proto_version(context, version)
               && SSL_CTX_set1_groups_list(context, "P-256") && SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256")
               && SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256");
    SSL_CTX_set_security_level(context, 0); /* as the plugin has it */
    SSL_CTX_set_session_cache_mode(context, is_server && !strcmp(kind, "id") ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
    int by_ticket = !strcmp(kind, "ticket");
    if (!by_ticket) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, by_ticket ? 1 : 0);
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"plain", 5);
    if (is_server)
        done = done && SSL_CTX_use_certificate_chain_file(context, files[0]) == 1
               && SSL_CTX_use_PrivateKey_file(context, files[1], SSL_FILETYPE_PEM) == 1;
    else
        done = done && SSL_CTX_load_verify_locations(context, files[2], NULL) == 1;
    if (!done) fail("configuration");
    if (!is_server) SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
}

static void begin(side *it, SSL_CTX *context, SSL_SESSION *session)
{
    it->ssl = SSL_new(context);
    it->in = BIO_new(BIO_s_mem());
    it->out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(it->in, -1);
    SSL_set_bio(it->ssl, it->in, it->out);
    it->length = 0;
    if (it == &server) {
        SSL_set_accept_state(it->ssl);
        return;
    }
    SSL_set_connect_state(it->ssl);
    SSL_set_tlsext_host_name(it->ssl, "localhost");
    SSL_set1_host(it->ssl, "localhost");
    if (session) SSL_set_session(it->ssl, session);
}

/* Takes what the peer sent, goes on, and leaves what is to be sent. */
static void go_on(side *it, side *peer)
{
    uint8_t data[64];
    if (peer->length) BIO_write(it->in, peer->sent, peer->length);
    peer->length = 0;
    int result = SSL_do_handshake(it->ssl);
    if (result == 1) result = SSL_read(it->ssl, data, sizeof data); /* tickets */
    if (SSL_get_error(it->ssl, result) != SSL_ERROR_WANT_READ) fail(it == &client ? "client" : "server");
    it->length = BIO_read(it->out, it->sent, sizeof it->sent);
    if (it->length < 0) it->length = 0;
}

static SSL_SESSION *end(side *it, int keeps)
{
    SSL_SESSION *left = keeps ? SSL_get1_session(it->ssl) : NULL;
    SSL_set_shutdown(it->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(it->ssl);
    return left;
}

#define TIMED(side_, work)                              \
    do {                                                \
        int64_t begun = now();                          \
        work;                                           \
        (side_).spent += now() - begun - reading;       \
    } while (0)

/* A handshake, to its end on both sides. */
static void complete(SSL_CTX **contexts, SSL_SESSION *offered)
{
    TIMED(client, { begin(&client, contexts[0], offered); go_on(&client, &server); });
    TIMED(server, begin(&server, contexts[1], NULL));
    while (client.length || server.length) {
        if (client.length) TIMED(server, go_on(&server, &client));
        if (server.length) TIMED(client, go_on(&client, &server));
    }
    if (!SSL_is_init_finished(client.ssl) || !SSL_is_init_finished(server.ssl)) fail("not complete");
    if (SSL_session_reused(server.ssl) != (offered != NULL)) fail("of another kind");
}

/* One connection; what the client has left of it. */
static SSL_SESSION *connect_once(SSL_CTX **contexts, SSL_SESSION *offered, int keeps)
{
    SSL_SESSION *left;
    complete(contexts, offered);
    TIMED(client, left = end(&client, keeps));
    TIMED(server, end(&server, 0));
    return left;
}

/* The session to be offered next: under TLS 1.2 the old one, where there is no new one. */
static SSL_SESSION *connect_of_kind(SSL_CTX **contexts, SSL_SESSION *session, int resumes)
{
    SSL_SESSION *left = connect_once(contexts, session, resumes);
    if (session) SSL_SESSION_free(session);
    return left;
}

/* The server sends 64 KiB in records of so many bytes, as often as this, over one connection. Each record is moved by itself, as over a
 * socket. */
static void transfer(SSL_CTX **contexts, int record, int times)
{
    static uint8_t data[65536], heard[65536];
    complete(contexts, NULL);
    client.spent = server.spent = 0;
    for (int i = -1; i < times; i++) {
        int received = 0, whole = (int)sizeof data / record * record;
        if (!i) client.spent = server.spent = 0;
        TIMED(server, {
            for (int at = 0; at < whole; at += record) {
                if (SSL_write(server.ssl, data + at, record) != record) fail("write");
                server.length += BIO_read(server.out, server.sent + server.length, (int)sizeof server.sent - server.length);
            }
        });
        TIMED(client, {
            for (int at = 0; at < server.length;) {
                int length = 5 + (server.sent[at + 3] << 8 | server.sent[at + 4]);
                BIO_write(client.in, server.sent + at, length);
                at += length;
                int count = SSL_read(client.ssl, heard + received, (int)sizeof heard - received);
                if (count <= 0) fail("read");
                received += count;
            }
        });
        server.length = 0;
    }
    end(&client, 0);
    end(&server, 0);
}

typedef struct {
    SSL_CTX *contexts[2];
    SSL_SESSION *session;
} prepared;

static void warm_up(prepared *it, int version, const char *kind, char **files)
{
    for (int i = 0; i < 2; i++) it->contexts[i] = configured(i, version, kind, files);
    for (int i = 0; i < 10; i++) it->session = connect_of_kind(it->contexts, it->session, strcmp(kind, "full") != 0);
}

int main(int count, char **arguments)
{
    static prepared all[2][3];
    char version[8], kind[8];
    int connections;
    if (count != 4) return 2;
    calibrate();
    while (scanf("%7s %7s %d", version, kind, &connections) == 3) {
        int record = kind[0] == 'b' ? atoi(kind + 1) : 0;
        int is_newer = !strcmp(version, "1.3"), resumes = strcmp(kind, "full") != 0 && !record;
        prepared *it = &all[is_newer][resumes ? 1 + !strcmp(kind, "id") : 0];
        if (!it->contexts[0])
            warm_up(it, is_newer ? TLS1_3_VERSION : TLS1_2_VERSION, record ? "full" : kind, arguments + 1);
        if (record) transfer(it->contexts, record, connections);
        /* The first is not counted: the caches are another's. */
        for (int i = -1; i < connections && !record; i++) {
            if (!i) client.spent = server.spent = 0;
            it->session = connect_of_kind(it->contexts, it->session, resumes);
        }
        printf("%.0f %.0f\n", (double)client.spent / connections, (double)server.spent / connections);
        fflush(stdout);
    }
    return 0;
}
