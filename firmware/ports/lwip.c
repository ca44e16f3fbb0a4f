/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * See lwip.h. What lwIP delivers is kept in its own buffers until TLS reads it, and the window is opened only then: a peer
 * that sends faster than the CPU decrypts is slowed down by TCP, and takes no memory beyond the window.
 */
#include "lwip.h"

static err_t received(void *argument, struct tcp_pcb *pcb, struct pbuf *buffer, err_t error)
{
    reprise_lwip *connection = argument;
    (void)pcb;
    if (connection == NULL || error != ERR_OK) {
        return error;
    }
    if (buffer == NULL) {
        connection->peer_closed = true;
    } else if (connection->pending == NULL) {
        connection->pending = buffer;
    } else {
        pbuf_cat(connection->pending, buffer);
    }
    return ERR_OK;
}

/* lwIP has freed the connection already. */
static void failed(void *argument, err_t error)
{
    reprise_lwip *connection = argument;
    (void)error;
    if (connection != NULL) {
        connection->pcb = NULL;
    }
}

static int read_bytes(void *context, uint8_t *bytes, size_t len)
{
    reprise_lwip *connection = context;
    if (connection->pending == NULL) {
        return connection->pcb == NULL ? REPRISE_ERROR : connection->peer_closed ? REPRISE_CLOSED : REPRISE_WOULD_BLOCK;
    }
    u16_t there = (u16_t)(connection->pending->tot_len - connection->offset);
    u16_t taken = pbuf_copy_partial(connection->pending, bytes, (u16_t)(len < there ? len : there), connection->offset);
    connection->offset = (u16_t)(connection->offset + taken);
    /* Buffers that were read to their end are given back. */
    while (connection->pending != NULL && connection->offset >= connection->pending->len) {
        struct pbuf *next = connection->pending->next;
        connection->offset = (u16_t)(connection->offset - connection->pending->len);
        if (next != NULL) {
            pbuf_ref(next);
        }
        pbuf_free(connection->pending);
        connection->pending = next;
    }
    if (connection->pcb != NULL) {
        tcp_recved(connection->pcb, taken);
    }
    return taken;
}

static int write_bytes(void *context, const uint8_t *bytes, size_t len)
{
    reprise_lwip *connection = context;
    if (connection->pcb == NULL) {
        return REPRISE_ERROR;
    }
    u16_t room = tcp_sndbuf(connection->pcb);
    u16_t part = (u16_t)(len < room ? len : room);
    if (part == 0) {
        return REPRISE_WOULD_BLOCK;
    }
    err_t error = tcp_write(connection->pcb, bytes, part, TCP_WRITE_FLAG_COPY);
    if (error != ERR_OK) {
        return error == ERR_MEM ? REPRISE_WOULD_BLOCK : REPRISE_ERROR;
    }
    tcp_output(connection->pcb);
    return part;
}

void reprise_lwip_begin(reprise_lwip *connection, struct tcp_pcb *pcb)
{
    connection->pcb = pcb;
    connection->pending = NULL;
    connection->offset = 0;
    connection->peer_closed = false;
    tcp_arg(pcb, connection);
    tcp_recv(pcb, received);
    tcp_err(pcb, failed);
}

reprise_socket reprise_lwip_socket(reprise_lwip *connection)
{
    reprise_socket socket = {read_bytes, write_bytes, connection};
    return socket;
}

err_t reprise_lwip_close(reprise_lwip *connection)
{
    struct tcp_pcb *pcb = connection->pcb;
    if (connection->pending != NULL) {
        if (pcb != NULL) {
            /* lwIP resets a connection that is closed before all of it was taken, and what was sent is lost with it. */
            tcp_recved(pcb, (u16_t)(connection->pending->tot_len - connection->offset));
        }
        pbuf_free(connection->pending);
        connection->pending = NULL;
    }
    connection->pcb = NULL;
    if (pcb == NULL) {
        return ERR_OK;
    }
    tcp_arg(pcb, NULL);
    tcp_recv(pcb, NULL);
    tcp_err(pcb, NULL);
    if (tcp_close(pcb) == ERR_OK) {
        return ERR_OK;
    }
    tcp_abort(pcb);
    return ERR_ABRT;
}
