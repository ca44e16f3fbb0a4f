/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See service.h. */
#include "reprise/service.h"

enum { HANDSHAKE, REQUEST, RESPONSE, FLUSH, CLOSE, ENDED };

/* What advance() returns where something was read while a response waits to be sent. */
enum { READ_AHEAD = 1 };

static const char fixed_response[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n"
                                     "\r\nHello\n";

static int advance(reprise_connection *connection);
static int read_request(reprise_connection *connection);
static int write_response(reprise_connection *connection);
static bool is_late(const reprise_connection *connection, uint32_t now);

int reprise_connection_begin(reprise_connection *connection, const reprise_service *service, void *tls_memory,
                             reprise_socket socket, uint32_t now)
{
    connection->service = service;
    connection->tls = tls_memory;
    connection->began = connection->moved = now;
    connection->state = HANDSHAKE;
    connection->close_after = false;
    connection->requests = 0;
    connection->head_len = connection->body_len = 0;
    reprise_http_begin(&connection->http);
    return service->tls->accept(tls_memory, service->server, socket);
}

reprise_step reprise_connection_step(reprise_connection *connection, uint32_t now)
{
    int result = is_late(connection, now) ? REPRISE_ERROR : advance(connection);
    if (result == REPRISE_WOULD_BLOCK) {
        return REPRISE_WAITING;
    }
    if (result < 0 || connection->state == ENDED) {
        reprise_connection_abort(connection);
        return REPRISE_DONE;
    }
    /* A peer that sends and does not read is idle all the same. */
    if (result != READ_AHEAD) {
        connection->moved = now;
    }
    return REPRISE_MOVED;
}

bool reprise_connection_is_ready(const reprise_connection *connection)
{
    return connection->state != HANDSHAKE;
}

void reprise_connection_abort(reprise_connection *connection)
{
    connection->service->tls->end(connection->tls);
    connection->state = ENDED;
}

/* One thing: REPRISE_OK if it was done, or READ_AHEAD. */
static int advance(reprise_connection *connection)
{
    const reprise_tls_backend *tls = connection->service->tls;
    int result;
    switch (connection->state) {
    case HANDSHAKE:
        result = tls->handshake(connection->tls);
        connection->state = result == REPRISE_OK ? REQUEST : HANDSHAKE;
        return result;
    case REQUEST:
        return read_request(connection);
    case RESPONSE:
        return write_response(connection);
    case FLUSH:
        result = tls->flush(connection->tls);
        connection->state = result != REPRISE_OK ? FLUSH : connection->close_after ? CLOSE : REQUEST;
        return result;
    default:
        result = tls->close(connection->tls);
        connection->state = result == REPRISE_OK ? ENDED : CLOSE;
        return result;
    }
}

static int read_request(reprise_connection *connection)
{
    const reprise_tls_backend *tls = connection->service->tls;
    reprise_http_request *http = &connection->http;
    if (connection->service->answer == REPRISE_FIXED) {
        int taken = tls->read(connection->tls, http->input, sizeof http->input);
        if (taken < 0) {
            return taken;
        }
        connection->head = fixed_response;
        connection->head_len = sizeof fixed_response - 1;
        connection->close_after = true;
        connection->state = RESPONSE;
        return REPRISE_OK;
    }
    if (!reprise_http_parse(http)) {
        /* The parser leaves room unless it has a request. */
        int taken = tls->read(connection->tls, http->input + http->input_len, sizeof http->input - http->input_len);
        if (taken > 0) {
            http->input_len = (uint16_t)(http->input_len + taken);
        }
        return taken < 0 ? taken : REPRISE_OK;
    }
    connection->close_after = http->close;
    reprise_http_response(http, &connection->head, &connection->head_len, &connection->body, &connection->body_len);
    connection->state = RESPONSE;
    return REPRISE_OK;
}

static int write_response(reprise_connection *connection)
{
    const reprise_tls_backend *tls = connection->service->tls;
    bool head = connection->head_len > 0;
    int sent = tls->write(connection->tls, (const uint8_t *)(head ? connection->head : connection->body),
                          head ? connection->head_len : connection->body_len);
    if (sent == REPRISE_WOULD_BLOCK) {
        /*
         * A library with one buffer for both directions cannot write while what it received waits to be read. Pipelined
         * requests are read ahead as far as there is room; what is beyond that is dropped, and the connection ends here.
         */
        reprise_http_request *http = &connection->http;
        size_t room = sizeof http->input - http->input_len;
        int taken = tls->read(connection->tls, room > 0 ? http->input + http->input_len : http->input,
                              room > 0 ? room : sizeof http->input);
        if (taken > 0 && room > 0 && !connection->close_after) {
            http->input_len = (uint16_t)(http->input_len + taken);
        } else if (taken > 0) {
            connection->close_after = true;
        }
        return taken < 0 ? taken : READ_AHEAD;
    }
    if (sent < 0) {
        return sent;
    }
    if (head) {
        connection->head += sent;
        connection->head_len -= (size_t)sent;
    } else {
        connection->body += sent;
        connection->body_len -= (size_t)sent;
    }
    if (connection->head_len + connection->body_len == 0) {
        connection->requests++;
        connection->state = FLUSH;
        reprise_http_request *http = &connection->http;
        http->status = 0;
    }
    return REPRISE_OK;
}

static bool is_late(const reprise_connection *connection, uint32_t now)
{
    const reprise_service *service = connection->service;
    bool slow = connection->state == HANDSHAKE && service->handshake_ms != 0
                && now - connection->began >= service->handshake_ms;
    bool idle = service->idle_ms != 0 && now - connection->moved >= service->idle_ms;
    return slow || idle;
}
