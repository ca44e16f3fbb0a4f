/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _DEFAULT_SOURCE /* getentropy */
#define _POSIX_C_SOURCE 200809L

#include "posix.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int outcome(ssize_t moved)
{
    if (moved > 0) {
        return (int)moved;
    }
    if (moved == 0) {
        return REPRISE_CLOSED;
    }
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? REPRISE_WOULD_BLOCK
           : errno == ECONNRESET || errno == EPIPE                   ? REPRISE_CLOSED
                                                                     : REPRISE_ERROR;
}

static int read_bytes(void *context, uint8_t *bytes, size_t len)
{
    return outcome(recv(*(const int *)context, bytes, len, 0));
}

static int write_bytes(void *context, const uint8_t *bytes, size_t len)
{
    return outcome(send(*(const int *)context, bytes, len, MSG_NOSIGNAL));
}

reprise_socket reprise_posix_socket(const int *descriptor)
{
    reprise_socket socket = {read_bytes, write_bytes, (void *)descriptor};
    return socket;
}

int reprise_posix_random(void *context, uint8_t *bytes, size_t len)
{
    (void)context;
    for (size_t done = 0; done < len;) {
        size_t part = len - done < 256 ? len - done : 256;
        if (getentropy(bytes + done, part) != 0) {
            return REPRISE_ERROR;
        }
        done += part;
    }
    return REPRISE_OK;
}

uint32_t reprise_posix_seconds(void *context)
{
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_sec;
}

uint32_t reprise_posix_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}
