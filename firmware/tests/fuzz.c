/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What fuzzing calls: the session cache against its model, a connection with pieces of any size, and what is read of a ClientHello.
 *
 *     clang -fsanitize=fuzzer,address,undefined …     libFuzzer drives it (make fuzz)
 *     gcc -DREPLAY -fsanitize=address,undefined …     20,000 inputs of a seeded generator, on any compiler (make check)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_hello.h"
#include "reprise/service.h"
#include "session_cache_model.h"

struct input {
    const uint8_t *bytes;
    size_t len;
};

static uint8_t next(void *context)
{
    struct input *input = context;
    if (input->len == 0) {
        return 0;
    }
    input->len--;
    return *input->bytes++;
}

/* --- a server over a TLS library that is none: it reads the input in pieces, and writes now and then --- */

static int accept(void *memory, void *input, reprise_socket socket)
{
    (void)socket;
    memcpy(memory, &input, sizeof input);
    return REPRISE_OK;
}

static int done(void *memory)
{
    (void)memory;
    return REPRISE_OK;
}

static void end(void *memory)
{
    (void)memory;
}

static int read_piece(void *memory, uint8_t *bytes, size_t len)
{
    struct input *input = *(struct input **)memory;
    size_t part = 1 + next(input) % 64;
    if (len == 0) {
        abort();
    }
    part = part < input->len ? part : input->len;
    part = part < len ? part : len;
    memcpy(bytes, input->bytes, part);
    input->bytes += part, input->len -= part;
    return part > 0 ? (int)part : REPRISE_CLOSED;
}

static int write_piece(void *memory, const uint8_t *bytes, size_t len)
{
    struct input *input = *(struct input **)memory;
    uint8_t choice = next(input);
    for (size_t index = 0; index < len; index++) {
        if (bytes[index] == 0) {
            abort();
        }
    }
    return choice % 8 == 7 && input->len > 0 ? REPRISE_WOULD_BLOCK : choice % 8 == 6 ? 1 : (int)len;
}

static void answer(void *context, reprise_http_request *request, reprise_http_response *response)
{
    size_t len = 0;
    const char *value = reprise_http_header(request, "connection", &len);
    (void)context;
    if (strlen(request->method) == 0 || request->path[0] != '/' || (value != NULL && value + len > request->headers + request->headers_len)) {
        abort();
    }
    for (size_t index = 0; index < request->body_len; index++) {
        /* One of them ends the request before its end. */
        response->status = request->body[index] == 'x' ? 400 : response->status;
    }
    if (request->body == NULL && request->path[1] != 0) {
        response->status = 200, response->headers = "a: b\r\n", response->body = request->path[1] == 'l' ? "long" : "", response->body_len = request->path[1] == 'l' ? 4 : 0;
    }
}

static void serve(struct input input)
{
    static const reprise_tls_backend plain = {.connection_size = sizeof(void *), .accept = accept, .handshake = done,
        .read = read_piece, .write = write_piece, .flush = done, .close = done, .end = end};
    reprise_service service = {.tls = &plain, .server = &input, .handler = answer, .head_max = 200, .body_max = 1000};
    reprise_connection connection;
    reprise_socket socket = {NULL, NULL, NULL};
    void *memory = malloc(reprise_connection_size(&service));
    reprise_connection_begin(&connection, &service, memory, socket, 0);
    int steps = 0;
    while (reprise_connection_step(&connection, 0) != REPRISE_DONE) {
        if (++steps > 100000) {
            abort();
        }
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct input input = {bytes, len};
    if (len < 2) {
        return 0;
    }
    size_t slots = next(&input) % 9;
    if (session_cache_differs((uint32_t)(input.len / 3), slots, next, &input) != 0) {
        abort();
    }
    input.bytes = bytes, input.len = len;
    serve(input);
    reprise_client_hello hello;
    if (reprise_client_hello_read(&hello, bytes, len)
        && (hello.name < bytes || hello.name + hello.name_len > bytes + len)) {
        abort();
    }
    return 0;
}

#ifdef REPLAY
/* Random bytes seldom look like HTTP: pieces of it are put between them. */
int main(void)
{
    static const char *const pieces[] = {"GET / HTTP/1.1\r\n", "HEAD /x HTTP/1.0\r\n", "\r\n\r\n", "Connection: close\r\n",
                                         "Content-Length: 9\r\n", "\r\nPOST /long HTTP/1.1\r\n", "\n", " HTTP/1.1"};
    uint32_t state = 1;
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[2048];
        size_t len = 0;
        while (len < sizeof bytes - 64) {
            state = state * 1664525u + 1013904223u;
            if ((state >> 16) % 4 == 0) {
                const char *piece = pieces[(state >> 24) % 8];
                memcpy(bytes + len, piece, strlen(piece));
                len += strlen(piece);
            } else {
                bytes[len++] = (uint8_t)(state >> 24);
            }
            if ((state >> 8) % 300 == 0) {
                break;
            }
        }
        LLVMFuzzerTestOneInput(bytes, len);
    }
    puts("fuzz: 20000 inputs replayed");
    return 0;
}
#endif
