/* What shims over memory have in common: a queue of bytes, and sessions that the library gives as bytes. */
#ifndef REPRISE_SHIM_MEMORY_H
#define REPRISE_SHIM_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "reprise_stack.h"

typedef struct {
    uint8_t *bytes;
    size_t begin, end, capacity;
} queue;

static inline int queue_append(queue *to, const void *bytes, size_t length)
{
    if (to->begin == to->end) to->begin = to->end = 0;
    if (to->end + length > to->capacity) {
        uint8_t *larger = realloc(to->bytes, 2 * (to->end + length));
        if (!larger) return 0;
        to->bytes = larger;
        to->capacity = 2 * (to->end + length);
    }
    memcpy(to->bytes + to->end, bytes, length);
    to->end += length;
    return 1;
}

/* Moves the oldest bytes to out: how many. */
static inline size_t queue_move(queue *from, size_t capacity, void *out)
{
    size_t count = from->end - from->begin < capacity ? from->end - from->begin : capacity;
    if (count) memcpy(out, from->bytes + from->begin, count);
    from->begin += count;
    return count;
}

/* For a library whose sessions are bytes. */
#define REPRISE_SESSION_IS_BYTES                                                                                        \
    struct reprise_session {                                                                                            \
        size_t length;                                                                                                  \
        uint8_t bytes[];                                                                                                \
    };                                                                                                                  \
    static void session_free(reprise_session *session) { free(session); }                                               \
    static int session_import(reprise_context *context, const uint8_t *bytes, size_t length, reprise_session **out)     \
    {                                                                                                                   \
        (void)context;                                                                                                  \
        reprise_session *session = malloc(sizeof *session + length);                                                    \
        if (!session) return REPRISE_NO_MEMORY;                                                                         \
        session->length = length;                                                                                       \
        memcpy(session->bytes, bytes, length);                                                                          \
        *out = session;                                                                                                 \
        return REPRISE_OK;                                                                                              \
    }                                                                                                                   \
    static ptrdiff_t session_export(const reprise_session *session, size_t capacity, uint8_t *out)                      \
    {                                                                                                                   \
        if (session->length > capacity) return REPRISE_TOO_SMALL;                                                       \
        memcpy(out, session->bytes, session->length);                                                                   \
        return (ptrdiff_t)session->length;                                                                              \
    }

/* For a library whose transport is callbacks: its connection has the queues in and out. */
#define REPRISE_TRANSPORT_IS_QUEUES                                                                                     \
    static ptrdiff_t feed(reprise_connection *connection, const uint8_t *bytes, size_t length)                          \
    {                                                                                                                   \
        return queue_append(&connection->in, bytes, length) ? (ptrdiff_t)length : REPRISE_NO_MEMORY;                    \
    }                                                                                                                   \
    static ptrdiff_t take(reprise_connection *connection, size_t capacity, uint8_t *out)                                \
    {                                                                                                                   \
        return (ptrdiff_t)queue_move(&connection->out, capacity, out);                                                  \
    }

/* error_text, where words_ writes a text with its terminating zero into text. */
#define REPRISE_ERROR_TEXT(words_)                                                                                      \
    static size_t error_text(size_t capacity, char *out)                                                                \
    {                                                                                                                   \
        char text[256] = "";                                                                                            \
        words_;                                                                                                         \
        size_t length = strlen(text) < capacity ? strlen(text) : capacity;                                              \
        memcpy(out, text, length);                                                                                      \
        return length;                                                                                                  \
    }

#endif
