/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HTTP/1.1 as http.c reads it: requests whole and in pieces, and what is refused. Built with -fsanitize=address,undefined. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "reprise/service.h"

/* Feeds `text` in pieces of `step` bytes; returns the statuses of all requests, and whether the last one closes. */
static size_t statuses_of(const char *text, size_t step, uint16_t *statuses, bool *close)
{
    reprise_http_request request;
    size_t count = 0, len = strlen(text);
    reprise_http_begin(&request);
    for (size_t at = 0; at < len || request.input_len > 0;) {
        if (reprise_http_parse(&request)) {
            statuses[count++] = request.status;
            *close = request.close;
            if (request.close) {
                break;
            }
            request.status = 0;
            continue;
        }
        size_t room = sizeof request.input - request.input_len;
        assert(room > 0);
        size_t part = step < room ? step : room;
        part = part < len - at ? part : len - at;
        if (part == 0) {
            break;
        }
        memcpy(request.input + request.input_len, text + at, part);
        request.input_len = (uint16_t)(request.input_len + part);
        at += part;
    }
    return count;
}

static void expect(const char *text, const char *wanted, bool wanted_close)
{
    for (size_t step = 1; step <= 300; step++) {
        uint16_t statuses[32];
        char found[256] = "";
        bool close = false;
        size_t count = statuses_of(text, step, statuses, &close);
        for (size_t index = 0; index < count; index++) {
            sprintf(found + strlen(found), index == 0 ? "%u" : " %u", (unsigned)statuses[index]);
        }
        if (strcmp(found, wanted) != 0 || close != wanted_close) {
            printf("in pieces of %zu: \"%s\", not \"%s\", close %d\n%s\n", step, found, wanted, close, text);
            assert(0);
        }
    }
}

int main(void)
{
    expect("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "200", false);
    expect("GET /?x=1 HTTP/1.1\n\n", "200", false);
    expect("HEAD / HTTP/1.1\r\nConnection: CLOSE\r\n\r\n", "200", true);
    expect("GET /favicon.ico HTTP/1.1\r\n\r\n", "404", false);
    expect("GET / HTTP/1.0\r\n\r\n", "200", true);
    expect("GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", "200", false);
    /* Pipelined, with empty lines between. */
    expect("GET / HTTP/1.1\r\n\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection:close\r\n\r\n", "200 404 200", true);
    expect("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /", "405", true);
    expect("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "413", true);
    expect("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "200", false);
    expect("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "413", true);
    expect("GET / HTTP/2.0\r\n\r\n", "505", true);
    expect("GET /\r\n\r\n", "400", true);
    expect("nonsense\r\n\r\n", "400", true);
    expect("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400", true);
    expect("GET x HTTP/1.1\r\n\r\n", "400", true);
    /* RFC 9112 section 5.1: what others may take for a length is refused, or the body would be the next request. */
    expect("GET / HTTP/1.1\r\nContent-Length : 18\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400", true);
    expect("GET / HTTP/1.1\r\nTransfer-Encoding\t: chunked\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400", true);
    expect("GET / HTTP/1.1\r\nHost: a\r\n Content-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400", true);
    expect("GET / HTTP/1.1\r\n\tHost: a\r\n\r\n", "400", true);
    expect("GET / HTTP/1.1\r\n: a\r\n\r\n", "400", true);
    expect("GET / HTTP/1.1\r\nConnection: close, TE\r\n\r\n", "200", true);
    expect("GET / HTTP/1.1\r\nConnection: TE\t, close \r\n\r\n", "200", true);
    expect("GET / HTTP/1.1\r\nConnection: closed, TE,\r\n\r\n", "200", false);
    expect("GET / HTTP/1.0\r\nConnection: TE, Keep-Alive\r\n\r\n", "200", false);
    expect("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "200", true);

    char longer[12000];
    memset(longer, 'a', sizeof longer);
    memcpy(longer, "GET /", 5);
    strcpy(longer + 1000, " HTTP/1.1\r\n\r\n");
    expect(longer, "414", true);
    memset(longer, 'a', sizeof longer);
    memcpy(longer, "GET / HTTP/1.1\r\nx: ", 19);
    strcpy(longer + 1000, "\r\n\r\n");
    expect(longer, "431", true);
    /* Headers without end. */
    strcpy(longer, "GET / HTTP/1.1\r\n");
    for (int line = 0; line < 700; line++) {
        strcat(longer, "name: value\r\n");
    }
    expect(longer, "431", true);

    /* What is answered fits what is announced. */
    uint16_t statuses[] = {200, 400, 404, 405, 413, 414, 431, 505};
    for (size_t index = 0; index < sizeof statuses / sizeof *statuses; index++) {
        for (int close = 0; close < 2; close++) {
            reprise_http_request request;
            const char *head, *body;
            size_t head_len, body_len;
            char status[32], length[32];
            reprise_http_begin(&request);
            request.status = statuses[index];
            request.close = close != 0 || (request.status != 200 && request.status != 404);
            reprise_http_response(&request, &head, &head_len, &body, &body_len);
            sprintf(status, "HTTP/1.1 %u ", (unsigned)request.status);
            sprintf(length, "Content-Length: %zu\r\n", body_len);
            assert(strncmp(head, status, strlen(status)) == 0);
            assert(strstr(head, length) != NULL && strcmp(head + head_len - 4, "\r\n\r\n") == 0);
            assert((strstr(head, "Connection: close") != NULL) == request.close);
            request.head = true;
            reprise_http_response(&request, &head, &head_len, &body, &body_len);
            assert(body_len == 0);
        }
    }
    puts("http: all tests passed");
    return 0;
}
