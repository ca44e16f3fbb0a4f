/*
 * A client over OpenSSL as one would write it: blocking sockets, SSL_set_fd, one request. What `reprise layers` says of ctx, bio and
 * msg is held against it.
 *
 *   plain PORT ROOT, then on standard input lines "LEVEL COUNT" (ctx, bio or msg), answered by "CPU WALL": mean nanoseconds of a
 *   request. TLS 1.3, without sessions.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static const char *root;
static char request[256];

static int64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: ", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static SSL_CTX *configured(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context, 0); /* as the plugin has it */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    if (!SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) || !SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION)
        || !SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384")
        || !SSL_CTX_set1_groups_list(context, "X25519:P-256") || SSL_CTX_load_verify_locations(context, root, NULL) != 1)
        fail("configuration");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
}

static int connected(void)
{
    struct timeval timeout = {.tv_sec = 10};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    return fd;
}

static SSL *session(SSL_CTX *context, int fd)
{
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    SSL_set_tlsext_host_name(ssl, "localhost");
    SSL_set1_host(ssl, "localhost");
    if (SSL_connect(ssl) != 1) fail("handshake");
    return ssl;
}

/* A response to HEAD is its head. */
static void ask(SSL *ssl)
{
    char response[4096];
    int length = 0, count;
    if (SSL_write(ssl, request, (int)strlen(request)) <= 0) fail("write");
    do {
        count = SSL_read(ssl, response + length, (int)sizeof response - 1 - length);
        if (count <= 0) fail("read");
        length += count;
        response[length] = 0;
    } while (!strstr(response, "\r\n\r\n"));
}

/* Both say close_notify. */
static void leave(SSL *ssl)
{
    char rest[256];
    SSL_shutdown(ssl);
    while (SSL_read(ssl, rest, sizeof rest) > 0) {}
    SSL_free(ssl);
}

static void connection(SSL_CTX *context)
{
    int fd = connected();
    SSL *ssl = session(context, fd);
    ask(ssl);
    leave(ssl);
    close(fd);
}

int main(int count, char **arguments)
{
    char level[8];
    int requests;
    if (count != 3) return 2;
    address.sin_port = htons((uint16_t)atoi(arguments[1]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    root = arguments[2];
    snprintf(request, sizeof request, "HEAD / HTTP/1.1\r\nHost: localhost:%s\r\nUser-Agent: plain\r\nAccept: */*\r\n\r\n", arguments[1]);
    SSL_CTX *kept = configured();
    while (scanf("%7s %d", level, &requests) == 2) {
        int is_msg = !strcmp(level, "msg"), fd = is_msg ? connected() : -1;
        SSL *ssl = is_msg ? session(kept, fd) : NULL;
        if (is_msg) ask(ssl); /* tickets come with the first */
        int64_t cpu = now(CLOCK_THREAD_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
        for (int i = 0; i < requests; i++) {
            if (is_msg) {
                ask(ssl);
            } else if (!strcmp(level, "bio")) {
                connection(kept);
            } else {
                SSL_CTX *own = configured();
                connection(own);
                SSL_CTX_free(own);
            }
        }
        cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu, wall = now(CLOCK_MONOTONIC) - wall;
        if (is_msg) {
            leave(ssl);
            close(fd);
        }
        printf("%lld %lld\n", (long long)cpu / requests, (long long)wall / requests);
        fflush(stdout);
    }
    return 0;
}
