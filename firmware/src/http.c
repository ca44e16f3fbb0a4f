/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * See service.h. HTTP/1.1 (RFC 9112) as a server without memory needs it: a head that is whole in a buffer, a body in pieces.
 *
 *     input: [ head: request line, headers, empty line | piece of the body | what was read ahead ]
 *
 * Where it is not certain where a request ends, the connection ends with it: what follows may be another's request.
 */
#include "reprise/service.h"

#include <string.h>

static size_t head_len(const reprise_http *http);
static uint16_t read_head(reprise_http *http, uint32_t body_max);
static uint16_t read_request_line(reprise_http *http, char *line, size_t len);
static bool is_text(const char *text, size_t len);
static bool is_name(const char *text, size_t len);
static bool lists(const char *value, size_t len, const char *word);
static size_t trim(const char **text, size_t len);
static bool is_word(const char *text, size_t len, const char *word);
static bool read_length(const char *text, size_t len, uint32_t *length);
static void drop(reprise_http *http, size_t from, size_t len);

void reprise_http_begin(reprise_http *http, void *input, size_t size)
{
    memset(http, 0, sizeof *http);
    http->input = input;
    http->input_size = size;
}

reprise_http_event reprise_http_next(reprise_http *http, uint32_t body_max)
{
    reprise_http_request *request = &http->request;
    if (http->head == 0) {
        /* RFC 9112 section 2.2: empty lines before a request line are skipped. */
        size_t empty = 0;
        while (empty < http->input_len && (http->input[empty] == '\r' || http->input[empty] == '\n')) {
            empty++;
        }
        drop(http, 0, empty);
        http->head = head_len(http);
        if (http->head == 0 && http->input_len < http->input_size) {
            return REPRISE_HTTP_MORE;
        }
        memset(request, 0, sizeof *request);
        http->left = 0;
        http->is_head = http->expects = false;
        /* Behind the head there is room for a piece of the body. */
        if (http->head == 0 || http->head == http->input_size) {
            http->status = memchr(http->input, '\n', http->input_len) != NULL ? 431 : 414;
        } else {
            http->status = read_head(http, body_max);
        }
        http->close |= http->status != 0;
    }
    drop(http, http->head, http->piece);
    http->piece = 0;
    request->body = NULL;
    request->body_len = 0;
    if (http->status != 0 || http->left == 0) {
        return REPRISE_HTTP_COMPLETE;
    }
    size_t there = http->input_len - http->head;
    if (there == 0) {
        return REPRISE_HTTP_MORE;
    }
    http->expects = false;
    http->piece = there < http->left ? there : http->left;
    http->left -= (uint32_t)http->piece;
    request->body = (const uint8_t *)http->input + http->head;
    request->body_len = http->piece;
    return REPRISE_HTTP_PIECE;
}

static void put(reprise_http *http, const char *text)
{
    size_t len = strlen(text);
    if (http->output_len + len <= sizeof http->output) {
        memcpy(http->output + http->output_len, text, len);
    }
    http->output_len += len;
}

static void put_number(reprise_http *http, size_t number)
{
    char digits[24], *digit = digits + sizeof digits - 1;
    *digit = 0;
    do {
        *--digit = (char)('0' + number % 10);
    } while ((number /= 10) > 0);
    put(http, digit);
}

bool reprise_http_respond(reprise_http *http, const reprise_http_response *response)
{
    /* A body that was not read to its end would be the next request. */
    http->close |= http->left > 0;
    http->output_len = 0;
    put(http, "HTTP/1.1 ");
    put_number(http, response->status);
    put(http, " ");
    if (response->status != 204) { /* RFC 9110 section 8.6 */
        put(http, "\r\nContent-Length: ");
        put_number(http, response->body_len);
    }
    put(http, http->close ? "\r\nConnection: close\r\n" : "\r\n");
    put(http, response->headers != NULL ? response->headers : "");
    put(http, "\r\n");
    if (http->output_len > sizeof http->output) {
        reprise_http_response too_long = {500, NULL, NULL, 0};
        return reprise_http_respond(http, &too_long);
    }
    drop(http, 0, http->head + http->piece);
    http->head = http->piece = 0;
    return !http->is_head && response->body_len > 0;
}

/* The next line of a head, without its end; false at the empty line. */
static bool next_line(const char **at, const char *end, const char **line, size_t *len)
{
    const char *feed = memchr(*at, '\n', (size_t)(end - *at));
    if (feed == NULL) {
        return false;
    }
    *line = *at;
    *len = (size_t)(feed - *at);
    *at = feed + 1;
    if (*len > 0 && feed[-1] == '\r') {
        --*len;
    }
    return *len > 0;
}

const char *reprise_http_header(const reprise_http_request *request, const char *name, size_t *len)
{
    const char *at = request->headers, *line;
    size_t line_len;
    while (next_line(&at, request->headers + request->headers_len, &line, &line_len)) {
        const char *value = memchr(line, ':', line_len);
        if (value != NULL && is_word(line, (size_t)(value - line), name)) {
            value++;
            *len = trim(&value, line_len - (size_t)(value - line));
            return value;
        }
    }
    return NULL;
}

/* Bytes up to the empty line and with it; 0 if it is not there. */
static size_t head_len(const reprise_http *http)
{
    const char *at = http->input, *line;
    size_t len = 1;
    while (next_line(&at, http->input + http->input_len, &line, &len)) {
    }
    return len == 0 ? (size_t)(at - http->input) : 0;
}

/* 0, or the status that refuses the request. */
static uint16_t read_head(reprise_http *http, uint32_t body_max)
{
    reprise_http_request *request = &http->request;
    const char *at = http->input, *end = at + http->head, *line = at;
    size_t len = 0;
    bool has_length = false, close = false;
    next_line(&at, end, &line, &len);
    uint16_t status = is_text(line, len) ? read_request_line(http, http->input, len) : 400;
    request->headers = at;
    request->headers_len = (size_t)(end - at);
    while (status == 0 && next_line(&at, end, &line, &len)) {
        const char *value = memchr(line, ':', len);
        /* RFC 9112 section 5.1: another server may take `Content-Length : 5` for a length, and what follows for a body. */
        if (value == NULL || !is_name(line, (size_t)(value - line)) || !is_text(line, len)) {
            return 400;
        }
        size_t name = (size_t)(value++ - line);
        size_t value_len = trim(&value, len - name - 1);
        if (is_word(line, name, "connection")) {
            close |= lists(value, value_len, "close");
        } else if (is_word(line, name, "transfer-encoding")) {
            status = 411; /* RFC 9112 section 6.3: a body without a length may be refused */
        } else if (is_word(line, name, "content-length")) {
            uint32_t length;
            if (!read_length(value, value_len, &length) || (has_length && length != http->left)) {
                return 400;
            }
            has_length = true;
            http->left = request->length = length;
        } else if (is_word(line, name, "expect")) {
            http->expects = !http->close && is_word(value, value_len, "100-continue");
        }
    }
    http->close |= close;
    return status == 0 && (http->left > body_max || http->left == UINT32_MAX) ? 413 : status;
}

/* Splits it in place: method and path end in 0 then. */
static uint16_t read_request_line(reprise_http *http, char *line, size_t len)
{
    char *path = memchr(line, ' ', len);
    char *version = path != NULL ? memchr(path + 1, ' ', len - (size_t)(path + 1 - line)) : NULL;
    if (version == NULL || path[1] != '/' || !is_name(line, (size_t)(path - line)) || !is_name(path + 1, (size_t)(version - path - 1))
        || len - (size_t)(version + 1 - line) != 8 || memcmp(version + 1, "HTTP/", 5) != 0) {
        return 400;
    }
    *path++ = *version++ = 0;
    http->request.method = line;
    http->request.path = path;
    http->is_head = strcmp(line, "HEAD") == 0;
    /* RFC 9112 appendix C.2.2: a client of HTTP/1.0 may take a connection for kept only if it is told so. It is not. */
    http->close = version[7] == '0';
    return memcmp(version, "HTTP/1.", 7) == 0 ? 0 : 505;
}

/* Neither control characters nor a carriage return by itself, which others may take for the end of a line. */
static bool is_text(const char *text, size_t len)
{
    while (len > 0 && ((uint8_t)*text >= ' ' || *text == '\t') && *text != 127) {
        text++, len--;
    }
    return len == 0;
}

/* Whether it can be a name or a path: neither empty nor with spaces, control characters or what is not ASCII. */
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

/* Whether the text is this word of lower case, whatever its own case. */
static bool is_word(const char *text, size_t len, const char *word)
{
    for (size_t index = 0; index < len; index++) {
        char lower = text[index] >= 'A' && text[index] <= 'Z' ? (char)(text[index] + 32) : text[index];
        if (word[index] == 0 || lower != word[index]) {
            return false;
        }
    }
    return word[len] == 0;
}

/* Digits alone. What is too large becomes the largest. */
static bool read_length(const char *text, size_t len, uint32_t *length)
{
    *length = 0;
    for (size_t index = 0; index < len; index++) {
        if (text[index] < '0' || text[index] > '9') {
            return false;
        }
        *length = *length > (UINT32_MAX - 9) / 10 ? UINT32_MAX : *length * 10 + (uint32_t)(text[index] - '0');
    }
    return len > 0;
}

static void drop(reprise_http *http, size_t from, size_t len)
{
    http->input_len -= len;
    memmove(http->input + from, http->input + from + len, http->input_len - from);
}
