/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What both examples need and no reader looks for: a listener on a free port of loopback, and a file as text. */
#ifndef REPRISE_EXAMPLE_LOOPBACK_H
#define REPRISE_EXAMPLE_LOOPBACK_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static int listen_on_loopback(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &len) != 0) {
        perror("cannot listen on loopback");
        exit(2);
    }
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 8192);
    if (file == NULL || text == NULL || fread(text, 1, 8191, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

#endif
