/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See service.h. */
#include "reprise/service.h"

enum { HANDSHAKE, REQUEST, RESPONSE, FLUSH, CLOSE, ENDED };

/* What advance() returns where something was read while a response waits to be sent. */
enum { READ_AHEAD = 1 };

static const char fixed_response[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n"
                                     "\r\nHello\n";
static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

static int advance(reprise_connection *connection);
static int read_request(reprise_connection *connection);
static int read_more(reprise_connection *connection);
static void answer(reprise_connection *connection, bool complete);
static void respond(reprise_connection *connection, const char *bytes, size_t len);
static int write_response(reprise_connection *connection);
static bool is_late(const reprise_connection *connection, uint32_t now);

static size_t head_max(const reprise_service *service)
{
    return service->head_max != 0 ? service->head_max : 1024;
}

size_t reprise_connection_size(const reprise_service *service)
{
    return service->tls->connection_size + head_max(service);
}

int reprise_connection_begin(reprise_connection *connection, const reprise_service *service, void *memory,
                             reprise_socket socket, uint32_t now)
{
    connection->service = service;
    connection->tls = memory;
    connection->began = connection->moved = now;
    connection->state = HANDSHAKE;
    connection->close_after = false;
    connection->out_len = connection->body_len = 0;
    reprise_http_begin(&connection->http, (char *)memory + service->tls->connection_size, head_max(service));
    return service->tls->accept(memory, service->server, socket);
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
    const reprise_service *service = connection->service;
    reprise_http *http = &connection->http;
    if (service->handler == NULL) {
        int taken = service->tls->read(connection->tls, (uint8_t *)http->input, http->input_size);
        if (taken < 0) {
            return taken;
        }
        connection->close_after = true;
        respond(connection, fixed_response, sizeof fixed_response - 1);
        return REPRISE_OK;
    }
    switch (reprise_http_next(http, service->body_max)) {
    case REPRISE_HTTP_MORE:
        if (http->head > 0 && http->expects) {
            http->expects = false;
            respond(connection, go_on, sizeof go_on - 1);
            return REPRISE_OK;
        }
        return read_more(connection);
    case REPRISE_HTTP_PIECE:
        answer(connection, false);
        return REPRISE_OK;
    default:
        answer(connection, true);
        return REPRISE_OK;
    }
}

/* Behind what is there: one more byte at least, if there is room. */
static int read_more(reprise_connection *connection)
{
    reprise_http *http = &connection->http;
    int taken = connection->service->tls->read(connection->tls, (uint8_t *)http->input + http->input_len,
                                               http->input_size - http->input_len);
    http->input_len += taken > 0 ? (size_t)taken : 0;
    return taken < 0 ? taken : REPRISE_OK;
}

/* What the handler says; before the request is complete, that may be nothing. */
static void answer(reprise_connection *connection, bool complete)
{
    reprise_http *http = &connection->http;
    reprise_http_response response = {http->status, NULL, NULL, 0};
    if (http->status == 0) {
        connection->service->handler(connection->service->context, &http->request, &response);
        if (response.status == 0 && !complete) {
            return;
        }
        response.status = response.status != 0 ? response.status : 404;
    }
    bool has_body = reprise_http_respond(http, &response);
    connection->close_after = http->close;
    connection->body = response.body;
    connection->body_len = has_body ? response.body_len : 0;
    respond(connection, http->output, http->output_len);
}

static void respond(reprise_connection *connection, const char *bytes, size_t len)
{
    connection->out = bytes;
    connection->out_len = len;
    connection->state = RESPONSE;
}

static int write_response(reprise_connection *connection)
{
    const reprise_tls_backend *tls = connection->service->tls;
    const char **bytes = connection->out_len > 0 ? &connection->out : &connection->body;
    size_t *len = connection->out_len > 0 ? &connection->out_len : &connection->body_len;
    int sent = tls->write(connection->tls, (const uint8_t *)*bytes, *len);
    if (sent == REPRISE_WOULD_BLOCK) {
        /*
         * A library with one buffer for both directions cannot write while what it received waits to be read. Pipelined
         * requests are read ahead as far as there is room; what is beyond that is dropped, and the connection ends here.
         */
        reprise_http *http = &connection->http;
        if (connection->close_after || http->input_len == http->input_size) {
            uint8_t dropped[64];
            int taken = tls->read(connection->tls, dropped, sizeof dropped);
            connection->close_after |= taken > 0;
            return taken < 0 ? taken : READ_AHEAD;
        }
        int result = read_more(connection);
        return result < 0 ? result : READ_AHEAD;
    }
    if (sent < 0) {
        return sent;
    }
    *bytes += sent;
    *len -= (size_t)sent;
    if (connection->out_len + connection->body_len == 0) {
        connection->state = FLUSH;
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
