/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * In the place of BearSSL: a stack that is stuck, in the way that the first letter of its key says. What the host does about
 * it is tested with this.
 */
#include <stddef.h>

#include "reprise/tls_server.h"

enum { STEPS = 's', COMPUTES = 'c', WRITES = 'w' };

struct connection {
    char way;
    reprise_socket socket;
};

static int start(void *server, const reprise_tls_config *config)
{
    *(char *)server = config->key[0];
    return REPRISE_OK;
}

static int accept(void *memory, void *server, reprise_socket socket)
{
    struct connection *connection = memory;
    connection->way = *(char *)server;
    connection->socket = socket;
    return REPRISE_OK;
}

static int handshake(void *memory)
{
    const struct connection *connection = memory;
    while (connection->way != STEPS) {
        if (connection->way == WRITES) {
            connection->socket.write(connection->socket.context, (const uint8_t *)"more", 4);
        }
    }
    return REPRISE_OK;
}

static int read(void *connection, uint8_t *bytes, size_t len)
{
    (void)connection, (void)len;
    bytes[0] = 0;
    return 1;
}

/* Nothing is written, and nothing is said to be in the way of it. */
static int write(void *connection, const uint8_t *bytes, size_t len)
{
    (void)connection, (void)bytes, (void)len;
    return 0;
}

static int finish(void *connection)
{
    (void)connection;
    return REPRISE_OK;
}

static void end(void *memory)
{
    (void)memory;
}

static void facts(const void *connection, reprise_tls_facts *facts)
{
    (void)connection;
    facts->version = facts->suite = 0;
    facts->resumed = false;
}

const reprise_tls_backend reprise_bearssl = {
    .name = "stuck",
    .server_size = sizeof(char),
    .connection_size = sizeof(struct connection),
    .start = start,
    .stop = end,
    .accept = accept,
    .handshake = handshake,
    .read = read,
    .write = write,
    .flush = finish,
    .close = finish,
    .end = end,
    .facts = facts,
};
