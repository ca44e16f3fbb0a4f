/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The server on a host: the same library, service and TLS stack as in the firmware, over POSIX sockets on loopback.
 *
 *     server BACKEND CERTIFICATES.pem KEY.pem [port N] [fixed] [no-cache] [tickets] [lifetime SECONDS] [idle MS]
 *         [head BYTES] [body BYTES] [threads N]
 *
 * prints "listening on 127.0.0.1:PORT", serves at most SLOTS connections at a time (with THREADS=1 in each of N threads) until its
 * input ends, and then prints what the cache saw.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#if REPRISE_THREADS
#include <pthread.h>
#endif

#include "page.h"
#include "posix.h"

enum { SLOTS = 8, SESSIONS = 16, TURNS = 64 };

/* How long what a client still sends is dropped, in milliseconds. */
enum { LINGERS = 1000 };

struct slot {
    int descriptor; /* -1: free */
    void *tls;
    reprise_connection connection;
    bool lingers; /* it has ended, and its peer may still be sending */
    uint32_t ended;
};

static char *read_file(const char *path, size_t *len);
static const reprise_tls_backend *backend_named(const char *name);
static void listen_on(int port);
static void accept_one(struct slot *slots, const reprise_service *service);
static void *serve(void *service);
static void answer(void *context, reprise_http_request *request, reprise_http_response *response);
static bool drive(struct slot *slot);
static void linger(struct slot *slot);
static void quit(const char *why);

static int listener;
static reprise_tls_config config = {.random = reprise_posix_random, .seconds = reprise_posix_seconds};
#if REPRISE_SESSION_CACHE
static reprise_session_slot sessions[SESSIONS];
static reprise_session_cache cache;
#endif

#if REPRISE_THREADS
enum { MAX_THREADS = 16 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void hold(void *context, bool taken)
{
    (void)context;
    (taken ? pthread_mutex_lock : pthread_mutex_unlock)(&mutex);
}
#endif

int main(int count, char **arguments)
{
    int port = 0;
#if REPRISE_THREADS
    int threads = 1;
#endif
    bool cached = true;
    uint32_t lifetime = 300;
    reprise_service service = {.handler = answer, .handshake_ms = 10000, .idle_ms = 10000, .body_max = 1000000};
    if (count < 4 || (service.tls = backend_named(arguments[1])) == NULL) {
        quit("usage: server bearssl|mbedtls2|mbedtls3 CERTIFICATES.pem KEY.pem [port N] [fixed] [no-cache] [tickets]"
             " [lifetime SECONDS] [idle MS] [head BYTES] [body BYTES] [threads N]");
    }
    config.certificates = read_file(arguments[2], &config.certificates_len);
    config.key = read_file(arguments[3], &config.key_len);
#if REPRISE_SESSION_TICKETS
    static reprise_session_tickets tickets;
#endif
    for (int index = 4; index < count; index++) {
        const char *value = index + 1 < count ? arguments[index + 1] : "0";
        if (strcmp(arguments[index], "fixed") == 0) {
            service.handler = NULL;
        } else if (strcmp(arguments[index], "no-cache") == 0) {
            cached = false;
#if REPRISE_SESSION_TICKETS
        } else if (strcmp(arguments[index], "tickets") == 0) {
            config.tickets = &tickets;
#endif
        } else if (strcmp(arguments[index], "port") == 0) {
            port = atoi(value), index++;
        } else if (strcmp(arguments[index], "lifetime") == 0) {
            lifetime = (uint32_t)atol(value), index++;
        } else if (strcmp(arguments[index], "idle") == 0) {
            service.handshake_ms = service.idle_ms = (uint32_t)atol(value), index++;
        } else if (strcmp(arguments[index], "head") == 0) {
            service.head_max = (uint16_t)atoi(value), index++;
        } else if (strcmp(arguments[index], "body") == 0) {
            service.body_max = (uint32_t)atol(value), index++;
#if REPRISE_THREADS
        } else if (strcmp(arguments[index], "threads") == 0) {
            threads = atoi(value), index++;
#endif
        } else {
            quit("an argument is not known");
        }
    }
#if REPRISE_SESSION_TICKETS
    reprise_session_tickets_init(&tickets, lifetime);
#endif
#if REPRISE_SESSION_CACHE
    reprise_session_cache_init(&cache, sessions, SESSIONS, lifetime);
    config.cache = cached ? &cache : NULL;
#else
    (void)cached, (void)lifetime;
#endif
#if REPRISE_THREADS
    config.lock = hold;
#endif
    service.server = calloc(1, service.tls->server_size);
    if (service.server == NULL || service.tls->start(service.server, &config) != REPRISE_OK) {
        quit("certificate or key cannot be used");
    }
    listen_on(port);
#if REPRISE_THREADS
    pthread_t others[MAX_THREADS];
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    for (int index = 1; index < threads; index++) {
        pthread_create(&others[index], NULL, serve, &service);
    }
#endif
    serve(&service);
#if REPRISE_THREADS
    for (int index = 1; index < threads; index++) {
        pthread_join(others[index], NULL);
    }
#endif
    service.tls->stop(service.server);
    free(service.server);
    free((char *)config.certificates);
    free((char *)config.key);
    close(listener);
#if REPRISE_SESSION_CACHE
    printf("cache: %u hits, %u misses\n", (unsigned)cache.hits, (unsigned)cache.misses);
#endif
    return 0;
}

/* The page, and what a POST brings is counted. */
static void answer(void *context, reprise_http_request *request, reprise_http_response *response)
{
    if (strcmp(request->method, "POST") != 0) {
        reprise_page(context, request, response);
    } else if (request->body != NULL) {
        request->state = (void *)((uintptr_t)request->state + request->body_len);
    } else {
        response->status = (uintptr_t)request->state == request->length ? 200 : 500;
    }
}

/* Serves until standard input ends, which every thread sees. */
static void *serve(void *context)
{
    const reprise_service *service = context;
    struct slot slots[SLOTS];
    for (int index = 0; index < SLOTS; index++) {
        slots[index].descriptor = -1;
        slots[index].tls = calloc(1, reprise_connection_size(service));
    }

    for (bool more = false;;) {
        /* Input that ends is the end of whoever started this. */
        struct pollfd polled[2 + SLOTS] = {{STDIN_FILENO, POLLIN, 0}, {listener, POLLIN, 0}};
        for (int index = 0; index < SLOTS; index++) {
            polled[2 + index].fd = slots[index].descriptor;
            polled[2 + index].events = POLLIN;
        }
        poll(polled, 2 + SLOTS, more ? 0 : 50);
        if (polled[0].revents != 0) {
            break;
        }
        if (polled[1].revents != 0) {
            accept_one(slots, service);
        }
#if REPRISE_SESSION_CACHE
        reprise_lock(&config, true);
        reprise_session_cache_expire(&cache, reprise_posix_seconds(NULL));
        reprise_lock(&config, false);
#endif
        more = false;
        for (int index = 0; index < SLOTS; index++) {
            more |= slots[index].descriptor != -1 && drive(&slots[index]);
        }
    }
    for (int index = 0; index < SLOTS; index++) {
        if (slots[index].descriptor != -1) {
            if (!slots[index].lingers) {
                reprise_connection_abort(&slots[index].connection);
            }
            close(slots[index].descriptor);
        }
        free(slots[index].tls);
    }
    return NULL;
}

/* Some turns, for the others are to have theirs. True if there may be more to do. */
static bool drive(struct slot *slot)
{
    if (slot->lingers) {
        linger(slot);
        return false;
    }
    reprise_step step = REPRISE_MOVED;
    for (int turn = 0; step == REPRISE_MOVED && turn < TURNS; turn++) {
        step = reprise_connection_step(&slot->connection, reprise_posix_milliseconds());
    }
    if (step == REPRISE_DONE) {
        shutdown(slot->descriptor, SHUT_WR);
        slot->lingers = true;
        slot->ended = reprise_posix_milliseconds();
    }
    return step == REPRISE_MOVED;
}

/* A client that is still sending would be reset, and might never read what it was told: RFC 9112 section 9.6. */
static void linger(struct slot *slot)
{
    uint8_t dropped[4096];
    ssize_t len = 1;
    for (int turn = 0; len > 0 && turn < TURNS; turn++) {
        len = recv(slot->descriptor, dropped, sizeof dropped, 0);
    }
    bool may_come = len > 0 || (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
    if (!may_come || reprise_posix_milliseconds() - slot->ended > LINGERS) {
        close(slot->descriptor);
        slot->descriptor = -1;
    }
}

static void accept_one(struct slot *slots, const reprise_service *service)
{
    int descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0) {
        return;
    }
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    for (int index = 0; index < SLOTS; index++) {
        if (slots[index].descriptor == -1) {
            slots[index].descriptor = descriptor;
            slots[index].lingers = false;
            if (reprise_connection_begin(&slots[index].connection, service, slots[index].tls,
                                         reprise_posix_socket(&slots[index].descriptor), reprise_posix_milliseconds())
                == REPRISE_OK) {
                return;
            }
            slots[index].descriptor = -1;
            break;
        }
    }
    /* No room: the client is told at once, by the end of its connection. */
    close(descriptor);
}

static void listen_on(int port)
{
    listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof address;
    int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 64) != 0
        || getsockname(listener, (struct sockaddr *)&address, &len) != 0) {
        quit("cannot listen on 127.0.0.1");
    }
    fcntl(listener, F_SETFL, O_NONBLOCK);
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
}

static const reprise_tls_backend *backend_named(const char *name)
{
#ifdef REPRISE_WITH_BEARSSL
    if (strcmp(name, "bearssl") == 0) {
        return &reprise_bearssl;
    }
#endif
#ifdef REPRISE_WITH_MBEDTLS2
    if (strcmp(name, "mbedtls2") == 0) {
        return &reprise_mbedtls2;
    }
#endif
#ifdef REPRISE_WITH_MBEDTLS3
    if (strcmp(name, "mbedtls3") == 0) {
        return &reprise_mbedtls3;
    }
#endif
    (void)name;
    return NULL;
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(65536);
    if (file == NULL || text == NULL) {
        quit("a file cannot be read");
    }
    *len = fread(text, 1, 65536, file);
    fclose(file);
    return text;
}

static void quit(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(2);
}
