/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The page of the servers that are measured: at "/", by GET and HEAD. */
#ifndef REPRISE_PAGE_H
#define REPRISE_PAGE_H

#include <string.h>

#include "reprise/service.h"

static inline void reprise_page(void *context, reprise_http_request *request, reprise_http_response *response)
{
    static const char page[] =
        "<!doctype html>\n<title>A microcontroller</title>\n<p>This page came over TLS from a microcontroller.\n";
    (void)context;
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        response->status = 405;
        response->headers = "Allow: GET, HEAD\r\n";
    } else if (request->path[1] == 0 || request->path[1] == '?') {
        response->status = 200;
        response->headers = "Content-Type: text/html\r\n";
        response->body = page;
        response->body_len = sizeof page - 1;
    }
}

#endif
