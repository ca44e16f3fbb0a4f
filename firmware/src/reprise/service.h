/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What an HTTPS server on a microcontroller does with one connection, step by step and without waiting: handshake, requests,
 * responses, close_notify. Any number of connections take turns; none holds up another.
 *
 *     reprise_service service = {&reprise_bearssl, server, REPRISE_HTTP, 10000, 5000};
 *     reprise_connection_begin(&connection, &service, memory, socket, now);
 *     for (;;) {
 *         if (reprise_connection_step(&connection, now) == REPRISE_DONE) { ...close the socket, reuse the memory... }
 *     }
 */
#ifndef REPRISE_SERVICE_H
#define REPRISE_SERVICE_H

#include "reprise/tls_server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two kinds of server. */
typedef enum {
    REPRISE_FIXED, /* answers whatever comes first with one response, and closes */
    REPRISE_HTTP   /* HTTP/1.1: GET and HEAD of "/", 404 for other paths, keep-alive, pipelining */
} reprise_answer;

typedef struct {
    const reprise_tls_backend *tls;
    void *server; /* started */
    reprise_answer answer;
    uint32_t handshake_ms; /* a connection that has not finished its handshake by then is dropped; 0: never */
    uint32_t idle_ms;      /* one that neither sends a request nor takes its response for as long is dropped; 0: never */
} reprise_service;

/* What a step came to. */
typedef enum {
    REPRISE_MOVED,   /* something was done; more may be possible */
    REPRISE_WAITING, /* nothing can be done before the peer acts or time passes */
    REPRISE_DONE     /* the connection has ended and holds nothing any more */
} reprise_step;

/* Bytes of a request that may be read ahead: pipelined requests, and the longest line of a request. */
#ifndef REPRISE_HTTP_INPUT
#define REPRISE_HTTP_INPUT 256
#endif

/* How many bytes of headers a request may have. */
#ifndef REPRISE_HTTP_HEADERS
#define REPRISE_HTTP_HEADERS 8192
#endif

/* A request as far as it has been read. See http.c. */
typedef struct {
    uint8_t input[REPRISE_HTTP_INPUT];
    uint16_t input_len;
    uint16_t headers; /* bytes so far */
    uint16_t status;  /* of the response; 0 while nothing is wrong yet */
    bool in_headers;  /* the request line is done */
    bool head;        /* the method is HEAD */
    bool close;       /* the connection ends after the response */
    bool overrun;     /* the line is longer than `input`: what comes until its end is skipped */
} reprise_http_request;

typedef struct {
    const reprise_service *service;
    void *tls; /* the backend's connection */
    const char *head, *body; /* what is still to be sent of the response */
    size_t head_len, body_len;
    uint32_t began, moved; /* milliseconds */
    uint8_t state;
    bool close_after;
    uint32_t requests; /* answered */
    reprise_http_request http;
} reprise_connection;

/*
 * Begins a connection in `tls_memory`, of the backend's connection_size, at `now` (milliseconds; they may wrap around).
 * REPRISE_OK, or REPRISE_ERROR: then there is nothing to step.
 */
int reprise_connection_begin(reprise_connection *connection, const reprise_service *service, void *tls_memory,
                             reprise_socket socket, uint32_t now);

/* Does what can be done without waiting, one thing at a time. Not to be called again after REPRISE_DONE. */
reprise_step reprise_connection_step(reprise_connection *connection, uint32_t now);

/* Whether the handshake is done. */
bool reprise_connection_is_ready(const reprise_connection *connection);

/* Ends a connection at once, without close_notify. */
void reprise_connection_abort(reprise_connection *connection);

/* --- http.c, which is of use without TLS too --- */

void reprise_http_begin(reprise_http_request *request);

/*
 * Takes what has been read (`request->input`, `input_len`) up to the end of a request. True once there is one: then status,
 * head and close are set, and what follows the request is still in `input`.
 */
bool reprise_http_parse(reprise_http_request *request);

/* The head and the body that answer a status: 200, 400, 404, 405, 413, 414, 431, 505. */
void reprise_http_response(const reprise_http_request *request, const char **head, size_t *head_len, const char **body,
                           size_t *body_len);

#ifdef __cplusplus
}
#endif

#endif
