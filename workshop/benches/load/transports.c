/*
 * What the system calls of one short connection cost the client under epoll and under io_uring: the same sockets, the same
 * bytes, the same peer, no TLS. It bounds what a change of the event loop could save. Run it by transports.sh.
 *
 * For each connection: socket, two setsockopt, connect, send a hello, receive a flight, send Finished and request, receive
 * the response, close with a reset. `-reused` disconnects the socket instead, by connect to AF_UNSPEC, which resets as well, and
 * has the next connection take it: that leaves connect, four transfers and connect. The peer runs on another processor in a process of its own, and may be told to compute
 * for a while before its flight, as a server that signs does: then the client's events come one by one and not in batches.
 *
 * io_uring is given its best: the socket lives in the ring's own table, a connection is two chains of linked entries and one
 * close, entries are submitted together, and completions run in this thread alone (DEFER_TASKRUN).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a full TLS 1.3 handshake with a P-256 certificate, one request and its response. */
enum { HELLO = 220, FLIGHT = 900, REQUEST = 180, RESPONSE = 700, PLACES = 32, BUFFER = 2048 };

static const int ONE = 1;
static const struct sockaddr NONE = { .sa_family = AF_UNSPEC }; /* to connect to it is to disconnect */
static const struct linger RESET = { .l_onoff = 1, .l_linger = 0 };
static struct sockaddr_in peer_address;
static char hello[HELLO], flight[FLIGHT], request[REQUEST], response[RESPONSE];

static void check(int ok, const char *what) {
    if (ok)
        return;
    perror(what);
    exit(1);
}

static void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    check(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* User and system time of this process, the kernel's threads for the ring included. */
static double used_us(double *user) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *user = usage.ru_utime.tv_sec * 1e6 + usage.ru_utime.tv_usec;
    return *user + usage.ru_stime.tv_sec * 1e6 + usage.ru_stime.tv_usec;
}

/* ---- the peer ---- */

static void serve(int listener, int processor, double work_us) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(processor);
    struct { int fd, received; } *connections = calloc(65536, sizeof *connections);
    int poll = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = listener }, events[64];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
                    connections[fd].received = 0;
                    struct epoll_event added = { .events = EPOLLIN | EPOLLET, .data.fd = fd };
                    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &added);
                }
                continue;
            }
            char bytes[BUFFER];
            ssize_t got = recv(fd, bytes, sizeof bytes, 0);
            if (got <= 0) {
                close(fd);
                continue;
            }
            int before = connections[fd].received, after = connections[fd].received += got;
            if (before < HELLO && after >= HELLO) {
                for (double until = now_us() + work_us; now_us() < until;)
                    ;
                send(fd, flight, FLIGHT, MSG_NOSIGNAL);
            }
            if (after >= HELLO + REQUEST)
                send(fd, response, RESPONSE, MSG_NOSIGNAL);
        }
    }
}

/* ---- epoll ---- */

struct connection { int fd, received; char bytes[BUFFER]; };

static void begin(int poll, struct connection *connection, int place, int reuse) {
    int is_new = !reuse || !connection->fd, fd = connection->fd;
    if (is_new) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        check(fd >= 0, "socket");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &ONE, sizeof ONE);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &RESET, sizeof RESET);
    }
    int connected = connect(fd, (struct sockaddr *)&peer_address, sizeof peer_address);
    check(connected == 0 || errno == EINPROGRESS, "connect");
    check(send(fd, hello, HELLO, MSG_NOSIGNAL) == HELLO, "send");
    struct epoll_event event = { .events = EPOLLIN | EPOLLET | EPOLLRDHUP, .data.u32 = place };
    check(!is_new || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
    connection->fd = fd;
    connection->received = 0;
}

static void end(struct connection *connection, int reuse) {
    if (reuse)
        check(connect(connection->fd, &NONE, sizeof NONE) == 0, "connect to AF_UNSPEC");
    else
        close(connection->fd);
}

static void by_epoll(int connections, int reuse) {
    static struct connection places[PLACES];
    int poll = epoll_create1(EPOLL_CLOEXEC), begun = 0, done = 0;
    for (; begun < PLACES; begun++)
        begin(poll, &places[begun], begun, reuse);
    struct epoll_event events[256];
    while (done < connections) {
        int count = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            struct connection *connection = &places[events[i].data.u32];
            ssize_t got = recv(connection->fd, connection->bytes, BUFFER, 0);
            check(got > 0, "recv");
            connection->received += got;
            if (connection->received == FLIGHT)
                check(send(connection->fd, request, REQUEST, MSG_NOSIGNAL) == REQUEST, "send");
            if (connection->received < FLIGHT + RESPONSE)
                continue;
            done++;
            int is_last = begun == connections; /* a socket that stays disconnected would be told of */
            end(connection, reuse && !is_last);
            if (!is_last) {
                begin(poll, connection, events[i].data.u32, reuse);
                begun++;
            }
        }
    }
    close(poll);
}

/* ---- io_uring ---- */

enum step { RECEIVED, CLOSED, SILENT };

static struct io_uring_sqe *entry(struct io_uring *ring) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    if (!sqe) {
        check(io_uring_submit(ring) >= 0, "io_uring_submit");
        sqe = io_uring_get_sqe(ring);
    }
    check(sqe != 0, "io_uring_get_sqe");
    return sqe;
}

/* The socket stands in the ring's table; a step that succeeds as part of a chain says nothing. */
static void finish(struct io_uring_sqe *sqe, int place, enum step step, unsigned flags) {
    sqe->user_data = (uint64_t)place << 8 | step;
    sqe->flags |= flags | (step == SILENT ? IOSQE_CQE_SKIP_SUCCESS : 0);
}

/* SOCKET_URING_OP_SETSOCKOPT, Linux 6.7: level and name stand in addr, the length in file_index, the pointer in cmd. */
static void set_option(struct io_uring_sqe *sqe, int place, int level, int name, const void *value, unsigned length) {
    io_uring_prep_rw(IORING_OP_URING_CMD, sqe, place, 0, 0, 0);
    sqe->cmd_op = 3;
    sqe->addr = (uint64_t)(uint32_t)name << 32 | (uint32_t)level;
    sqe->file_index = length;
    uint64_t pointer = (uintptr_t)value;
    memcpy(sqe->cmd, &pointer, sizeof pointer);
}

/* With POLL_FIRST no attempt is made before there is something to read. */
static void receive(struct io_uring *ring, struct connection *connection, int place) {
    struct io_uring_sqe *sqe = entry(ring);
    io_uring_prep_recv(sqe, place, connection->bytes, BUFFER, 0);
    sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    finish(sqe, place, RECEIVED, IOSQE_FIXED_FILE);
}

static void begin_in(struct io_uring *ring, struct connection *connection, int place, int is_new) {
    connection->received = 0;
    if (io_uring_sq_space_left(ring) < 8)
        check(io_uring_submit(ring) >= 0, "io_uring_submit"); /* a chain must not be torn */
    struct io_uring_sqe *sqe;
    if (is_new) {
        io_uring_prep_socket_direct(sqe = entry(ring), AF_INET, SOCK_STREAM, 0, place, 0);
        finish(sqe, place, SILENT, IOSQE_IO_LINK);
        set_option(sqe = entry(ring), place, IPPROTO_TCP, TCP_NODELAY, &ONE, sizeof ONE);
        finish(sqe, place, SILENT, IOSQE_IO_LINK | IOSQE_FIXED_FILE);
        set_option(sqe = entry(ring), place, SOL_SOCKET, SO_LINGER, &RESET, sizeof RESET);
        finish(sqe, place, SILENT, IOSQE_IO_LINK | IOSQE_FIXED_FILE);
    }
    io_uring_prep_connect(sqe = entry(ring), place, (struct sockaddr *)&peer_address, sizeof peer_address);
    finish(sqe, place, SILENT, IOSQE_IO_LINK | IOSQE_FIXED_FILE);
    io_uring_prep_send(sqe = entry(ring), place, hello, HELLO, MSG_NOSIGNAL);
    finish(sqe, place, SILENT, IOSQE_IO_LINK | IOSQE_FIXED_FILE);
    receive(ring, connection, place);
}

static void by_io_uring(int connections, int reuse) {
    static struct connection places[PLACES];
    struct io_uring ring;
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE, .cq_entries = 4096 };
    int refused = io_uring_queue_init_params(1024, &ring, &params);
    if (refused < 0) {
        fprintf(stderr, "the kernel refuses io_uring: %s\n", strerror(-refused));
        exit(2);
    }
    check(io_uring_register_files_sparse(&ring, PLACES) == 0, "io_uring_register_files_sparse");
    int begun = 0, done = 0;
    for (; begun < PLACES; begun++)
        begin_in(&ring, &places[begun], begun, 1);
    while (done < connections) {
        check(io_uring_submit_and_wait(&ring, 1) >= 0, "io_uring_submit_and_wait");
        struct io_uring_cqe *cqe;
        unsigned head, seen = 0;
        io_uring_for_each_cqe(&ring, head, cqe) {
            seen++;
            int place = cqe->user_data >> 8;
            struct connection *connection = &places[place];
            enum step step = cqe->user_data & 255;
            if (cqe->res < 0) {
                fprintf(stderr, "step %d: %s\n", step, strerror(-cqe->res));
                exit(1);
            }
            if (step == CLOSED) {
                done++;
                if (begun < connections) {
                    begin_in(&ring, connection, place, !reuse);
                    begun++;
                }
                continue;
            }
            check(cqe->res > 0, "recv");
            connection->received += cqe->res;
            if (io_uring_sq_space_left(&ring) < 4)
                check(io_uring_submit(&ring) >= 0, "io_uring_submit");
            if (connection->received == FLIGHT) {
                struct io_uring_sqe *sqe = entry(&ring);
                io_uring_prep_send(sqe, place, request, REQUEST, MSG_NOSIGNAL);
                finish(sqe, place, SILENT, IOSQE_IO_LINK | IOSQE_FIXED_FILE);
            }
            if (connection->received < FLIGHT + RESPONSE) {
                receive(&ring, connection, place);
            } else {
                struct io_uring_sqe *sqe = entry(&ring);
                if (reuse)
                    io_uring_prep_connect(sqe, place, &NONE, sizeof NONE);
                else
                    io_uring_prep_close_direct(sqe, place);
                finish(sqe, place, CLOSED, reuse ? IOSQE_FIXED_FILE : 0);
            }
        }
        io_uring_cq_advance(&ring, seen);
    }
    io_uring_queue_exit(&ring);
}

/* transports epoll[-reused]|io_uring[-reused] CONNECTIONS WORK_US CLIENT_CPU SERVER_CPU: prints user, and user and system,
 * microseconds for each. */
int main(int argc, char **argv) {
    check(argc == 6, "usage: transports epoll[-reused]|io_uring[-reused] CONNECTIONS WORK_US CLIENT_CPU SERVER_CPU");
    int connections = atoi(argv[2]), listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    socklen_t length = sizeof peer_address;
    peer_address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    check(connections >= PLACES, "at least 32 connections");
    check(bind(listener, (struct sockaddr *)&peer_address, length) == 0 && listen(listener, 1024) == 0, "listen");
    check(getsockname(listener, (struct sockaddr *)&peer_address, &length) == 0, "getsockname");
    pid_t child = fork();
    if (child == 0)
        serve(listener, atoi(argv[5]), atof(argv[3]));
    close(listener);
    pin(atoi(argv[4]));
    double user_before, user_after, before, after;
    before = used_us(&user_before);
    int reuse = strstr(argv[1], "-reused") != 0;
    (strncmp(argv[1], "epoll", 5) == 0 ? by_epoll : by_io_uring)(connections, reuse);
    after = used_us(&user_after);
    printf("%.2f %.2f\n", (user_after - user_before) / connections, (after - before) / connections);
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    return 0;
}
