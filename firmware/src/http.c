/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * As much of HTTP/1.1 (RFC 9112) as a small server needs: it reads one line at a time, so that a request may come in pieces
 * of any size, and keeps of it only what the response depends on. A request with a body is refused, since a body that is
 * not read would be taken for the next request.
 */
#include <string.h>

#include "reprise/service.h"

static void take_request_line(reprise_http_request *request, const char *line, size_t len);
static void take_header(reprise_http_request *request, const char *line, size_t len);
static void fail(reprise_http_request *request, uint16_t status);
static bool is_name(const char *text, size_t len);
static bool lists(const char *value, size_t len, const char *word);
static size_t trim(const char **text, size_t len);
static bool is_word(const char *text, size_t len, const char *word);

void reprise_http_begin(reprise_http_request *request)
{
    request->input_len = 0;
    request->headers = 0;
    request->status = 0;
    request->in_headers = request->head = request->close = request->overrun = false;
}

bool reprise_http_parse(reprise_http_request *request)
{
    for (;;) {
        uint8_t *end = memchr(request->input, '\n', request->input_len);
        size_t taken = end != NULL ? (size_t)(end - request->input) + 1 : request->input_len;
        if (end == NULL && request->input_len < sizeof request->input) {
            return false;
        }
        const char *line = (const char *)request->input;
        size_t len = end != NULL ? taken - 1 : taken;
        if (end != NULL && len > 0 && line[len - 1] == '\r') {
            len--;
        }
        bool empty = end != NULL && len == 0 && !request->overrun;
        bool complete = false;
        if (request->headers + taken > REPRISE_HTTP_HEADERS) {
            fail(request, 431);
            complete = true; /* whatever comes next: it is over */
        } else if (end == NULL) {
            fail(request, request->in_headers ? 431 : 414);
            request->overrun = true;
        } else if (request->overrun) {
            request->overrun = false;
            request->in_headers = true;
        } else if (empty) {
            /* RFC 9112 section 2.2: empty lines before a request line are skipped. */
            complete = request->in_headers;
        } else if (request->in_headers) {
            take_header(request, line, len);
        } else {
            take_request_line(request, line, len);
            request->in_headers = true;
        }
        request->headers = (uint16_t)(request->headers + taken);
        request->input_len = (uint16_t)(request->input_len - taken);
        memmove(request->input, request->input + taken, request->input_len);
        if (complete) {
            if (request->status == 0) {
                request->status = 200;
            }
            request->in_headers = false;
            request->headers = 0;
            return true;
        }
    }
}

#define PAGE                                                                                                           \
    "<!doctype html>\n<title>A microcontroller</title>\n<p>This page came over TLS from a microcontroller.\n"
#define TEXT_OF(text) text, sizeof text - 1
#define RESPONSE(status, type, length, extra)                                                                          \
    TEXT_OF("HTTP/1.1 " status "\r\nContent-Type: " type "\r\nContent-Length: " length "\r\n" extra "\r\n")

void reprise_http_response(const reprise_http_request *request, const char **head, size_t *head_len, const char **body,
                           size_t *body_len)
{
    static const struct {
        uint16_t status;
        bool close;
        const char *head;
        size_t head_len;
        const char *body;
        size_t body_len;
    } responses[] = {
        {200, false, RESPONSE("200 OK", "text/html", "100", ""), TEXT_OF(PAGE)},
        {200, true, RESPONSE("200 OK", "text/html", "100", "Connection: close\r\n"), TEXT_OF(PAGE)},
        {404, false, RESPONSE("404 Not Found", "text/plain", "10", ""), TEXT_OF("not found\n")},
        {404, true, RESPONSE("404 Not Found", "text/plain", "10", "Connection: close\r\n"), TEXT_OF("not found\n")},
        {400, true, RESPONSE("400 Bad Request", "text/plain", "0", "Connection: close\r\n"), TEXT_OF("")},
        {405, true, RESPONSE("405 Method Not Allowed", "text/plain", "0", "Allow: GET, HEAD\r\nConnection: close\r\n"),
         TEXT_OF("")},
        {413, true, RESPONSE("413 Content Too Large", "text/plain", "0", "Connection: close\r\n"), TEXT_OF("")},
        {414, true, RESPONSE("414 URI Too Long", "text/plain", "0", "Connection: close\r\n"), TEXT_OF("")},
        {431, true, RESPONSE("431 Request Header Fields Too Large", "text/plain", "0", "Connection: close\r\n"),
         TEXT_OF("")},
        {505, true, RESPONSE("505 HTTP Version Not Supported", "text/plain", "0", "Connection: close\r\n"), TEXT_OF("")},
    };
    /* An array of negative length where the Content-Length above is wrong. */
    (void)sizeof(char[sizeof PAGE - 1 == 100 ? 1 : -1]);
    size_t index = 0;
    while (index + 1 < sizeof responses / sizeof *responses
           && (responses[index].status != request->status || (request->close && !responses[index].close))) {
        index++;
    }
    *head = responses[index].head;
    *head_len = responses[index].head_len;
    *body = responses[index].body;
    *body_len = request->head ? 0 : responses[index].body_len;
}

static void take_request_line(reprise_http_request *request, const char *line, size_t len)
{
    request->head = request->close = false;
    const char *space = memchr(line, ' ', len);
    size_t method = space != NULL ? (size_t)(space - line) : len;
    const char *path = line + method + 1;
    const char *second = space != NULL ? memchr(path, ' ', len - method - 1) : NULL;
    if (second == NULL) {
        fail(request, 400);
        return;
    }
    const char *version = second + 1;
    size_t version_len = len - (size_t)(version - line);
    size_t path_len = (size_t)(second - path);
    if (version_len != 8 || memcmp(version, "HTTP/", 5) != 0) {
        fail(request, 400);
    } else if (memcmp(version, "HTTP/1.", 7) != 0) {
        fail(request, 505);
    } else if (is_word(line, method, "HEAD") || is_word(line, method, "GET")) {
        request->head = is_word(line, method, "HEAD");
        /* HTTP/1.0 closes unless told otherwise. */
        request->close = version[7] == '0';
        if (path_len == 0 || path[0] != '/') {
            fail(request, 400);
        } else if (!(path_len == 1 || path[1] == '?')) {
            request->status = 404;
        }
    } else {
        fail(request, 405);
    }
}

static void take_header(reprise_http_request *request, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    /* RFC 9112 section 5.1: another server may take `Content-Length : 5` for a length, and what follows for a body. */
    if (colon == NULL || !is_name(line, (size_t)(colon - line))) {
        fail(request, 400);
        return;
    }
    size_t name = (size_t)(colon - line);
    const char *value = colon + 1;
    size_t value_len = trim(&value, len - name - 1);
    if (is_word(line, name, "connection")) {
        if (lists(value, value_len, "close")) {
            request->close = true;
        } else if (lists(value, value_len, "keep-alive") && request->status < 400) {
            request->close = false;
        }
    } else if (is_word(line, name, "transfer-encoding")
               || (is_word(line, name, "content-length") && !is_word(value, value_len, "0"))) {
        fail(request, 413);
    }
}

/* The first fault counts, and the connection ends with it: where the next request would begin is not certain. */
static void fail(reprise_http_request *request, uint16_t status)
{
    if (request->status == 0 || request->status == 404) {
        request->status = status;
    }
    request->close = true;
}

/* Whether it can be a field's name: neither empty nor with spaces, control characters or what is not ASCII. */
static bool is_name(const char *text, size_t len)
{
    for (size_t index = 0; index < len; index++) {
        uint8_t byte = (uint8_t)text[index];
        if (byte <= ' ' || byte >= 127) {
            return false;
        }
    }
    return len > 0;
}

/* Whether a list with commas between has this word. */
static bool lists(const char *value, size_t len, const char *word)
{
    for (;;) {
        const char *comma = memchr(value, ',', len);
        const char *item = value;
        size_t item_len = comma != NULL ? (size_t)(comma - value) : len;
        size_t word_len = trim(&item, item_len);
        if (is_word(item, word_len, word)) {
            return true;
        }
        if (comma == NULL) {
            return false;
        }
        len -= item_len + 1;
        value = comma + 1;
    }
}

/* Moves to what is not a space or tab, and returns how long that is without those at its end. */
static size_t trim(const char **text, size_t len)
{
    while (len > 0 && (**text == ' ' || **text == '\t')) {
        ++*text, len--;
    }
    while (len > 0 && ((*text)[len - 1] == ' ' || (*text)[len - 1] == '\t')) {
        len--;
    }
    return len;
}

/* Whether the text is this word of lower or upper case letters, whatever its case. */
static bool is_word(const char *text, size_t len, const char *word)
{
    for (size_t index = 0; index < len; index++) {
        char lower = text[index] >= 'A' && text[index] <= 'Z' ? (char)(text[index] + 32) : text[index];
        char wanted = word[index] >= 'A' && word[index] <= 'Z' ? (char)(word[index] + 32) : word[index];
        if (wanted == 0 || lower != wanted) {
            return false;
        }
    }
    return word[len] == 0;
}
