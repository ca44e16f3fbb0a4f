/*
 * One request by a plugin, in a process of its own: what `reprise layers` starts again and again. See reprise_stack.h.
 *
 *   reprise-run load PLUGIN               loads it, does nothing, ends
 *   reprise-run random PLUGIN             loads it, initialises it, and times its first random bytes and the next
 *   reprise-run request PLUGIN NAME=…     loads it, initialises it, and makes a request
 *   reprise-run serve PLUGIN NAME=…       loads it, and for each line of standard input forks a process that does the rest
 *
 * Standard output has a line for each request: "ok PORT OFFERED RESUMED STATUS", or "failed WORDS"; of serve with the nanoseconds
 * before it that the request took, and those of CPU.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reprise_stack.h"

enum { MOST = 64, LARGEST_RECORD = 5 + 65535, TEXT = 512 };

static struct {
    const char *host, *port, *server_name, *request, *chain, *key, *session;
    const char **trust;
    size_t trusts;
    int version, sessions, is_head, timeout;
    uint16_t suites[MOST], groups[MOST];
    size_t suites_length, groups_length;
} spec;

static const reprise_stack *stack;

/* The one line of a request; a fault ends it. */
static char line[TEXT];

static int failed(const char *what, const char *why)
{
    snprintf(line, sizeof line, "failed %s: %s\n", what, why);
    return 0;
}

static int refused(const char *call)
{
    char text[TEXT / 2] = "";
    size_t length = stack->error_text(sizeof text - 1, text);
    text[length < sizeof text ? length : sizeof text - 1] = 0;
    for (char *c = text; *c; c++)
        if (*c == '\n') *c = ' ';
    return failed(call, *text ? text : "no reason given");
}

static int64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void say(const char *text)
{
    size_t length = strlen(text);
    while (length) {
        ssize_t count = write(1, text, length);
        if (count <= 0) exit(1);
        text += count, length -= (size_t)count;
    }
}

/* ---- files ---- */

typedef struct {
    char *data;
    size_t length;
} bytes;

static int append_file(bytes *to, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return failed(path, strerror(errno));
    for (;;) {
        char *larger = realloc(to->data, to->length + 65536);
        if (!larger) return failed(path, "no memory");
        to->data = larger;
        ssize_t count = read(file, to->data + to->length, 65535);
        if (count < 0) return failed(path, strerror(errno));
        if (!count) break;
        to->length += (size_t)count;
    }
    to->data[to->length++] = '\n';
    close(file);
    return 1;
}

static reprise_text text_of(bytes b) { return (reprise_text){b.length ? b.data : NULL, b.length}; }

/* ---- the transport: whole records ---- */

typedef struct {
    int socket;
    uint8_t data[LARGEST_RECORD];
    size_t length;
} transport;

static transport link_;

static int connect_to(int *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *address;
    struct timeval timeout = {.tv_sec = spec.timeout / 1000, .tv_usec = spec.timeout % 1000 * 1000};
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    int on = 1;
    if (getaddrinfo(spec.host, spec.port, &hints, &address)) return failed("address", spec.host);
    link_.socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(link_.socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    setsockopt(link_.socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(link_.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int done = connect(link_.socket, address->ai_addr, address->ai_addrlen) == 0;
    freeaddrinfo(address);
    if (!done || getsockname(link_.socket, (struct sockaddr *)&own, &size)) return failed("connection", strerror(errno));
    *port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port : ((struct sockaddr_in *)&own)->sin_port);
    return 1;
}

/* Sends what the library wants to send. */
static int flush(reprise_connection *connection)
{
    uint8_t out[16384];
    ptrdiff_t count;
    while ((count = stack->take(connection, sizeof out, out)) > 0)
        for (ptrdiff_t sent = 0, n; sent < count; sent += n)
            if ((n = send(link_.socket, out + sent, (size_t)(count - sent), MSG_NOSIGNAL)) <= 0) return 0;
    return count == 0;
}

/* Feeds the next whole record: 1; 0 at the end of the connection; -1 where it is broken. */
static int feed_record(reprise_connection *connection)
{
    for (;;) {
        size_t whole = link_.length >= 5 ? 5 + (size_t)(link_.data[3] << 8 | link_.data[4]) : LARGEST_RECORD;
        if (link_.length >= whole) {
            for (size_t fed = 0; fed < whole;) {
                ptrdiff_t count = stack->feed(connection, link_.data + fed, whole - fed);
                if (count <= 0) return -1;
                fed += (size_t)count;
            }
            link_.length -= whole;
            memmove(link_.data, link_.data + whole, link_.length);
            return 1;
        }
        ssize_t count = recv(link_.socket, link_.data + link_.length, sizeof link_.data - link_.length, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count == 0 ? 0 : -1;
        link_.length += (size_t)count;
    }
}

/* ---- one request ---- */

static int shake_hands(reprise_connection *connection)
{
    for (;;) {
        int state = stack->handshake(connection);
        if (state <= -100) {
            refused("handshake");
            flush(connection);
            return 0;
        }
        if (!flush(connection)) return failed("handshake", strerror(errno));
        if (state == REPRISE_OK) return 1;
        if (state == REPRISE_WANT_READ && feed_record(connection) <= 0)
            return failed("handshake", errno == EAGAIN ? "no answer in time" : "the server closed");
    }
}

/* Whether a response is whole: its head, and the body that its head says (RFC 9112, section 6.3). */
static int is_whole(const char *text, size_t length)
{
    const char *end = memmem(text, length, "\r\n\r\n", 4), *field;
    if (!end) return 0;
    if (spec.is_head) return 1;
    size_t body = length - (size_t)(end + 4 - text);
    for (field = text; field < end; field = (const char *)memchr(field, '\n', (size_t)(end + 2 - field)) + 1) {
        if (!strncasecmp(field, "content-length:", 15)) return body >= strtoul(field + 15, NULL, 10);
        if (!strncasecmp(field, "transfer-encoding:", 18)) return body >= 5 && !memcmp(text + length - 5, "0\r\n\r\n", 5);
    }
    return 0; /* it ends with the connection */
}

static int await_response(reprise_connection *connection, int *status)
{
    bytes response = {0};
    for (;;) {
        char *larger = realloc(response.data, response.length + 16385);
        if (!larger) return failed("response", "no memory");
        response.data = larger;
        ptrdiff_t count = stack->read(connection, 16384, (uint8_t *)response.data + response.length);
        if (!flush(connection)) return failed("response", strerror(errno));
        int ended = count == REPRISE_CLOSED;
        if (count > 0) {
            response.length += (size_t)count;
            response.data[response.length] = 0;
            if (is_whole(response.data, response.length)) break;
            continue;
        }
        if (count <= -100) return refused("response");
        if (!ended) {
            int fed = feed_record(connection);
            if (fed < 0) return failed("response", errno == EAGAIN ? "no answer in time" : strerror(errno));
            ended = fed == 0;
        }
        if (ended && !response.length) return failed("response", "the server closed");
        if (ended) break;
    }
    *status = response.length > 12 ? atoi(response.data + 9) : 0;
    free(response.data);
    return 1;
}

static void leave(reprise_connection *connection)
{
    uint8_t rest[16384];
    if (stack->close(connection) < 0 || !flush(connection)) return;
    for (;;) {
        ptrdiff_t count = stack->read(connection, sizeof rest, rest);
        if (count > 0) continue;
        if (count != REPRISE_WANT_READ || feed_record(connection) <= 0) return;
    }
}

/* The session of the request before: none where there was none. */
static int take_session(reprise_context *context, reprise_session **session)
{
    bytes stored = {0};
    if (!spec.session || access(spec.session, F_OK)) return 1;
    if (!append_file(&stored, spec.session)) return 0;
    int result = stack->session_import(context, (uint8_t *)stored.data, stored.length - 1, session);
    free(stored.data);
    return result == REPRISE_OK ? 1 : refused("session_import");
}

static int keep_session(reprise_connection *connection)
{
    static uint8_t stored[65536];
    reprise_session *session = NULL;
    if (!spec.session) return 1;
    int result = stack->session_take(connection, &session);
    if (result == REPRISE_NO_SESSION) return 1; /* the one before serves once more */
    if (result != REPRISE_OK) return refused("session_take");
    ptrdiff_t length = stack->session_export(session, sizeof stored, stored);
    stack->session_free(session);
    if (length <= 0) return refused("session_export");
    int file = open(spec.session, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int done = file >= 0 && write(file, stored, (size_t)length) == length && close(file) == 0;
    return done ? 1 : failed(spec.session, strerror(errno));
}

static int request(void)
{
    bytes chain = {0}, key = {0}, trust = {0};
    reprise_context *context = NULL;
    reprise_session *session = NULL;
    reprise_connection *connection = NULL;
    reprise_facts facts = {.size = sizeof facts, .resumed = -1};
    int port = 0, status = 0;
    if (stack->init() != REPRISE_OK) return refused("init");
    if (spec.chain && (!append_file(&chain, spec.chain) || !append_file(&key, spec.key))) return 0;
    for (size_t i = 0; i < spec.trusts; i++)
        if (!append_file(&trust, spec.trust[i])) return 0;
    reprise_options options = {
        .size = sizeof options,
        .side = REPRISE_CLIENT,
        .version = (uint16_t)spec.version,
        .sessions = spec.sessions,
        .suites = spec.suites,
        .suites_length = spec.suites_length,
        .groups = spec.groups,
        .groups_length = spec.groups_length,
        .chain = text_of(chain),
        .key = text_of(key),
        .trust = text_of(trust),
        .server_name = spec.server_name,
    };
    if (stack->context_new(&options, &context) != REPRISE_OK) return refused("context_new");
    free(chain.data), free(key.data), free(trust.data);
    if (!take_session(context, &session) || !connect_to(&port)) return 0;
    if (stack->connection_new(context, session, &connection) != REPRISE_OK) return refused("connection_new");
    if (!shake_hands(connection)) return 0;
    size_t length = strlen(spec.request);
    for (size_t sent = 0; sent < length;) {
        ptrdiff_t count = stack->write(connection, (const uint8_t *)spec.request + sent, length - sent);
        if (count <= -100) return refused("write");
        if (count > 0) sent += (size_t)count;
        if (!flush(connection)) return failed("request", strerror(errno));
    }
    if (!await_response(connection, &status)) return 0;
    if (stack->facts(connection, &facts) != REPRISE_OK) return refused("facts");
    if (!keep_session(connection)) return 0;
    int offered = session != NULL;
    leave(connection);
    stack->connection_free(connection);
    if (session) stack->session_free(session);
    stack->context_free(context);
    close(link_.socket);
    snprintf(line, sizeof line, "ok %d %d %d %d\n", port, offered, facts.resumed, status);
    return 1;
}

/* ---- processes ---- */

/* Forks for each line: the library is loaded, and was never initialised. */
static int serve(void)
{
    char order[16];
    say("ready\n");
    while (read(0, order, sizeof order) > 0) {
        int answer[2], status;
        struct rusage usage;
        if (pipe(answer)) return 1;
        int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
        pid_t child = fork();
        if (child < 0) return 1;
        if (!child) {
            alarm((unsigned)(3 * spec.timeout / 1000 + 10));
            int done = request();
            if (write(answer[1], line, strlen(line)) < 0) done = 0;
            exit(done ? 0 : 1);
        }
        close(answer[1]);
        if (wait4(child, &status, 0, &usage) < 0) return 1;
        cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu, wall = now(CLOCK_MONOTONIC) - wall;
        ssize_t count = read(answer[0], line, sizeof line - 1);
        close(answer[0]);
        if (WIFSIGNALED(status))
            snprintf(line, sizeof line, "crashed signal %d\n", WTERMSIG(status));
        else if (count <= 0)
            failed("process", "it ended without an answer");
        else
            line[count] = 0;
        cpu += (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000)
               + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
        char whole[TEXT + 64];
        snprintf(whole, sizeof whole, "%lld %lld %s", (long long)wall, (long long)cpu, line);
        say(whole);
    }
    return 0;
}

static int random_bytes(void)
{
    uint8_t bytes[32];
    int64_t times[3];
    if (stack->size < offsetof(reprise_stack, random) + sizeof stack->random || !stack->random)
        return failed("random", "the plugin gives no random bytes");
    int64_t begin = now(CLOCK_PROCESS_CPUTIME_ID);
    if (stack->init() != REPRISE_OK) return refused("init");
    times[0] = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    for (int i = 1; i <= 2; i++) {
        begin = now(CLOCK_PROCESS_CPUTIME_ID);
        if (stack->random(sizeof bytes, bytes) != REPRISE_OK) return refused("random");
        times[i] = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    }
    snprintf(line, sizeof line, "ok %lld %lld %lld\n", (long long)times[0], (long long)times[1], (long long)times[2]);
    return 1;
}

static size_t numbers(char *list, uint16_t *out)
{
    size_t count = 0;
    for (char *word = strtok(list, ","); word && count < MOST; word = strtok(NULL, ",")) out[count++] = (uint16_t)atoi(word);
    return count;
}

static int read_spec(int count, char **words)
{
    spec.trust = calloc((size_t)count + 1, sizeof *spec.trust);
    for (int i = 0; i < count; i++) {
        char *value = strchr(words[i], '=');
        if (!value) return 0;
        *value++ = 0;
        const char *name = words[i];
        if (!strcmp(name, "host")) spec.host = value;
        else if (!strcmp(name, "port")) spec.port = value;
        else if (!strcmp(name, "server_name")) spec.server_name = value;
        else if (!strcmp(name, "request")) spec.request = value;
        else if (!strcmp(name, "is_head")) spec.is_head = atoi(value);
        else if (!strcmp(name, "chain")) spec.chain = value;
        else if (!strcmp(name, "key")) spec.key = value;
        else if (!strcmp(name, "trust")) spec.trust[spec.trusts++] = value;
        else if (!strcmp(name, "session")) spec.session = value;
        else if (!strcmp(name, "version")) spec.version = atoi(value);
        else if (!strcmp(name, "sessions")) spec.sessions = atoi(value);
        else if (!strcmp(name, "timeout")) spec.timeout = atoi(value);
        else if (!strcmp(name, "suites")) spec.suites_length = numbers(value, spec.suites);
        else if (!strcmp(name, "groups")) spec.groups_length = numbers(value, spec.groups);
        else return 0;
    }
    return spec.host && spec.port && spec.request && spec.trusts && spec.timeout && !spec.chain == !spec.key;
}

int main(int count, char **words)
{
    const char *mode = count > 2 ? words[1] : "";
    int makes_requests = !strcmp(mode, "request") || !strcmp(mode, "serve");
    if ((!makes_requests && strcmp(mode, "load") && strcmp(mode, "random")) || (makes_requests && !read_spec(count - 3, words + 3))) {
        say("failed usage: reprise-run load|random|request|serve PLUGIN NAME=VALUE...\n");
        return 2;
    }
    /* GnuTLS would set itself up while it is loaded. Its init does it here, as that of every library. */
    setenv("GNUTLS_NO_IMPLICIT_INIT", "1", 1);
    void *library = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
    reprise_stack_function table = library ? (reprise_stack_function)dlsym(library, REPRISE_STACK_SYMBOL) : NULL;
    if (!table || !(stack = table()) || stack->abi != REPRISE_STACK_ABI) {
        const char *why = dlerror();
        failed(words[2], why ? why : "no plugin of this version");
        say(line);
        return 1;
    }
    if (!strcmp(mode, "load")) return 0;
    if (!strcmp(mode, "serve")) return serve();
    if (makes_requests) alarm((unsigned)(3 * spec.timeout / 1000 + 10));
    int done = makes_requests ? request() : random_bytes();
    say(line);
    return done ? 0 : 1;
}
