/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One connection of the server, over a TLS library that is none: when it is dropped. Built with -fsanitize=address,undefined. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "page.h"

static const char *incoming; /* what the peer sends, over and over; "": nothing */
static size_t incoming_at;
static bool peer_reads;
static int ended;

static int accept(void *connection, void *server, reprise_socket socket)
{
    (void)connection, (void)server, (void)socket;
    incoming_at = 0;
    ended = 0;
    return REPRISE_OK;
}

static int done(void *connection)
{
    (void)connection;
    return REPRISE_OK;
}

static int read(void *connection, uint8_t *bytes, size_t len)
{
    (void)connection, (void)len;
    size_t all = strlen(incoming);
    if (all == 0) {
        return REPRISE_WOULD_BLOCK;
    }
    *bytes = (uint8_t)incoming[incoming_at++ % all];
    return 1;
}

static int write(void *connection, const uint8_t *bytes, size_t len)
{
    (void)connection, (void)bytes;
    return peer_reads ? (int)len : REPRISE_WOULD_BLOCK;
}

static void end(void *connection)
{
    (void)connection;
    ended++;
}

static const reprise_tls_backend plain = {
    .name = "none", .accept = accept, .handshake = done, .read = read, .write = write, .flush = done, .close = done, .end = end};

/* One step a millisecond: at which the connection was dropped; 0 if it lives on after 100,000. */
static uint32_t dropped_at(const char *sent, bool reads)
{
    reprise_service service = {.tls = &plain, .handler = reprise_page, .handshake_ms = 1000, .idle_ms = 1000};
    reprise_connection connection;
    reprise_socket socket = {NULL, NULL, NULL};
    char memory[1024];
    incoming = sent;
    peer_reads = reads;
    assert(reprise_connection_begin(&connection, &service, memory, socket, 0) == REPRISE_OK);
    for (uint32_t now = 0; now < 100000; now++) {
        if (reprise_connection_step(&connection, now) == REPRISE_DONE) {
            assert(ended == 1);
            return now;
        }
    }
    return 0;
}

/* --- one buffer for both directions: nothing is written while something that came waits to be read --- */

static char outgoing[8192];

static int read_once(void *connection, uint8_t *bytes, size_t len)
{
    (void)connection;
    size_t part = strlen(incoming) < len ? strlen(incoming) : len;
    memcpy(bytes, incoming, part);
    incoming += part;
    return part > 0 ? (int)part : REPRISE_WOULD_BLOCK;
}

static int write_after(void *connection, const uint8_t *bytes, size_t len)
{
    (void)connection;
    if (*incoming != 0) {
        return REPRISE_WOULD_BLOCK;
    }
    strncat(outgoing, (const char *)bytes, len);
    return (int)len;
}

static void count_bytes(void *context, reprise_http_request *request, reprise_http_response *response)
{
    (void)context;
    request->state = (char *)request->state + request->body_len;
    if (request->body == NULL) {
        response->status = (size_t)(uintptr_t)request->state == request->length ? 200 : 500;
    } else if (*request->body == '!') {
        response->status = 403;
    }
}

/* How often `wanted` is in what is answered to `sent`, until nothing more comes. */
static int times(const char *sent, const char *wanted, uint16_t head_max)
{
    reprise_tls_backend half = plain;
    half.read = read_once, half.write = write_after;
    reprise_service service = {.tls = &half, .handler = count_bytes, .head_max = head_max, .body_max = 5000};
    reprise_connection connection;
    reprise_socket socket = {NULL, NULL, NULL};
    char memory[2000];
    int count = 0;
    assert(reprise_connection_size(&service) <= sizeof memory);
    assert(reprise_connection_begin(&connection, &service, memory, socket, 0) == REPRISE_OK);
    incoming = sent;
    *outgoing = 0;
    while (reprise_connection_step(&connection, 0) == REPRISE_MOVED) {
    }
    for (const char *at = outgoing; (at = strstr(at, wanted)) != NULL; at++) {
        count++;
    }
    return count;
}

static void answers(void)
{
    char text[8192] = "";
    for (int request = 0; request < 20; request++) {
        strcat(text, "GET / HTTP/1.1\r\nHost: board.example\r\n\r\n");
    }
    assert(times(text, "HTTP/1.1 200 ", 0) == 20);
    /* With less room, those that do not fit are not answered, and the connection ends. */
    int answered = times(text, "HTTP/1.1 200 ", 200);
    assert(answered >= 1 && answered < 20);
    sprintf(text, "GET / HTTP/1.1\r\nCookie: %0300d\r\n\r\n", 7);
    assert(times(text, "HTTP/1.1 200 ", 0) == 1 && times(text, "HTTP/1.1 431 ", 256) == 1);
    sprintf(text, "POST / HTTP/1.1\r\nContent-Length: 3000\r\nExpect: 100-continue\r\n\r\n");
    assert(times(text, "HTTP/1.1 100 Continue\r\n\r\n", 0) == 1 && times(text, "HTTP/1.1 200 ", 0) == 0);
    sprintf(text + strlen(text), "%03000dGET / HTTP/1.1\r\n\r\n", 7);
    assert(times(text, "HTTP/1.1 100 ", 0) == 0 && times(text, "HTTP/1.1 200 ", 0) == 2);
    *strstr(text, "0000") = '!';
    assert(times(text, "HTTP/1.1 403 ", 0) == 1 && times(text, "Connection: close", 0) == 1 && times(text, "HTTP/1.1 ", 0) == 1);
}

int main(void)
{
    const char *request = "GET / HTTP/1.1\r\n\r\n";
    assert(dropped_at("", true) == 1000);
    assert(dropped_at(request, true) == 0);
    /* It sends without end, and reads nothing: the response waits, and its time runs. */
    uint32_t dropped = dropped_at(request, false);
    assert(dropped >= 1000 && dropped < 1100);
    answers();
    puts("service: all tests passed");
    return 0;
}
