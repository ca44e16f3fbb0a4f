/* What is to be measured: a line of standard input as `line` of workshop/benches/src/rows.rs writes it. */
#ifndef PLAIN_ROW_H
#define PLAIN_ROW_H

#include <stdio.h>
#include <string.h>

typedef struct {
    char version[8] /* 1.2, 1.3 */, kind[8] /* full, id, ticket, psk */;
    char group[32] /* none: no key exchange */, suite[64] /* by IANA's names */;
    char certificates[512]; /* the folder of their files */
    int mutual;
    int record; /* bytes of data in each; 0: connections are measured, and no data */
    char sender[8];
    int count;
} row;

/* What a library other than this can do is no field: where the server's key pair comes from, what the client knows of the chain. */
static int read_row(row *to)
{
    memset(to, 0, sizeof *to);
    return scanf("%7s %7s %31s %63s %511s %d %*s %*s %d %7s %d", to->version, to->kind, to->group, to->suite, to->certificates,
                 &to->mutual, &to->record, to->sender, &to->count) == 9;
}

static int is_of_kind(const row *it, const char *kind) { return !strcmp(it->kind, kind); }

static int is_tls13(const row *it) { return !strcmp(it->version, "1.3"); }

static int resumes(const row *it) { return is_of_kind(it, "id") || is_of_kind(it, "ticket"); }

#endif
