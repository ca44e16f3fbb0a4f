/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lwIP port: a reprise_socket over a TCP connection of the raw API, without an operating system. */
#ifndef REPRISE_PORT_LWIP_H
#define REPRISE_PORT_LWIP_H

#include <stdbool.h>

#include "lwip/tcp.h"
#include "reprise/socket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its fields belong to the functions below. It must stay where it is until it is closed. */
typedef struct {
    struct tcp_pcb *pcb;  /* NULL once lwIP has ended it */
    struct pbuf *pending; /* received and not yet read */
    u16_t offset;         /* of the first byte in it that was not read */
    bool peer_closed;
} reprise_lwip;

/* Takes over a connection that lwIP has accepted, in the accept callback. */
void reprise_lwip_begin(reprise_lwip *connection, struct tcp_pcb *pcb);

reprise_socket reprise_lwip_socket(reprise_lwip *connection);

/* Closes it. ERR_ABRT if it had to be aborted: then a callback of lwIP's must return ERR_ABRT too. */
err_t reprise_lwip_close(reprise_lwip *connection);

#ifdef __cplusplus
}
#endif

#endif
