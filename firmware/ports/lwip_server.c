/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See lwip_server.h. */
#include "lwip_server.h"

#include "lwip/sys.h"

static err_t accepted(void *argument, struct tcp_pcb *pcb, err_t error)
{
    reprise_lwip_server *server = argument;
    if (error != ERR_OK) {
        return error;
    }
    for (reprise_lwip_client *client = server->clients; client < server->clients + server->count; client++) {
        if (!client->taken) {
            reprise_lwip_begin(&client->tcp, pcb);
            client->taken = reprise_connection_begin(&client->connection, server->service, client->memory,
                                                     reprise_lwip_socket(&client->tcp), sys_now())
                            == REPRISE_OK;
            return client->taken ? ERR_OK : reprise_lwip_close(&client->tcp);
        }
    }
    return ERR_MEM; /* no room: lwIP ends the connection, and the client is told at once */
}

err_t reprise_lwip_listen(reprise_lwip_server *server, u16_t port)
{
    struct tcp_pcb *bound = tcp_new(), *listening;
    err_t error = bound == NULL ? ERR_MEM : tcp_bind(bound, IP_ANY_TYPE, port);
    if (error == ERR_OK && (listening = tcp_listen(bound)) != NULL) {
        tcp_arg(listening, server);
        tcp_accept(listening, accepted);
        return ERR_OK;
    }
    if (bound != NULL) {
        tcp_abort(bound);
    }
    return error != ERR_OK ? error : ERR_MEM;
}

bool reprise_lwip_step(reprise_lwip_server *server)
{
    bool more = false;
    for (reprise_lwip_client *client = server->clients; client < server->clients + server->count; client++) {
        if (client->taken) {
            reprise_step step = reprise_connection_step(&client->connection, sys_now());
            more |= step == REPRISE_MOVED;
            if (step == REPRISE_DONE) {
                reprise_lwip_close(&client->tcp);
                client->taken = false;
            }
        }
    }
    return more;
}
