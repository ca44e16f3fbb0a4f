/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The POSIX port: a reprise_socket over a non-blocking file descriptor. */
#ifndef REPRISE_PORT_POSIX_H
#define REPRISE_PORT_POSIX_H

#include "reprise/socket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `descriptor` points to a connected socket with O_NONBLOCK; it stays the caller's. */
reprise_socket reprise_posix_socket(const int *descriptor);

/* For reprise_tls_config: the system's random bytes, and the seconds of its monotonic clock. */
int reprise_posix_random(void *context, uint8_t *bytes, size_t len);
uint32_t reprise_posix_seconds(void *context);
uint32_t reprise_posix_milliseconds(void);

#ifdef __cplusplus
}
#endif

#endif
