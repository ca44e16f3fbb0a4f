/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One non-blocking byte stream, whatever carries it: a serial line, lwIP, POSIX. A port fills in a reprise_socket.
 *
 * A call never waits. "Nothing now" and "never again" are different results, which is what TLS libraries need to know.
 */
#ifndef REPRISE_SOCKET_H
#define REPRISE_SOCKET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns where it returns no number of bytes. */
enum {
    REPRISE_OK = 0,
    REPRISE_WOULD_BLOCK = -1, /* nothing can be done now: call again when the peer has acted */
    REPRISE_CLOSED = -2,      /* the peer has closed */
    REPRISE_ERROR = -3        /* the connection is of no use any more */
};

typedef struct {
    /* Reads 1 to `len` bytes and returns how many; or WOULD_BLOCK, CLOSED, ERROR. `len` is at least 1. */
    int (*read)(void *context, uint8_t *bytes, size_t len);
    /* Writes 1 to `len` bytes and returns how many; or WOULD_BLOCK, CLOSED, ERROR. `len` is at least 1. */
    int (*write)(void *context, const uint8_t *bytes, size_t len);
    void *context;
} reprise_socket;

#ifdef __cplusplus
}
#endif

#endif
