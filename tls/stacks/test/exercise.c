/*
 * A plugin with itself, over and over: every kind of handshake that it says it can, connections that are cut off, refused or fed
 * with what is no TLS, and structs of an older header. It is linked with one shim, and run under AddressSanitizer, under valgrind, or
 * by itself, where it counts the memory that is left once everything is freed.
 *
 *   exercise HANDSHAKES ROOT CHAIN KEY CLIENT_CHAIN CLIENT_KEY
 */
#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise_stack.h"

static const reprise_stack *tls;

static void fail(const char *format, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (%.*s)\n", (int)tls->error_text(sizeof words, words), words);
    exit(1);
}

/* PEM files, as they are. */
static reprise_text root, chain, key, client_chain, client_key;

static reprise_text read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 16);
    if (!file || !bytes) {
        perror(path);
        exit(2);
    }
    reprise_text text = {bytes, fread(bytes, 1, 1 << 16, file)};
    fclose(file);
    return text;
}

typedef struct {
    const char *name;
    uint32_t needs;
    uint16_t version, suite;
    int sessions, psk_ke, early, mutual, psk;
} kind;

#define TLS12 0x0303, 0xc02b
#define TLS13 0x0304, 0x1301
#define DHE_PSK 0x00aa
static const kind kinds[] = {
    {"TLS 1.2 full", REPRISE_CAN_TLS12, TLS12, REPRISE_SESSIONS_NONE, 0, 0, 0, 0},
    {"TLS 1.2 mutual", REPRISE_CAN_TLS12 | REPRISE_CAN_CLIENT_AUTH, TLS12, REPRISE_SESSIONS_NONE, 0, 0, 1, 0},
    {"TLS 1.2 id", REPRISE_CAN_TLS12 | REPRISE_CAN_ID, TLS12, REPRISE_SESSIONS_ID, 0, 0, 0, 0},
    {"TLS 1.2 ticket", REPRISE_CAN_TLS12 | REPRISE_CAN_TICKET, TLS12, REPRISE_SESSIONS_TICKET, 0, 0, 0, 0},
    {"TLS 1.3 full", REPRISE_CAN_TLS13, TLS13, REPRISE_SESSIONS_NONE, 0, 0, 0, 0},
    {"TLS 1.3 mutual", REPRISE_CAN_TLS13 | REPRISE_CAN_CLIENT_AUTH, TLS13, REPRISE_SESSIONS_NONE, 0, 0, 1, 0},
    {"TLS 1.3 ticket", REPRISE_CAN_TLS13 | REPRISE_CAN_TICKET, TLS13, REPRISE_SESSIONS_TICKET, 0, 0, 0, 0},
    {"TLS 1.3 psk_ke", REPRISE_CAN_TLS13 | REPRISE_CAN_PSK_KE, TLS13, REPRISE_SESSIONS_TICKET, 1, 0, 0, 0},
    {"TLS 1.3 early", REPRISE_CAN_TLS13 | REPRISE_CAN_EARLY_DATA, TLS13, REPRISE_SESSIONS_TICKET, 0, 1, 0, 0},
    {"TLS 1.2 fragments of 512", REPRISE_CAN_TLS12 | REPRISE_CAN_MAX_FRAGMENT, TLS12, REPRISE_SESSIONS_NONE, 0, 0, 0, 0},
    {"TLS 1.3 fragments of 512", REPRISE_CAN_TLS13 | REPRISE_CAN_MAX_FRAGMENT, TLS13, REPRISE_SESSIONS_NONE, 0, 0, 0, 0},
    {"TLS 1.2 buffers released", REPRISE_CAN_TLS12 | REPRISE_CAN_ID | REPRISE_CAN_RELEASE_BUFFERS, TLS12, REPRISE_SESSIONS_ID, 0, 0, 0, 0},
    {"TLS 1.3 buffers released", REPRISE_CAN_TLS13 | REPRISE_CAN_TICKET | REPRISE_CAN_RELEASE_BUFFERS, TLS13, REPRISE_SESSIONS_TICKET, 0, 0, 0, 0},
    {"TLS 1.2 dhe_psk", REPRISE_CAN_TLS12 | REPRISE_CAN_PSK, 0x0303, DHE_PSK, REPRISE_SESSIONS_NONE, 0, 0, 0, 1},
    {"TLS 1.2 ecdhe_psk", REPRISE_CAN_TLS12 | REPRISE_CAN_PSK, 0x0303, 0xc037, REPRISE_SESSIONS_NONE, 0, 0, 0, 1},
    {"TLS 1.3 psk", REPRISE_CAN_TLS13 | REPRISE_CAN_PSK, TLS13, REPRISE_SESSIONS_NONE, 0, 0, 0, 1},
    {"TLS 1.3 psk psk_ke", REPRISE_CAN_TLS13 | REPRISE_CAN_PSK | REPRISE_CAN_PSK_KE, TLS13, REPRISE_SESSIONS_NONE, 1, 0, 0, 1},
};

/* What a client and a server know both. */
static reprise_text psk_identity = {"exercise", 8};
static const uint8_t *psk_key = (const uint8_t *)"0123456789abcdef0123456789abcdef";

static int context(const kind *kind, int side, reprise_text trust, reprise_context **out)
{
    static const uint16_t p256 = 23, ffdhe2048 = 256;
    int is_server = side == REPRISE_SERVER;
    reprise_options options = {
        .size = sizeof options, .side = side, .version = kind->version, .sessions = kind->sessions,
        .suites = &kind->suite, .suites_length = 1, .groups = kind->suite == DHE_PSK ? &ffdhe2048 : &p256, .groups_length = 1,
        .server_name = is_server ? NULL : "localhost", .require_client_certificate = is_server && kind->mutual,
        .psk_ke = kind->psk_ke, .max_early_data = kind->early ? 16384 : 0,
        .psk_identity = psk_identity, .psk_key = psk_key, .psk_key_length = 32,
        .max_fragment = kind->needs & REPRISE_CAN_MAX_FRAGMENT ? 512 : 0, .release_buffers = (kind->needs & REPRISE_CAN_RELEASE_BUFFERS) != 0};
    if (kind->psk) return tls->context_new(&options, out);
    if (is_server) options.chain = chain, options.key = key;
    if (!is_server && kind->mutual) options.chain = client_chain, options.key = client_key;
    if (!is_server || kind->mutual) options.trust = trust;
    if (options.max_fragment || options.release_buffers) {
        options.psk_identity.length = 0;
        return tls->context_new(&options, out);
    }
    /* As a program has it that was built with an older header: what lies behind it is none of the plugin's business. */
    options.size = offsetof(reprise_options, psk_identity);
    if (!kind->psk_ke && !kind->early) {
        options.size = offsetof(reprise_options, psk_ke);
        options.psk_ke = -1, options.max_early_data = UINT32_MAX;
    }
    return tls->context_new(&options, out);
}

/* Moves all that one has to say to the other: how many bytes. */
static size_t deliver(reprise_connection *from, reprise_connection *to)
{
    uint8_t bytes[700]; /* no record begins where it does */
    size_t moved = 0;
    ptrdiff_t count, fed;
    while ((count = tls->take(from, sizeof bytes, bytes)) > 0) {
        for (ptrdiff_t at = 0; at < count; at += fed) {
            if ((fed = tls->feed(to, bytes + at, (size_t)(count - at))) > 0) continue;
            fed = 0; /* what is there already comes first */
            int state = tls->handshake(to);
            if (state != REPRISE_OK && state != REPRISE_WANT_READ) return moved;
        }
        moved += (size_t)count;
    }
    return moved;
}

/* As far as so many turns lead. REPRISE_OK: both are complete. */
static int shake_hands(reprise_connection *client, reprise_connection *server, int turns)
{
    int of_client = REPRISE_WANT_READ, of_server = REPRISE_WANT_READ;
    for (int turn = 0; turn < turns; turn++) {
        of_client = tls->handshake(client);
        size_t moved = deliver(client, server);
        of_server = tls->handshake(server);
        moved += deliver(server, client);
        if (of_client < REPRISE_CLOSED || of_server < REPRISE_CLOSED) return of_client < of_server ? of_client : of_server;
        if (!moved) break;
    }
    return of_client ? of_client : of_server;
}

static void expect_data(reprise_connection *from, reprise_connection *to, size_t length)
{
    static uint8_t data[40000], heard[sizeof data];
    size_t sent = 0, arrived = 0;
    for (size_t i = 0; i < length; i++) data[i] = (uint8_t)(i * 7 + length);
    while (sent < length || arrived < length) {
        ptrdiff_t count = sent < length ? tls->write(from, data + sent, length - sent) : 0;
        if (count < 0 && count != REPRISE_WANT_WRITE) fail("writing: %td", count);
        if (count > 0) sent += (size_t)count;
        size_t moved = deliver(from, to);
        while ((count = tls->read(to, length - arrived ? length - arrived : 1, heard + arrived)) > 0) arrived += (size_t)count;
        if (count != REPRISE_WANT_READ && !(count == REPRISE_WANT_WRITE && deliver(to, from))) fail("reading: %td", count);
        if (!moved && sent == length && arrived < length) fail("%zu bytes were sent, %zu arrived", sent, arrived);
    }
    if (memcmp(data, heard, length)) fail("other data arrived than was sent");
}

static reprise_connection *connection(reprise_context *context, const reprise_session *session)
{
    reprise_connection *made;
    int result = tls->connection_new(context, session, &made);
    if (result) fail("connection_new: %d", result);
    return made;
}

/* Facts as an older program asks for them, and as this one does. */
static void check_facts(const kind *kind, const reprise_connection *client, int resumes)
{
    struct { reprise_facts facts; uint8_t canary[8]; } at;
    memset(&at, 0x5a, sizeof at);
    at.facts.size = offsetof(reprise_facts, early_data);
    if (tls->facts(client, &at.facts)) fail("%s: facts", kind->name);
    if (at.facts.early_data != 0x5a) fail("%s: a field was written that the caller does not know", kind->name);
    at.facts.size = sizeof at.facts, at.facts.early_data = -1;
    if (tls->facts(client, &at.facts)) fail("%s: facts", kind->name);
    for (size_t i = 0; i < sizeof at.canary; i++)
        if (at.canary[i] != 0x5a) fail("%s: facts are written beyond their size", kind->name);
    if (at.facts.version != kind->version || at.facts.suite != kind->suite) fail("%s: another was negotiated", kind->name);
    int may_be_either = kind->psk && kind->version == 0x0304;
    if (at.facts.resumed >= 0 && at.facts.resumed != resumes && !may_be_either) fail("%s: resumed: %d", kind->name, at.facts.resumed);
    if (kind->early && at.facts.early_data != resumes) fail("%s: early data: %d", kind->name, at.facts.early_data);
}

/* One connection: what it leaves replaces the session. */
static void connect_once(const kind *kind, reprise_context *contexts[2], reprise_session **session)
{
    static const uint8_t early[] = "early";
    uint8_t bytes[8192];
    reprise_connection *client = connection(contexts[0], *session), *server = connection(contexts[1], NULL);
    int resumes = *session != NULL;
    ptrdiff_t written = resumes && kind->early ? tls->early_write(client, early, sizeof early) : (ptrdiff_t)sizeof early;
    if (written != sizeof early) fail("%s: early_write: %td", kind->name, written);
    int result = shake_hands(client, server, 20);
    if (result) fail("%s: %d", kind->name, result);
    check_facts(kind, client, resumes);
    if (resumes && kind->early
        && (tls->early_read(server, sizeof bytes, bytes) != sizeof early || memcmp(bytes, early, sizeof early))) fail("early_read");
    expect_data(client, server, 5);
    expect_data(server, client, 40000);
    if (kind->sessions) {
        reprise_session *newer;
        /* TLS 1.2 gives a session again only where it renews it. */
        if (!tls->session_take(client, &newer)) {
            tls->session_free(*session);
            *session = newer;
        } else if (!resumes) {
            fail("%s: it leaves no session", kind->name);
        }
        ptrdiff_t length = tls->session_export(*session, sizeof bytes, bytes);
        if (length > 0) {
            if (tls->session_import(contexts[0], bytes, (size_t)length, &newer)) fail("%s: session_import", kind->name);
            tls->session_free(*session);
            *session = newer;
            if (tls->session_export(newer, 3, bytes) != REPRISE_TOO_SMALL) fail("a session of %td bytes fits into 3", length);
        }
    }
    tls->close(client), deliver(client, server);
    ptrdiff_t heard = tls->read(server, sizeof bytes, bytes);
    if (heard == REPRISE_WANT_WRITE && deliver(server, client)) heard = tls->read(server, sizeof bytes, bytes);
    if (heard != REPRISE_CLOSED) fail("%s: close_notify is not heard: %td", kind->name, heard);
    tls->close(server), deliver(server, client);
    tls->connection_free(client), tls->connection_free(server);
}

/* What is cut off, and what is no TLS: nothing of it may be left. */
static void break_off(reprise_context *contexts[2])
{
    static const uint8_t nonsense[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    char words[256];
    for (int turns = 0; turns < 3; turns++) {
        reprise_connection *client = connection(contexts[0], NULL), *server = connection(contexts[1], NULL);
        shake_hands(client, server, turns);
        tls->connection_free(client), tls->connection_free(server);
    }
    for (int side = 0; side < 2; side++) {
        reprise_connection *one = connection(contexts[side], NULL);
        tls->handshake(one);
        tls->feed(one, nonsense, sizeof nonsense - 1);
        tls->feed(one, nonsense, sizeof nonsense - 1);
        if (tls->handshake(one) > REPRISE_UNSUPPORTED) fail("nonsense is taken for a handshake");
        tls->error_text(sizeof words, words);
        tls->connection_free(one);
    }
}

/* What is refused when it is made, or when it is met. */
static void refuse(const kind *kind)
{
    static const reprise_text no_key = {"-----BEGIN PRIVATE KEY-----\nno\n", 31}, no_root = {"-----BEGIN CERTIFICATE-----\nno\n", 31};
    reprise_context *none, *contexts[2];
    reprise_session *session;
    /* Not a chain of nonsense: of that GnuTLS 3.7 itself loses a part. */
    reprise_text honest = key;
    key = no_key;
    if (!context(kind, REPRISE_SERVER, root, &none)) fail("%s: nonsense is a key", kind->name);
    key = honest;
    if (!context(kind, REPRISE_CLIENT, no_root, &none)) fail("%s: nonsense is a root", kind->name);
    if (context(kind, REPRISE_CLIENT, client_chain, &contexts[0]) || context(kind, REPRISE_SERVER, root, &contexts[1])) fail("context");
    if (tls->session_import(contexts[0], (const uint8_t *)"no session", 10, &session) == REPRISE_OK) tls->session_free(session);
    reprise_connection *client = connection(contexts[0], NULL), *server = connection(contexts[1], NULL);
    if (shake_hands(client, server, 20) == REPRISE_OK) fail("%s: a stranger's certificate is trusted", kind->name);
    tls->connection_free(client), tls->connection_free(server);
    tls->context_free(contexts[0]), tls->context_free(contexts[1]);
    tls->context_free(NULL), tls->connection_free(NULL), tls->session_free(NULL);
}

/* A client with this identity and key, and a server with the usual ones. */
static void refuse_psk(const kind *kind, reprise_text identity, const char *other_key)
{
    reprise_text usual = psk_identity;
    const uint8_t *usual_key = psk_key;
    reprise_context *contexts[2];
    psk_identity = identity, psk_key = (const uint8_t *)other_key;
    int result = context(kind, REPRISE_CLIENT, root, &contexts[0]);
    psk_identity = usual, psk_key = usual_key;
    if (result || context(kind, REPRISE_SERVER, root, &contexts[1])) fail("context");
    reprise_connection *client = connection(contexts[0], NULL), *server = connection(contexts[1], NULL);
    if (shake_hands(client, server, 20) == REPRISE_OK) fail("%s: another's PSK is taken", kind->name);
    tls->connection_free(client), tls->connection_free(server);
    tls->context_free(contexts[0]), tls->context_free(contexts[1]);
}

/* Everything once, from nothing to nothing: how many handshakes. */
static unsigned long round_of_all(int announce)
{
    enum { CONNECTIONS = 4 };
    unsigned long handshakes = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const kind *kind = &kinds[i];
        reprise_context *contexts[2];
        reprise_session *session = NULL;
        if ((tls->capabilities & kind->needs) != kind->needs) continue;
        int result = context(kind, REPRISE_CLIENT, root, &contexts[0]);
        if (!result) result = context(kind, REPRISE_SERVER, root, &contexts[1]);
        if (result == REPRISE_UNSUPPORTED && kind->needs & REPRISE_CAN_MAX_FRAGMENT) continue; /* in this version */
        if (result) fail("%s: %d", kind->name, result);
        for (int n = 0; n < CONNECTIONS; n++, handshakes++) connect_once(kind, contexts, &session);
        break_off(contexts);
        tls->session_free(session);
        tls->context_free(contexts[0]), tls->context_free(contexts[1]);
        if (kind->psk) {
            refuse_psk(kind, psk_identity, "another key, which has 32 bytes.");
            refuse_psk(kind, (reprise_text){"stranger", 8}, (const char *)psk_key);
        } else {
            refuse(kind);
        }
        if (announce) printf("ok %s\n", kind->name);
    }
    return handshakes;
}

/* Both sides have the same secret, and another the next time. */
static void check_exchange(unsigned group, const uint8_t *first, ptrdiff_t length, const uint8_t *again, ptrdiff_t last)
{
    size_t half = (size_t)length / 2;
    if (length < 32 || length % 2 || memcmp(first, first + half, half)) fail("an exchange of %u comes to two secrets", group);
    if (last == length && !memcmp(first, again, half)) fail("two exchanges of %u come to one secret", group);
}

/* Every operation that there is, by whatever algorithm the library has, and some that nobody has. */
static void operate(void)
{
    static const struct { int from, to; uint16_t algorithms[10]; size_t length; int repeats; } all[] = {
        {REPRISE_OP_SIGN, REPRISE_OP_VERIFY, {0x0403, 0x0503, 0x0804, 0x0807, 0x0904, 0xffff}, 32, 0},
        {REPRISE_OP_KEY_PAIR, REPRISE_OP_DECAPSULATE, {23, 24, 29, 256, 257, 513, 514, 4588, 0xffff}, 0, 0},
        {REPRISE_OP_SEAL, REPRISE_OP_OPEN, {0x1301, 0x1302, 0x1303, 0xffff}, 1000, 1},
        {REPRISE_OP_HASH, REPRISE_OP_PRF, {4, 5, 6, 0xffff}, 1000, 1},
        {REPRISE_OP_RANDOM, REPRISE_OP_RANDOM, {0xffff}, 32, 0},
        {REPRISE_OP_EXCHANGE, REPRISE_OP_EXCHANGE, {23, 24, 29, 256, 257, 513, 514, 4588, 0xffff}, 0, 0},
        {REPRISE_OP_VERIFY_NEW_KEY, REPRISE_OP_VERIFY_NEW_KEY, {0x0403, 0x0503, 0x0804, 0x0807, 0x0904, 0xffff}, 32, 0},
        {REPRISE_OP_HKDF_AFTER, REPRISE_OP_HKDF_AFTER + 1, {0x0403, 0x0804, 0x0807, 0xffff}, 32, 0},
    };
    static uint8_t first[1 << 14], again[1 << 14];
    const reprise_primitives *table = REPRISE_HAS(tls, primitives) ? tls->primitives : NULL;
    for (size_t i = 0; table && i < sizeof all / sizeof *all; i++)
        for (int operation = all[i].from; operation <= all[i].to; operation++)
            for (const uint16_t *algorithm = all[i].algorithms; *algorithm; algorithm++) {
                reprise_primitive_options options = {sizeof options, operation, *algorithm, all[i].length, key};
                reprise_primitive *primitive = NULL;
                int result = table->primitive_new(&options, &primitive);
                if (result) {
                    if (primitive) fail("operation %d of %u is not there and written", operation, *algorithm);
                    /* FAILED: it takes a signature or a tag that was changed. */
                    if (result != REPRISE_UNSUPPORTED) fail("operation %d of %u: %d", operation, *algorithm, result);
                    continue;
                }
                if (table->run(primitive, 1)) fail("operation %d of %u", operation, *algorithm);
                ptrdiff_t length = table->output(primitive, sizeof first, first);
                if (table->run(primitive, 40)) fail("operation %d of %u, again", operation, *algorithm);
                /* A signature of ECDSA is not always as long. */
                ptrdiff_t last = table->output(primitive, sizeof again, again);
                if (last < 0 || length < 0) fail("output of operation %d of %u", operation, *algorithm);
                if (all[i].repeats && (last != length || memcmp(first, again, (size_t)length))) fail("operation %d of %u comes to something else", operation, *algorithm);
                if (operation == REPRISE_OP_EXCHANGE) check_exchange(*algorithm, first, length, again, last);
                if (last && table->output(primitive, (size_t)last - 1, again) != REPRISE_TOO_SMALL) fail("output has no room");
                table->primitive_free(primitive);
            }
    if (table) table->primitive_free(NULL);
}

int main(int count, char **arguments)
{
    if (count != 7) {
        fputs("usage: exercise HANDSHAKES ROOT CHAIN KEY CLIENT_CHAIN CLIENT_KEY\n", stderr);
        return 2;
    }
    unsigned long wanted = strtoul(arguments[1], NULL, 10), made = 0;
    reprise_text *files[] = {&root, &chain, &key, &client_chain, &client_key};
    for (int i = 0; i < 5; i++) *files[i] = read_file(arguments[i + 2]);
    tls = reprise_stack_v1();
    if (tls->abi != REPRISE_STACK_ABI || tls->init()) return 2;
    operate();
    /* What is made once a process, and what the library's own caches hold. */
    for (unsigned long warm = 0; warm < 2 || made < wanted / 4; warm++) made += round_of_all(!warm);
    size_t before = mallinfo2().uordblks;
    unsigned long warmed_up = made;
    for (made = 0; made < wanted;) made += round_of_all(0);
    long long growth = (long long)mallinfo2().uordblks - (long long)before;
    printf("%s %s: %lu handshakes after %lu, %lld bytes more are in use\n", tls->name, tls->version, made, warmed_up, growth);
    for (int i = 0; i < 5; i++) free((char *)files[i]->data);
    /* The smallest block of memory is 24 bytes: if every tenth handshake lost one, it would be more. */
    int is_lost = growth > 2 * (long long)made + 512;
    if (is_lost) fputs("memory is lost\n", stderr);
    return is_lost ? 3 : 0;
}
