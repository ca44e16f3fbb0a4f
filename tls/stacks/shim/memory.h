/* What shims over memory have in common: a queue of bytes, names, and sessions that the library gives as bytes. */
#ifndef REPRISE_SHIM_MEMORY_H
#define REPRISE_SHIM_MEMORY_H

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* An external PSK, copied. Its identity ends in a zero; NULL: there is none. */
typedef struct {
    char *identity;
    uint8_t *key;
    size_t key_length;
} external_psk;

static inline int has_psk(const reprise_options *options)
{
    return REPRISE_HAS(options, psk_key_length) && options->psk_identity.length;
}

/* A copy with the zero that PEM ends in to some. */
static inline uint8_t *terminated(reprise_text text)
{
    uint8_t *copy = malloc(text.length + 1);
    if (copy && text.length) memcpy(copy, text.data, text.length);
    if (copy) copy[text.length] = 0;
    return copy;
}

/* Whether there is memory for it, where there is one. */
static inline int psk_copy(external_psk *to, const reprise_options *options)
{
    if (!has_psk(options)) return 1;
    to->identity = (char *)terminated(options->psk_identity);
    to->key = malloc(options->psk_key_length + 1);
    if (!to->identity || !to->key) return 0;
    memcpy(to->key, options->psk_key, to->key_length = options->psk_key_length);
    return 1;
}

static inline void psk_free(external_psk *psk) { free(psk->identity), free(psk->key); }

static inline int psk_is(const external_psk *psk, const void *identity, size_t length)
{
    return psk->identity && strlen(psk->identity) == length && !memcmp(psk->identity, identity, length);
}

/* Writes the key, and the identity where there is a place for it: the key's length; 0: there is no room. */
static inline unsigned psk_write(const external_psk *psk, char *identity, size_t identity_room, uint8_t *key, size_t room)
{
    if (!psk->identity || psk->key_length > room || (identity && strlen(psk->identity) >= identity_room)) return 0;
    if (identity) strcpy(identity, psk->identity);
    memcpy(key, psk->key, psk->key_length);
    return (unsigned)psk->key_length;
}

/* Puts a name behind others, with a colon between: whether there is room. */
static inline int list_append(char *list, size_t capacity, const char *name)
{
    size_t length = strlen(list);
    if (!name || length + strlen(name) + 2 > capacity) return 0;
    if (length) list[length++] = ':';
    strcpy(list + length, name);
    return 1;
}

/* Groups by IANA's number and name; their names are not case-sensitive to libraries that write them otherwise. */
static const struct { uint16_t number; const char *name; } group_names[] = {
    {23, "secp256r1"}, {24, "secp384r1"}, {25, "secp521r1"}, {29, "x25519"}, {30, "x448"},
    {256, "ffdhe2048"}, {257, "ffdhe3072"}, {513, "MLKEM768"}, {4587, "SecP256r1MLKEM768"},
    {4588, "X25519MLKEM768"}, {0, NULL}};

static inline const char *group_name(uint16_t number)
{
    size_t i = 0;
    while (group_names[i].name && group_names[i].number != number) i++;
    return group_names[i].name;
}

/* 0: there is none, or it is not known. */
static inline uint16_t group_number(const char *name)
{
    size_t i = 0;
    while (name && group_names[i].name && strcasecmp(group_names[i].name, name)) i++;
    return name ? group_names[i].number : 0;
}

/* 0: what TLS allows. */
static inline uint32_t max_fragment(const reprise_options *options)
{
    return REPRISE_HAS(options, max_fragment) ? options->max_fragment : 0;
}

/* The number that max_fragment_length has for it (RFC 6066 §4); 0: none. */
static inline int fragment_code(uint32_t length)
{
    for (int code = 1; code <= 4; code++)
        if (length == 256u << code) return code;
    return 0;
}

static inline int releases_buffers(const reprise_options *options)
{
    return REPRISE_HAS(options, release_buffers) && options->release_buffers;
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

/* early_read, where the handshake puts early data into the connection's queue early. */
#define REPRISE_EARLY_IS_QUEUE                                                                                          \
    static ptrdiff_t early_read(reprise_connection *connection, size_t capacity, uint8_t *out)                          \
    {                                                                                                                   \
        return (ptrdiff_t)queue_move(&connection->early, capacity, out);                                                \
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
