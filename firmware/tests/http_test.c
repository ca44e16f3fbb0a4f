/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HTTP/1.1 as http.c reads it: requests whole and in pieces, and what is refused. Built with -fsanitize=address,undefined. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "reprise/service.h"

enum { SIZE = 256, BODY = 1000 };

/*
 * Feeds `text` in pieces of `step` bytes, and says what came: of each request "STATUS", for one that is whole "METHOD PATH
 * cookie=VALUE BODY"; "close" where the connection ends.
 */
static void read_all(const char *text, size_t step, char *said)
{
    static char input[SIZE];
    reprise_http http;
    const reprise_http_request *request = &http.request;
    size_t len = strlen(text), body = 0;
    reprise_http_begin(&http, input, sizeof input);
    for (*said = 0; !http.close || http.head > 0;) {
        switch (reprise_http_next(&http, BODY)) {
        case REPRISE_HTTP_MORE: {
            size_t room = http.input_size - http.input_len, part = step < room ? step : room;
            assert(room > 0);
            part = part < len ? part : len;
            if (part == 0) {
                return;
            }
            memcpy(http.input + http.input_len, text, part);
            http.input_len += part, text += part, len -= part;
            break;
        }
        case REPRISE_HTTP_PIECE:
            assert(request->body_len > 0 && request->body[request->body_len - 1] != '\n');
            body += request->body_len;
            break;
        default: {
            reprise_http_response response = {http.status != 0 ? http.status : 200, NULL, "x", 1};
            size_t value_len;
            const char *value = http.status == 0 ? reprise_http_header(request, "cookie", &value_len) : NULL;
            said += sprintf(said, "%u", (unsigned)response.status);
            if (http.status == 0) {
                assert(body == request->length);
                said += sprintf(said, " %s %s", request->method, request->path);
                said += value != NULL ? sprintf(said, " cookie=%.*s", (int)value_len, value) : 0;
                said += body > 0 ? sprintf(said, " body=%zu", body) : 0;
            }
            assert(reprise_http_respond(&http, &response) == (http.status != 0 || strcmp(said - 6, "HEAD /") != 0));
            assert(memcmp(http.output + http.output_len - 4, "\r\n\r\n", 4) == 0);
            said += sprintf(said, http.close ? ", close" : ", ");
            body = 0;
            if (http.close) {
                return;
            }
        }
        }
    }
}

static void expect(const char *text, const char *wanted)
{
    for (size_t step = 1; step <= 300; step++) {
        char said[4096];
        read_all(text, step, said);
        if (strcmp(said, wanted) != 0) {
            printf("in pieces of %zu: \"%s\", not \"%s\"\n%s\n", step, said, wanted, text);
            assert(0);
        }
    }
}

int main(void)
{
    expect("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "200 GET /, ");
    expect("GET /?x=1 HTTP/1.1\n\n", "200 GET /?x=1, ");
    expect("HEAD / HTTP/1.1\r\nConnection: CLOSE\r\n\r\n", "200 HEAD /, close");
    expect("PUT /a HTTP/1.1\r\nCOOKIE:\t a=b; c \t\r\nCookie: no\r\n\r\n", "200 PUT /a cookie=a=b; c, ");
    expect("GET / HTTP/1.0\r\n\r\n", "200 GET /, close");
    expect("GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", "200 GET /, close");
    /* Pipelined, with empty lines between. */
    expect("GET / HTTP/1.1\r\n\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection:close\r\n\r\nGET /c",
           "200 GET /, 200 GET /b, 200 GET /, close");
    /* Bodies. */
    expect("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n", "200 POST / body=5, 200 GET /, ");
    expect("POST / HTTP/1.1\r\nContent-Length: 3\r\ncontent-length:3\r\n\r\nabc", "200 POST / body=3, ");
    expect("GET / HTTP/1.1\r\nContent-Length: 000\r\n\r\n", "200 GET /, ");
    expect("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", "413, close");
    expect("POST / HTTP/1.1\r\nContent-Length: 4294967296\r\n\r\n", "413, close");
    expect("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", "413, close");
    expect("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "411, close");
    expect("POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "411, close");
    /* RFC 9112 section 6.3: what others may take for another length is refused, or the body would be the next request. */
    expect("POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "400, close");
    expect("POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\nhello", "400, close");
    expect("POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\nhello", "400, close");
    expect("POST / HTTP/1.1\r\nContent-Length:\r\n\r\nhello", "400, close");
    expect("GET / HTTP/1.1\r\nContent-Length : 18\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400, close");
    expect("GET / HTTP/1.1\r\nTransfer-Encoding\t: chunked\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400, close");
    expect("GET / HTTP/1.1\r\nHost: a\r\n Content-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400, close");
    expect("GET / HTTP/1.1\r\n\tHost: a\r\n\r\n", "400, close");
    expect("GET / HTTP/1.1\r\na: b\rContent-Length: 5\r\n\r\n", "400, close");
    expect("GET / HTTP/1.1\r\n: a\r\n\r\n", "400, close");
    expect("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400, close");
    expect("GET / HTTP/2.0\r\n\r\n", "505, close");
    expect("GET /\r\n\r\n", "400, close");
    expect("nonsense\r\n\r\n", "400, close");
    expect("GET x HTTP/1.1\r\n\r\n", "400, close");
    expect(" / HTTP/1.1\r\n\r\n", "400, close");
    expect("GET /\ta HTTP/1.1\r\n\r\n", "400, close");
    expect("GET / HTTP/1.1\r\nConnection: close, TE\r\n\r\n", "200 GET /, close");
    expect("GET / HTTP/1.1\r\nConnection: TE\t, close \r\nConnection: keep-alive\r\n\r\n", "200 GET /, close");
    expect("GET / HTTP/1.1\r\nConnection: closed, TE,\r\n\r\n", "200 GET /, ");
    expect("GET / HTTP/1.0\r\nConnection: TE, Keep-Alive\r\n\r\n", "200 GET /, close");
    expect("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "200 GET /, close");

    /* A body of several buffers, and heads that are longer than one. */
    static char longer[2000];
    strcpy(longer, "POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n");
    memset(longer + strlen(longer), 'a', 1000);
    strcat(longer, "GET / HTTP/1.1\r\n\r\n");
    expect(longer, "200 POST / body=1000, 200 GET /, ");
    memset(longer, 0, sizeof longer);
    memset(longer, 'a', 1000);
    memcpy(longer, "GET /", 5);
    expect(longer, "414, close");
    memcpy(longer, "GET / HTTP/1.1\r\ncookie: ", 24);
    expect(longer, "431, close");
    strcpy(longer, "GET / HTTP/1.1\r\n");
    for (int line = 0; line < 40; line++) {
        strcat(longer, "name: value\r\n");
    }
    expect(longer, "431, close");

    /* Headers of a response that do not fit are its end, not a part of it. */
    reprise_http http;
    reprise_http_response response = {200, longer, "x", 1};
    char input[SIZE];
    reprise_http_begin(&http, input, sizeof input);
    reprise_http_respond(&http, &response);
    assert(memcmp(http.output, "HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n", http.output_len) == 0);
    puts("http: all tests passed");
    return 0;
}
