/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What an HTTPS server on a microcontroller does with one connection, step by step and without waiting: handshake, requests,
 * responses, close_notify. Any number of connections take turns; none holds up another.
 *
 *     static void answer(void *context, reprise_http_request *request, reprise_http_response *response)
 *     {
 *         if (strcmp(request->path, "/") == 0) {
 *             response->status = 200, response->body = "Hello\n", response->body_len = 6;
 *         }
 *     }
 *
 *     reprise_service service = {.tls = &reprise_bearssl, .server = server, .handler = answer, .handshake_ms = 10000, .idle_ms = 5000};
 *     memory = aligned_memory(reprise_connection_size(&service));
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

/* A request. What it points to is there until the handler returns. */
typedef struct {
    const char *method, *path; /* the path with its query; both end in 0 */
    const char *headers;       /* for reprise_http_header() */
    size_t headers_len;
    const uint8_t *body; /* the next piece of the body; NULL once all of it has been handed over */
    size_t body_len;     /* of this piece */
    uint32_t length;     /* of the whole body */
    void *state;         /* the handler's own, for this request: NULL at its first call */
} reprise_http_request;

/* A response. `headers` and `body` must stay until they are sent: text in flash, or memory of the connection's own. */
typedef struct {
    uint16_t status;     /* 404 if the handler sets none */
    const char *headers; /* whole lines, each with its \r\n: "Content-Type: text/html\r\n"; or NULL */
    const void *body;
    size_t body_len;
} reprise_http_response;

/*
 * Answers a request: called for each piece of its body, as it comes, and once more when the request is complete. A status that
 * is set before is the answer at once: the rest of the body is not read, and the connection ends after it.
 */
typedef void (*reprise_http_handler)(void *context, reprise_http_request *request, reprise_http_response *response);

/* The value of the first header of this name, in lower case, without spaces around it; NULL if there is none. */
const char *reprise_http_header(const reprise_http_request *request, const char *name, size_t *len);

typedef struct {
    const reprise_tls_backend *tls;
    void *server;                 /* started */
    reprise_http_handler handler; /* NULL: whatever comes first is answered with one response, and the connection ends */
    void *context;                /* for `handler` */
    uint32_t handshake_ms;        /* a connection that has not finished its handshake by then is dropped; 0: never */
    uint32_t idle_ms;             /* one that neither sends a request nor takes its response for as long is dropped; 0: never */
    uint16_t head_max;            /* bytes of request line and headers, and of requests that are read ahead; 0: 1,024 */
    uint32_t body_max;            /* bytes of a request's body */
} reprise_service;

/* What a step came to. */
typedef enum {
    REPRISE_MOVED,   /* something was done; more may be possible */
    REPRISE_WAITING, /* nothing can be done before the peer acts or time passes */
    REPRISE_DONE     /* the connection has ended and holds nothing any more */
} reprise_step;

/* Bytes of the status line and all headers of a response; one with more becomes a 500. */
#ifndef REPRISE_HTTP_RESPONSE
#define REPRISE_HTTP_RESPONSE 256
#endif

/* Requests as far as they have been read. See http.c. */
typedef struct {
    char *input;
    size_t input_size, input_len;
    size_t head;     /* bytes of the request's head in `input`; 0 while it is not complete */
    size_t piece;    /* bytes behind it that the handler has seen */
    uint32_t left;   /* bytes of the body that are still to come */
    uint16_t status; /* of what is wrong with the request; 0: nothing */
    bool is_head;    /* the method is HEAD */
    bool close;      /* the connection ends after the response */
    bool expects;    /* the client waits for 100 before it sends the body */
    reprise_http_request request;
    char output[REPRISE_HTTP_RESPONSE];
    size_t output_len;
} reprise_http;

typedef struct {
    const reprise_service *service;
    void *tls; /* the backend's connection */
    const char *out, *body; /* what is still to be sent of the response */
    size_t out_len, body_len;
    uint32_t began, moved; /* milliseconds */
    uint8_t state;
    bool close_after;
    reprise_http http;
} reprise_connection;

/* Bytes of memory that a connection needs. */
size_t reprise_connection_size(const reprise_service *service);

/*
 * Begins a connection in `memory`, of reprise_connection_size() and aligned for any type, at `now` (milliseconds; they may wrap
 * around). REPRISE_OK, or REPRISE_ERROR: then there is nothing to step.
 */
int reprise_connection_begin(reprise_connection *connection, const reprise_service *service, void *memory,
                             reprise_socket socket, uint32_t now);

/* Does what can be done without waiting, one thing at a time. Not to be called again after REPRISE_DONE. */
reprise_step reprise_connection_step(reprise_connection *connection, uint32_t now);

/* Whether the handshake is done. */
bool reprise_connection_is_ready(const reprise_connection *connection);

/* Ends a connection at once, without close_notify. */
void reprise_connection_abort(reprise_connection *connection);

/* --- http.c, which is of use without TLS too --- */

void reprise_http_begin(reprise_http *http, void *input, size_t size);

typedef enum {
    REPRISE_HTTP_MORE,    /* bytes are missing: there is room for them behind `input_len` */
    REPRISE_HTTP_PIECE,   /* a piece of the body is there */
    REPRISE_HTTP_COMPLETE /* the request is; or `status` says what is wrong with it */
} reprise_http_event;

/* Looks how far a request is. What the last call showed is given up. */
reprise_http_event reprise_http_next(reprise_http *http, uint32_t body_max);

/* Puts the head of the response into `output`, and ends the request: what follows it stays in `input`. True if the body is sent. */
bool reprise_http_respond(reprise_http *http, const reprise_http_response *response);

#ifdef __cplusplus
}
#endif

#endif
