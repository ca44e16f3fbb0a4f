/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lwIP port over lwIP's loopback interface: an echo server over a reprise_socket, a client over the raw API. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lwip_server.h"
#include "page.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/timeouts.h"

enum { PORT = 4433, BYTES = 100000, ROUNDS = 400000 };

static u32_t milliseconds;

u32_t sys_now(void)
{
    return milliseconds;
}

static struct tcp_pcb *client;
static size_t sent, received;
static bool connected, client_failed, server_closed;
static reprise_lwip server;
static bool accepted;

static uint8_t byte_at(size_t index)
{
    return (uint8_t)(index * 7 + index / 251);
}

static err_t on_accept(void *argument, struct tcp_pcb *pcb, err_t error)
{
    (void)argument;
    assert(error == ERR_OK && !accepted);
    reprise_lwip_begin(&server, pcb);
    accepted = true;
    return ERR_OK;
}

static err_t on_connected(void *argument, struct tcp_pcb *pcb, err_t error)
{
    (void)argument, (void)pcb;
    connected = error == ERR_OK;
    return ERR_OK;
}

static err_t on_received(void *argument, struct tcp_pcb *pcb, struct pbuf *buffer, err_t error)
{
    (void)argument, (void)error;
    if (buffer == NULL) {
        server_closed = true;
        return ERR_OK;
    }
    for (u16_t index = 0; index < buffer->tot_len; index++) {
        assert(pbuf_get_at(buffer, index) == byte_at(received++));
    }
    tcp_recved(pcb, buffer->tot_len);
    pbuf_free(buffer);
    return ERR_OK;
}

static void on_error(void *argument, err_t error)
{
    (void)argument, (void)error;
    client_failed = true;
    client = NULL;
}

static void connect_client(void)
{
    ip_addr_t address;
    IP_ADDR4(&address, 127, 0, 0, 1);
    sent = received = 0;
    connected = client_failed = server_closed = accepted = false;
    client = tcp_new();
    tcp_err(client, on_error);
    tcp_recv(client, on_received);
    assert(tcp_connect(client, &address, PORT, on_connected) == ERR_OK);
}

static void pass(void)
{
    netif_poll_all();
    sys_check_timeouts();
    milliseconds++;
}

/* One piece of the echo; what could not be written waits, and nothing is read meanwhile. */
static int echo(reprise_socket socket)
{
    static uint8_t bytes[300];
    static size_t len, at;
    if (at == len) {
        int taken = socket.read(socket.context, bytes, sizeof bytes);
        if (taken < 0) {
            return taken;
        }
        len = (size_t)taken, at = 0;
    }
    int written = socket.write(socket.context, bytes + at, len - at);
    at += written > 0 ? (size_t)written : 0;
    return written;
}

static void send_what_fits(void)
{
    uint8_t bytes[256];
    size_t part = tcp_sndbuf(client) < sizeof bytes ? tcp_sndbuf(client) : sizeof bytes;
    part = part < BYTES - sent ? part : BYTES - sent;
    for (size_t index = 0; index < part; index++) {
        bytes[index] = byte_at(sent + index);
    }
    if (part > 0 && tcp_write(client, bytes, (u16_t)part, TCP_WRITE_FLAG_COPY) == ERR_OK) {
        sent += part;
        tcp_output(client);
    }
}

/* All bytes come back, although both windows are full most of the time; then the client's end is the server's CLOSED. */
static void echoes(void)
{
    bool blocked = false;
    connect_client();
    for (int round = 0; received < BYTES; round++) {
        assert(round < ROUNDS && !client_failed);
        if (connected && sent < BYTES) {
            send_what_fits();
        }
        if (accepted) {
            blocked |= echo(reprise_lwip_socket(&server)) == REPRISE_WOULD_BLOCK;
        }
        pass();
    }
    assert(blocked);
    assert(tcp_shutdown(client, 0, 1) == ERR_OK);
    int result = REPRISE_WOULD_BLOCK;
    for (int round = 0; result == REPRISE_WOULD_BLOCK; round++) {
        assert(round < ROUNDS);
        pass();
        result = echo(reprise_lwip_socket(&server));
    }
    assert(result == REPRISE_CLOSED);
    assert(reprise_lwip_close(&server) == ERR_OK);
    for (int round = 0; !server_closed; round++) {
        assert(round < ROUNDS);
        pass();
    }
    tcp_close(client);
}

/* Closed with bytes that nobody has read: the client hears an end, not a reset. Aborted: the server hears an error. */
static void ends(bool by_reset)
{
    connect_client();
    for (int round = 0; !accepted || sent == 0; round++) {
        assert(round < ROUNDS);
        if (connected) {
            send_what_fits();
        }
        pass();
    }
    for (int round = 0; server.pending == NULL; round++) {
        assert(round < ROUNDS);
        pass();
    }
    if (by_reset) {
        tcp_abort(client);
        uint8_t byte;
        reprise_socket socket = reprise_lwip_socket(&server);
        for (int round = 0; server.pcb != NULL; round++) {
            assert(round < ROUNDS);
            pass();
        }
        /* What had come is still there; then it is over. */
        int taken;
        while ((taken = socket.read(socket.context, &byte, 1)) == 1) {
        }
        assert(taken == REPRISE_ERROR && socket.write(socket.context, &byte, 1) == REPRISE_ERROR);
        assert(reprise_lwip_close(&server) == ERR_OK);
        return;
    }
    assert(reprise_lwip_close(&server) == ERR_OK);
    for (int round = 0; !server_closed; round++) {
        assert(round < ROUNDS && !client_failed);
        pass();
    }
    tcp_close(client);
}

/* --- the server, over a TLS library that is none --- */

static int plain_accept(void *memory, void *none, reprise_socket socket)
{
    (void)none;
    *(reprise_socket *)memory = socket;
    return REPRISE_OK;
}

static int plain_read(void *memory, uint8_t *bytes, size_t len)
{
    const reprise_socket *socket = memory;
    return socket->read(socket->context, bytes, len);
}

static int plain_write(void *memory, const uint8_t *bytes, size_t len)
{
    const reprise_socket *socket = memory;
    return socket->write(socket->context, bytes, len);
}

static int done(void *memory)
{
    (void)memory;
    return REPRISE_OK;
}

static void end(void *memory)
{
    (void)memory;
}

static const reprise_tls_backend plain = {.name = "none", .connection_size = sizeof(reprise_socket), .accept = plain_accept,
    .handshake = done, .read = plain_read, .write = plain_write, .flush = done, .close = done, .end = end};

struct visitor {
    struct tcp_pcb *pcb;
    size_t received;
    bool served, refused;
};

static err_t on_welcome(void *argument, struct tcp_pcb *pcb, err_t error)
{
    const char *request = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    (void)argument, (void)error;
    return tcp_write(pcb, request, (u16_t)strlen(request), TCP_WRITE_FLAG_COPY);
}

static err_t on_response(void *argument, struct tcp_pcb *pcb, struct pbuf *buffer, err_t error)
{
    struct visitor *visitor = argument;
    (void)error;
    if (buffer == NULL) {
        visitor->served = visitor->received > 0;
        visitor->pcb = NULL;
        return tcp_close(pcb);
    }
    assert(visitor->received > 0 || pbuf_memcmp(buffer, 0, "HTTP/1.1 200 ", 13) == 0);
    visitor->received += buffer->tot_len;
    tcp_recved(pcb, buffer->tot_len);
    pbuf_free(buffer);
    return ERR_OK;
}

static void on_refusal(void *argument, err_t error)
{
    (void)error;
    ((struct visitor *)argument)->refused = true;
}

/* There is room for two: of three that come at once, one is refused, and is served when it comes again. */
static void serves(void)
{
    static reprise_socket memory[2][20];
    static reprise_lwip_client clients[2] = {{.memory = memory[0]}, {.memory = memory[1]}};
    static const reprise_service service = {.tls = &plain, .handler = reprise_page, .idle_ms = 100000, .head_max = 400};
    static reprise_lwip_server it = {&service, clients, 2};
    struct visitor visitors[4] = {{NULL, 0, false, false}};
    ip_addr_t address;
    IP_ADDR4(&address, 127, 0, 0, 1);
    assert(reprise_connection_size(&service) <= sizeof memory[0]);
    assert(reprise_lwip_listen(&it, PORT + 1) == ERR_OK);
    assert(reprise_lwip_listen(&it, PORT + 1) == ERR_USE);
    int ended = 0;
    for (int come = 3; ended < come; come += come == ended && come < 4) {
        for (int index = 0; index < come; index++) {
            struct visitor *visitor = &visitors[index];
            if (visitor->pcb == NULL && !visitor->served && !visitor->refused) {
                visitor->pcb = tcp_new();
                tcp_arg(visitor->pcb, visitor);
                tcp_err(visitor->pcb, on_refusal);
                tcp_recv(visitor->pcb, on_response);
                assert(tcp_connect(visitor->pcb, &address, PORT + 1, on_welcome) == ERR_OK);
            }
        }
        ended = 0;
        for (int index = 0; index < come; index++) {
            ended += visitors[index].served || visitors[index].refused;
        }
        pass();
        reprise_lwip_step(&it);
        assert(milliseconds < ROUNDS);
    }
    for (int index = 0; index < 4; index++) {
        assert(visitors[index].refused == (index == 2) && visitors[index].served == (index != 2));
    }
}

int main(void)
{
    lwip_init();
    struct tcp_pcb *listener = tcp_new();
    assert(tcp_bind(listener, IP_ADDR_ANY, PORT) == ERR_OK);
    listener = tcp_listen(listener);
    tcp_accept(listener, on_accept);
    echoes();
    ends(false);
    ends(true);
    echoes();
    milliseconds = 0;
    serves();
    puts("lwIP: all tests passed");
    return 0;
}
