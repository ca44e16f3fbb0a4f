/*
 * A loop over OpenSSL as one would write it: client and server in one thread, memory BIOs between them, each side's CPU on the
 * thread's clock. What `reprise compare` says of OpenSSL is held against it.
 *
 *   plain, then on standard input the lines of row.h, answered by "CLIENT SERVER": mean nanoseconds of a connection, or of the
 *   transfer of 64 KiB over one.
 */
#include "clock.h"
#include "context.h"
#include "row.h"

typedef struct {
    SSL *ssl;
    BIO *in, *out;
    uint8_t sent[131072];
    int length;
    int64_t spent;
} side;

static int64_t reading; /* what a reading of the clock costs */
static side client, server;

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

/* What is measured again and again: a row, and the session to be offered next. */
typedef struct {
    row row;
    SSL_CTX *contexts[2];
    SSL_SESSION *session;
} prepared;

/* A handshake, to its end on both sides. */
static void complete(const prepared *it)
{
    TIMED(client, { begin(&client, it->contexts[0], it->session); go_on(&client, &server); });
    TIMED(server, begin(&server, it->contexts[1], NULL));
    while (client.length || server.length) {
        if (client.length) TIMED(server, go_on(&server, &client));
        if (server.length) TIMED(client, go_on(&client, &server));
    }
    if (!SSL_is_init_finished(client.ssl) || !SSL_is_init_finished(server.ssl)) fail("not complete");
    int is_resumed = it->session || (is_of_kind(&it->row, "psk") && is_tls13(&it->row));
    if (SSL_session_reused(server.ssl) != is_resumed) fail("of another kind");
}

/* One connection. Under TLS 1.2 its session is the old one, where there is no new one. */
static void connect_once(prepared *it)
{
    SSL_SESSION *left;
    complete(it);
    TIMED(client, left = end(&client, resumes(&it->row)));
    TIMED(server, end(&server, 0));
    if (it->session) SSL_SESSION_free(it->session);
    it->session = left;
}

static uint8_t data[65536];

/* Until they are written, all its pages are one, which stays in the fastest cache. */
static void make_data(void)
{
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)i;
}

/* What is sent, in records of so many bytes. */
static void send_data(side *it, int record)
{
    for (int at = 0; at + record <= (int)sizeof data; at += record) {
        if (SSL_write(it->ssl, data + at, record) != record) fail("write");
        it->length += BIO_read(it->out, it->sent + it->length, (int)sizeof it->sent - it->length);
    }
}

/* What is received. Each record is moved by itself, as over a socket. */
static void receive_data(side *it, side *peer)
{
    static uint8_t heard[65536];
    int received = 0;
    for (int at = 0; at < peer->length;) {
        int length = 5 + (peer->sent[at + 3] << 8 | peer->sent[at + 4]);
        BIO_write(it->in, peer->sent + at, length);
        at += length;
        int count = SSL_read(it->ssl, heard + received, (int)sizeof heard - received);
        if (count <= 0) fail("read");
        received += count;
    }
}

/* One side sends 64 KiB, as often as the row says, over one connection. */
static void transfer(const prepared *it, int times)
{
    int is_clients = !strcmp(it->row.sender, "client");
    side *sender = is_clients ? &client : &server, *receiver = is_clients ? &server : &client;
    complete(it);
    for (int i = -1; i < times; i++) {
        if (!i) client.spent = server.spent = 0;
        TIMED(*sender, send_data(sender, it->row.record));
        TIMED(*receiver, receive_data(receiver, sender));
        sender->length = 0;
    }
    end(&client, 0);
    end(&server, 0);
}

/* Contexts that are warm. */
static prepared *prepare(row asked)
{
    static prepared known[64];
    static int count;
    asked.count = 0;
    for (int i = 0; i < count; i++)
        if (!memcmp(&known[i].row, &asked, sizeof asked)) return &known[i];
    if (count == sizeof known / sizeof *known) fail("too many rows");
    prepared *it = &known[count++];
    it->row = asked;
    for (int i = 0; i < 2; i++) it->contexts[i] = configured(&asked, i);
    for (int i = 0; i < 10; i++) connect_once(it);
    return it;
}

int main(void)
{
    row asked;
    reading = cost_of_reading();
    make_data();
    while (read_row(&asked)) {
        prepared *it = prepare(asked);
        if (asked.record) transfer(it, asked.count);
        /* The first is not counted: the caches are another's. */
        for (int i = -1; i < asked.count && !asked.record; i++) {
            if (!i) client.spent = server.spent = 0;
            connect_once(it);
        }
        printf("%.0f %.0f\n", (double)client.spent / asked.count, (double)server.spent / asked.count);
        fflush(stdout);
    }
    return 0;
}
