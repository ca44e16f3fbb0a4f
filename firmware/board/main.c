/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The server on a board, as the host drives it: every byte of every connection comes and goes in frames over one line, so
 * that the host decides what arrives when, and two runs are the same to the instruction.
 *
 *     frame: type (1), connection (1), length (2, little-endian), that many bytes
 *
 * The host sends one frame and waits for the answer, one REPORT; what the board has to say comes before it.
 *
 *     CERTIFICATES, KEY  PEM
 *     START              a `start`: the server begins with what came before; all connections are gone
 *     TIME               milliseconds (4): the board has no clock of its own
 *     OPEN, DATA, CLOSE  what the peer of a connection does; from the board, what the server does
 *     MARK               peaks of stack and heap begin anew
 *     ENDLESS            from the board, in the place of all others: a connection always has more to do
 *
 * Counted is what the server does with a connection, and nothing else: not the line, not waiting.
 */
#include <string.h>

#include "board.h"
#include "heap.h"
#include "page.h"

enum { CERTIFICATES = 'P', KEY = 'K', START = 'S', TIME = 'T', OPEN = 'O', DATA = 'D', CLOSE = 'X', MARK = 'Z', REPORT = 'A', ENDLESS = '~' };
enum { CONNECTIONS = 2, MAX_PEM = 6144, MAX_FRAME = 2048, MAX_SESSIONS = 16 };

/* What the host says of the server; little-endian, as both sides are. */
typedef struct {
    uint32_t seed;
    uint32_t lifetime; /* of a session, in seconds */
    uint32_t handshake_ms, idle_ms;
    uint8_t http; /* 0: one response to whatever comes */
    uint8_t cached, ticketed;
    uint8_t stack; /* which, where an image holds two */
    uint32_t sessions;
} start_frame;

/* What the board says after each frame, of the connection that the frame named. */
struct report {
    uint8_t ok;    /* 0: the frame was refused */
    uint8_t state; /* 0: none; 1: handshake; 2: ready */
    uint8_t resumed;
    uint8_t unused;
    uint16_t version, suite;
    uint64_t handshake_instructions, handshake_cycles;     /* since OPEN, until the step that was ready */
    uint64_t application_instructions, application_cycles; /* from then on */
    uint32_t stack, heap, heap_peak;                       /* bytes; stack at most, since MARK */
    uint32_t hits, misses;
    uint32_t server_size, connection_size, slot_size;
};

struct slot {
    reprise_connection connection;
    void *tls;
    const uint8_t *inbox; /* what has come and was not read yet */
    size_t inbox_len;
    uint8_t index;
    bool open, peer_closed;
    reprise_tls_facts facts;
    uint64_t handshake[2], application[2];
};

static struct slot slots[CONNECTIONS];
static reprise_service service;
static reprise_tls_config config;
#if REPRISE_SESSION_CACHE
static reprise_session_cache cache;
static reprise_session_slot sessions[MAX_SESSIONS];
#endif
#if REPRISE_SESSION_TICKETS
static reprise_session_tickets tickets;
#endif
static char certificates[MAX_PEM], key[MAX_PEM / 2];
static uint8_t frame[MAX_FRAME];
static uint32_t now;
static uint64_t random_state;

#if defined(REPRISE_STACK_BOTH)
static const reprise_tls_backend *const stacks[] = {&reprise_mbedtls2, &reprise_mbedtls3};
#else
static const reprise_tls_backend *const stacks[] = {&REPRISE_STACK};
#endif

static bool start(const start_frame *start);
static bool open_connection(struct slot *slot);
static void drive(struct slot *slot);
static bool drive_all(void);
static void send_report(bool ok, const struct slot *slot);
static void send_frame(uint8_t type, uint8_t connection, const void *bytes, size_t len);
static size_t receive_frame(uint8_t *type, uint8_t *connection);
__attribute__((noinline)) static void mark(void);
static size_t stack_used(void);

int main(void)
{
    for (;;) {
        uint8_t type, index;
        size_t len = receive_frame(&type, &index);
        struct slot *slot = index < CONNECTIONS ? &slots[index] : NULL;
        bool ok = false;
        switch (type) {
        case CERTIFICATES:
        case KEY: {
            char *to = type == KEY ? key : certificates;
            size_t *there = type == KEY ? &config.key_len : &config.certificates_len;
            size_t room = type == KEY ? sizeof key : sizeof certificates;
            ok = len <= room - *there;
            if (ok) {
                memcpy(to + *there, frame, len);
                *there += len;
            }
            break;
        }
        case START: {
            start_frame asked;
            ok = len == sizeof asked;
            if (ok) {
                memcpy(&asked, frame, sizeof asked);
                ok = start(&asked);
            }
            break;
        }
        case TIME:
            ok = len == sizeof now;
            if (ok) {
                memcpy(&now, frame, sizeof now);
                ok = drive_all();
            }
            break;
        case OPEN:
            ok = slot != NULL && !slot->open && open_connection(slot);
            break;
        case DATA:
            ok = slot != NULL && slot->open;
            if (ok) {
                slot->inbox = frame;
                slot->inbox_len = len;
                drive(slot);
                slot->inbox_len = 0;
            }
            break;
        case CLOSE:
            ok = slot != NULL && slot->open;
            if (ok) {
                slot->peer_closed = true;
                drive(slot);
            }
            break;
        case MARK:
            mark();
            ok = true;
            break;
        default:
            break;
        }
        send_report(ok, slot);
    }
}

static int read_bytes(void *context, uint8_t *bytes, size_t len)
{
    struct slot *slot = context;
    if (slot->inbox_len == 0) {
        return slot->peer_closed ? REPRISE_CLOSED : REPRISE_WOULD_BLOCK;
    }
    size_t taken = slot->inbox_len < len ? slot->inbox_len : len;
    memcpy(bytes, slot->inbox, taken);
    slot->inbox += taken;
    slot->inbox_len -= taken;
    return (int)taken;
}

static void count(struct slot *slot, bool handshake)
{
    board_count counted = board_count_stop();
    uint64_t *sum = handshake ? slot->handshake : slot->application;
    sum[0] += counted.instructions;
    sum[1] += counted.cycles;
}

/* The time of the line is not counted. */
static int write_bytes(void *context, const uint8_t *bytes, size_t len)
{
    struct slot *slot = context;
    count(slot, !reprise_connection_is_ready(&slot->connection));
    send_frame(DATA, slot->index, bytes, len);
    board_count_start();
    return (int)len;
}

/* Not random: the same in every run, so that runs can be compared. A product asks its hardware. */
static int not_random(void *context, uint8_t *bytes, size_t len)
{
    (void)context;
    while (len-- > 0) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        *bytes++ = (uint8_t)(random_state >> 32);
    }
    return REPRISE_OK;
}

static uint32_t seconds(void *context)
{
    (void)context;
    return now / 1000;
}

static bool start(const start_frame *asked)
{
    if (asked->stack >= sizeof stacks / sizeof *stacks) {
        return false;
    }
    const reprise_tls_backend *tls = stacks[asked->stack];
    for (uint8_t index = 0; index < CONNECTIONS; index++) {
        if (slots[index].open) {
            reprise_connection_abort(&slots[index].connection);
            slots[index].open = false;
        }
    }
    if (service.server != NULL) {
        return false; /* once is enough: a new server is a new boot */
    }
    random_state = ((uint64_t)asked->seed << 32 | asked->seed) ^ UINT64_C(0x9e3779b97f4a7c15);
    config.certificates = certificates;
    config.key = key;
    config.random = not_random;
    config.seconds = seconds;
#if REPRISE_SESSION_CACHE
    reprise_session_cache_init(&cache, sessions, asked->sessions < MAX_SESSIONS ? asked->sessions : MAX_SESSIONS,
                               asked->lifetime);
    config.cache = asked->cached ? &cache : NULL;
#endif
#if REPRISE_SESSION_TICKETS
    reprise_session_tickets_init(&tickets, asked->lifetime);
    config.tickets = asked->ticketed ? &tickets : NULL;
#endif
    service.tls = tls;
    service.handler = asked->http ? reprise_page : NULL;
    service.handshake_ms = asked->handshake_ms;
    service.idle_ms = asked->idle_ms;
    service.server = heap_take(tls->server_size);
    for (uint8_t index = 0; index < CONNECTIONS; index++) {
        slots[index].index = index;
        slots[index].tls = heap_take(reprise_connection_size(&service));
        if (slots[index].tls == NULL) {
            return false;
        }
    }
    return service.server != NULL && tls->start(service.server, &config) == REPRISE_OK;
}

/*
 * What is counted, in functions of their own: how the compiler reaches variables of this file depends on which there are, and
 * with it the instructions.
 */
__attribute__((noinline)) static int counted_begin(struct slot *slot, const reprise_service *of, reprise_socket socket, uint32_t at)
{
    board_count_start();
    int result = reprise_connection_begin(&slot->connection, of, slot->tls, socket, at);
    count(slot, true);
    return result;
}

__attribute__((noinline)) static reprise_step counted_step(struct slot *slot, bool handshake, uint32_t at)
{
    board_count_start();
    reprise_step step = reprise_connection_step(&slot->connection, at);
    count(slot, handshake);
    return step;
}

static bool open_connection(struct slot *slot)
{
    if (service.server == NULL) {
        return false;
    }
    reprise_socket socket = {read_bytes, write_bytes, slot};
    memset(slot->handshake, 0, sizeof slot->handshake);
    memset(slot->application, 0, sizeof slot->application);
    memset(&slot->facts, 0, sizeof slot->facts);
    slot->peer_closed = false;
    slot->inbox_len = 0;
    slot->open = counted_begin(slot, &service, socket, now) == REPRISE_OK;
    if (!slot->open) {
        send_frame(CLOSE, slot->index, NULL, 0);
        return true;
    }
    drive(slot);
    return true;
}

/* Until nothing more can be done. A frame and what a record has kept of others are worth so many steps at most. */
enum { MAX_STEPS = 1 << 16 };

static void drive(struct slot *slot)
{
    reprise_step step;
    uint32_t steps = 0;
    do {
        if (steps++ == MAX_STEPS) {
            send_frame(ENDLESS, slot->index, NULL, 0);
            for (;;) {
            }
        }
        bool handshake = !reprise_connection_is_ready(&slot->connection);
        step = counted_step(slot, handshake, now);
        if (handshake && step == REPRISE_MOVED && reprise_connection_is_ready(&slot->connection)) {
            service.tls->facts(slot->tls, &slot->facts);
        }
    } while (step == REPRISE_MOVED);
    if (step == REPRISE_DONE) {
        slot->open = false;
        send_frame(CLOSE, slot->index, NULL, 0);
    }
}

static bool drive_all(void)
{
    for (uint8_t index = 0; index < CONNECTIONS; index++) {
        if (slots[index].open) {
            drive(&slots[index]);
        }
    }
    return true;
}

static void send_report(bool ok, const struct slot *slot)
{
    struct report report;
    memset(&report, 0, sizeof report);
    report.ok = ok;
    report.stack = (uint32_t)stack_used();
    report.heap = (uint32_t)heap_in_use();
    report.heap_peak = (uint32_t)heap_peak();
    if (service.tls != NULL) {
        report.server_size = (uint32_t)service.tls->server_size;
        report.connection_size = (uint32_t)service.tls->connection_size;
    }
#if REPRISE_SESSION_CACHE
    report.hits = cache.hits;
    report.misses = cache.misses;
    report.slot_size = sizeof(reprise_session_slot);
#endif
    if (slot != NULL) {
        report.state = !slot->open ? 0 : reprise_connection_is_ready(&slot->connection) ? 2 : 1;
        report.resumed = slot->facts.resumed;
        report.version = slot->facts.version;
        report.suite = slot->facts.suite;
        report.handshake_instructions = slot->handshake[0];
        report.handshake_cycles = slot->handshake[1];
        report.application_instructions = slot->application[0];
        report.application_cycles = slot->application[1];
    }
    send_frame(REPORT, slot != NULL ? slot->index : 0xff, &report, sizeof report);
}

static void send_frame(uint8_t type, uint8_t connection, const void *bytes, size_t len)
{
    uint8_t head[4] = {type, connection, (uint8_t)len, (uint8_t)(len >> 8)};
    board_send(head, sizeof head);
    board_send(bytes, len);
}

/* Of a frame that is too long, the rest is dropped; its type is then none. */
static size_t receive_frame(uint8_t *type, uint8_t *connection)
{
    *type = board_receive();
    *connection = board_receive();
    size_t len = board_receive();
    len |= (size_t)board_receive() << 8;
    for (size_t index = 0; index < len; index++) {
        uint8_t byte = board_receive();
        if (index < sizeof frame) {
            frame[index] = byte;
        }
    }
    if (len > sizeof frame) {
        *type = 0;
    }
    return len;
}

enum { PAINT = 0xa5, MARGIN = 128 };

/* Below what this function itself uses, the stack is painted: it must have a frame of its own, below that of main. */
__attribute__((noinline)) static void mark(void)
{
    uintptr_t end = (uintptr_t)__builtin_frame_address(0) - MARGIN;
    for (uintptr_t byte = (uintptr_t)board_stack_low; byte < end; byte++) {
        *(volatile uint8_t *)byte = PAINT;
    }
    heap_forget_peak();
}

static size_t stack_used(void)
{
    const volatile uint8_t *byte = board_stack_low;
    while (byte < board_stack_high && *byte == PAINT) {
        byte++;
    }
    return (size_t)(board_stack_high - byte);
}
