/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What fuzzing calls of a server with its TLS library: one connection, to which the input is what a client sends, in pieces. Its
 * first byte says what stands before the rest: nothing, or a ClientHello that the server answers, so that the rest is read as the
 * client's second flight. A server has one key and the same random numbers for each input.
 *
 *     make fuzz-tls STACK=bearssl FUZZ_SECONDS=60     needs clang; finds are written as files
 *     make check-tls STACK=bearssl                    2,000 inputs of a seeded generator, with any compiler
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise/tls_server.h"

enum { P256 = 1, SMALL_PIECES = 2, AFTER_HELLO = 4, LONGEST = 20000 };

/* A ClientHello of TLS 1.2: ECDHE with ECDSA and RSA, AES-128-GCM, secp256r1, a session ID, a name, EMS, an empty ticket. */
static const uint8_t hello[] = {
    0x16, 0x03, 0x01, 0x00, 0x8c, 0x01, 0x00, 0x00, 0x88, 0x03, 0x03,                                     /* record, message */
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
    32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
    0x00, 0x04, 0xc0, 0x2b, 0xc0, 0x2f, 0x01, 0x00, 0x00, 0x3b,                                           /* suites, extensions */
    0x00, 0x00, 0x00, 0x12, 0x00, 0x10, 0x00, 0x00, 0x0d, 'b', 'o', 'a', 'r', 'd', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e',
    0x00, 0x0a, 0x00, 0x04, 0x00, 0x02, 0x00, 0x17,                                                       /* supported_groups */
    0x00, 0x0b, 0x00, 0x02, 0x01, 0x00,                                                                   /* ec_point_formats */
    0x00, 0x0d, 0x00, 0x06, 0x00, 0x04, 0x04, 0x03, 0x04, 0x01,                                           /* signature_algorithms */
    0x00, 0x17, 0x00, 0x00, 0x00, 0x23, 0x00, 0x00, 0xff, 0x01, 0x00, 0x01, 0x00,
};

struct client {
    uint8_t said[sizeof hello + LONGEST];
    size_t len, at, piece;
    size_t heard;
};

static int say(void *context, uint8_t *bytes, size_t len)
{
    struct client *client = context;
    size_t there = client->len - client->at;
    if (there == 0) {
        return REPRISE_CLOSED;
    }
    size_t part = there < client->piece ? there : client->piece;
    part = part < len ? part : len;
    memcpy(bytes, client->said + client->at, part);
    client->at += part;
    return (int)part;
}

static int hear(void *context, const uint8_t *bytes, size_t len)
{
    struct client *client = context;
    (void)bytes;
    client->heard += len;
    return (int)len;
}

static uint64_t drawn;

/* SplitMix64: the same numbers for each input. */
static uint64_t draw(void)
{
    uint64_t z = drawn += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int random_bytes(void *context, uint8_t *bytes, size_t len)
{
    (void)context;
    for (size_t at = 0; at < len; at++) {
        bytes[at] = (uint8_t)draw();
    }
    return REPRISE_OK;
}

static uint32_t seconds(void *context)
{
    (void)context;
    return 1;
}

static void read_pem(const char *name, char *text, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", KEYS, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static void *server_with(const char *certificate, const char *key, reprise_tls_config *config, char pem[2][8192])
{
    static reprise_session_slot slots[2][4];
    static reprise_session_cache caches[2];
    static int count;
    read_pem(certificate, pem[0], sizeof pem[0]);
    read_pem(key, pem[1], sizeof pem[1]);
    reprise_session_cache_init(&caches[count], slots[count], 4, 60);
    *config = (reprise_tls_config){
        .certificates = pem[0], .certificates_len = strlen(pem[0]), .key = pem[1], .key_len = strlen(pem[1]),
        .random = random_bytes, .seconds = seconds, .cache = &caches[count],
    };
#if REPRISE_SESSION_TICKETS
    static reprise_session_tickets tickets[2];
    reprise_session_tickets_init(&tickets[count], 60);
    config->tickets = &tickets[count];
#endif
    count++;
    void *server = calloc(1, REPRISE_STACK.server_size);
    if (server == NULL || REPRISE_STACK.start(server, config) != REPRISE_OK) {
        fputs("the server does not start\n", stderr);
        exit(2);
    }
    return server;
}

static void converse(void *connection)
{
    uint8_t page[256];
    if (REPRISE_STACK.handshake(connection) != REPRISE_OK) {
        return;
    }
    while (REPRISE_STACK.read(connection, page, sizeof page) > 0) {
        REPRISE_STACK.write(connection, page, sizeof page);
    }
    REPRISE_STACK.close(connection);
}

static struct client client;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static void *servers[2];
    static reprise_tls_config configs[2];
    static char pem[2][2][8192];
    if (servers[0] == NULL) {
        servers[0] = server_with("rsa1024.crt", "rsa1024.key", &configs[0], pem[0]);
        servers[1] = server_with("p256.crt", "p256.key", &configs[1], pem[1]);
    }
    if (len == 0 || len > LONGEST) {
        return 0;
    }
    size_t before = bytes[0] & AFTER_HELLO ? sizeof hello : 0;
    memcpy(client.said, hello, before);
    memcpy(client.said + before, bytes + 1, len - 1);
    client.len = before + len - 1;
    client.at = client.heard = 0;
    client.piece = bytes[0] & SMALL_PIECES ? 1 + (size_t)(bytes[0] >> 3) : sizeof client.said;
    drawn = 1;
    void *connection = malloc(REPRISE_STACK.connection_size);
    reprise_socket socket = {.read = say, .write = hear, .context = &client};
    if (connection != NULL && REPRISE_STACK.accept(connection, servers[bytes[0] & P256], socket) == REPRISE_OK) {
        converse(connection);
        REPRISE_STACK.end(connection);
    }
    free(connection);
    return 0;
}

#ifdef REPLAY
/* Inputs that are almost what a client sends: bytes of the hello, some of which are others, in records that end anywhere. */
int main(void)
{
    enum { INPUTS = 2000 };
    static uint8_t input[1 + 2 * sizeof hello];
    uint64_t state = 7;
    for (uint8_t key = 0; key < 2; key++) {
        uint8_t plain = AFTER_HELLO | key;
        LLVMFuzzerTestOneInput(&plain, 1);
        if (client.heard < 400) {
            fputs("the server does not answer the hello\n", stderr);
            return 1;
        }
    }
    for (int count = 0; count < INPUTS; count++) {
        drawn = state;
        size_t len = 1 + draw() % (sizeof input - 1);
        input[0] = (uint8_t)draw();
        for (size_t at = 1; at < sizeof input; at++) {
            input[at] = draw() % 64 == 0 ? (uint8_t)draw() : hello[(at - 1) % sizeof hello];
        }
        state = draw();
        LLVMFuzzerTestOneInput(input, len);
    }
    printf("%s: %d inputs\n", REPRISE_STACK.name, INPUTS);
    return 0;
}
#endif
