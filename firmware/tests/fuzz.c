/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What fuzzing calls: the session cache against its model, the HTTP parser with pieces of any size, and what is read of a ClientHello.
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

static void parse(struct input input)
{
    reprise_http_request request;
    reprise_http_begin(&request);
    while (input.len > 0) {
        if (reprise_http_parse(&request)) {
            const char *head, *body;
            size_t head_len, body_len;
            reprise_http_response(&request, &head, &head_len, &body, &body_len);
            if (head_len == 0 || request.status < 200 || request.status > 599) {
                abort();
            }
            if (request.close) {
                return;
            }
            request.status = 0;
            continue;
        }
        size_t part = 1 + next(&input) % 64, room = sizeof request.input - request.input_len;
        part = part < input.len ? part : input.len;
        part = part < room ? part : room;
        memcpy(request.input + request.input_len, input.bytes, part);
        request.input_len = (uint16_t)(request.input_len + part);
        input.bytes += part;
        input.len -= part;
    }
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
    parse(input);
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
                                         "Content-Length: 0\r\n", ": ", "\n", " HTTP/1.1"};
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
