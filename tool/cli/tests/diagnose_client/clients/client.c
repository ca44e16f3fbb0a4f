// Connections of OpenSSL's API, right or wrong in the way that the first argument says.
//
//     client WAY CA PORT NAME...

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *way;
static SSL_CTX *ctx;
static SSL_SESSION *session;

static int is(const char *named) {
    return strcmp(way, named) == 0;
}

static SSL_CTX *new_context(const char *ca) {
    static const unsigned char protocols[] = "\x08http/1.1\x02h2";
    SSL_CTX *made = SSL_CTX_new(TLS_client_method());
    SSL_CTX_load_verify_locations(made, ca, NULL);
    SSL_CTX_set_verify(made, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_protos(made, protocols, 9);
    return made;
}

static int connected(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) exit(1);
    return fd;
}

static void visit(int round, const char *host, int port) {
    static const unsigned char protocols[] = "\x08http/1.1\x02h2";
    unsigned length = sizeof protocols - 1;
    char buffer[4096];
    (void)length;
    if (is("protocols")) {
        SSL_CTX_set_alpn_protos(ctx, protocols, round % 2 ? length : 9);
    }
    if (is("ems")) {
        SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
        if (round % 2) SSL_CTX_set_options(ctx, SSL_OP_NO_EXTENDED_MASTER_SECRET);
    }
    SSL *ssl = SSL_new(ctx);
    if (is("name")) {
        if (round % 2 == 0) SSL_set_tlsext_host_name(ssl, host);
    } else {
        SSL_set_tlsext_host_name(ssl, host);
    }
    if (is("never")) {
        // Sessions are saved and not handed over.
    } else if (session) {
        SSL_set_session(ssl, session);
    }
    SSL_set_fd(ssl, connected(port));
    if (SSL_connect(ssl) != 1) exit(1);
    const char *request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    if (is("close-early")) {
        // Asks and reads nothing.
    } else {
        SSL_write(ssl, request, strlen(request));
        while (SSL_read(ssl, buffer, sizeof buffer) > 0) continue;
    }
    if (is("reuse")) {
        if (!session) session = SSL_get1_session(ssl);
    } else {
        session = SSL_get1_session(ssl);
    }
    SSL_shutdown(ssl);
    close(SSL_get_fd(ssl));
    SSL_free(ssl);
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    signal(SIGPIPE, SIG_IGN);
    way = arguments[1];
    ctx = new_context(arguments[2]);
    for (int round = 0; round < count - 4; round++) visit(round, arguments[4 + round], atoi(arguments[3]));
    return 0;
}
