/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One connection of the server, over a TLS library that is none: when it is dropped. Built with -fsanitize=address,undefined. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "reprise/service.h"

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
    reprise_service service = {.tls = &plain, .answer = REPRISE_HTTP, .handshake_ms = 1000, .idle_ms = 1000};
    reprise_connection connection;
    reprise_socket socket = {NULL, NULL, NULL};
    incoming = sent;
    peer_reads = reads;
    assert(reprise_connection_begin(&connection, &service, NULL, socket, 0) == REPRISE_OK);
    for (uint32_t now = 0; now < 100000; now++) {
        if (reprise_connection_step(&connection, now) == REPRISE_DONE) {
            assert(ended == 1);
            return now;
        }
    }
    return 0;
}

int main(void)
{
    const char *request = "GET / HTTP/1.1\r\n\r\n";
    assert(dropped_at("", true) == 1000);
    assert(dropped_at(request, true) == 0);
    /* It sends without end, and reads nothing: the response waits, and its time runs. */
    uint32_t dropped = dropped_at(request, false);
    assert(dropped >= 1000 && dropped < 1100);
    puts("service: all tests passed");
    return 0;
}
