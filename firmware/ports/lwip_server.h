/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A server over lwIP's raw API, without an operating system: as many connections at a time as there are clients.
 *
 *     static reprise_lwip_client clients[2];                        each with its `memory`, see service.h
 *     static reprise_lwip_server server = {&service, clients, 2};
 *     reprise_lwip_listen(&server, 443);
 *     for (;;) { ...let lwIP do what it has to...; reprise_lwip_step(&server); }
 */
#ifndef REPRISE_PORT_LWIP_SERVER_H
#define REPRISE_PORT_LWIP_SERVER_H

#include "lwip.h"
#include "reprise/service.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    void *memory; /* the caller's, for one connection */
    bool taken;
    reprise_lwip tcp;
    reprise_connection connection;
} reprise_lwip_client;

typedef struct {
    const reprise_service *service;
    reprise_lwip_client *clients;
    size_t count;
} reprise_lwip_server;

/* Begins to listen on a port of every address: ERR_OK, or why not. */
err_t reprise_lwip_listen(reprise_lwip_server *server, u16_t port);

/* One step of each connection. True if there may be more to do at once. Time is lwIP's sys_now(). */
bool reprise_lwip_step(reprise_lwip_server *server);

#ifdef __cplusplus
}
#endif

#endif
