// What servers in C have in common: a thread for each connection, and a directory that several processes may share.
//
//   server PORT CERTIFICATE KEY CLIENT-CA STORE

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
static const char *store_directory;

// A file of the store, by what identifies it.
static void path_of(char *path, size_t size, const unsigned char *id, unsigned length) {
    int end = snprintf(path, size, "%s/", store_directory);
    for (unsigned place = 0; place < length; place++) end += snprintf(path + end, size - end, "%02x", id[place]);
}

static int ends_request(const char *bytes, size_t length) {
    return length >= 4 && memcmp(bytes + length - 4, "\r\n\r\n", 4) == 0;
}

// `serve` is given the descriptor of each connection. Prints "listening"; returns only if it cannot listen.
static int serve_each(const char *port, void *(*serve)(void *)) {
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0) return 1;
    signal(SIGPIPE, SIG_IGN);
    puts("listening");
    fflush(stdout);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        struct timeval patience = {20, 0};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        pthread_t thread;
        if (fd >= 0 && pthread_create(&thread, NULL, serve, (void *)(long)fd) == 0) pthread_detach(thread);
    }
}
