/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is read of a ClientHello, and that one which is cut short is not. Built with -fsanitize=address,undefined. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_hello.h"

/* From cipher_suites on: two suites, no compression, then the extensions. */
#define BEFORE "\0\4\x13\1\xc0\x2b\1\0"
#define NAME "\0\0\0\6\0\4\0\0\1a"
#define EMS "\0\x17\0\0"
#define OTHER "\0\x0b\0\2\1\0"

/* In memory of exactly this size: a byte read behind it ends the test. */
static bool reads(const char *text, size_t len, reprise_client_hello *hello, char *name)
{
    uint8_t *bytes = malloc(len + 1);
    memcpy(bytes + 1, text, len);
    bool result = reprise_client_hello_read(hello, bytes + 1, len);
    memcpy(name, hello->name, result ? hello->name_len : 0);
    name[result ? hello->name_len : 0] = 0;
    free(bytes);
    return result;
}

int main(void)
{
    reprise_client_hello hello;
    char name[256];
    const char both[] = BEFORE "\0\x14" OTHER EMS NAME, cut[] = BEFORE "\0\x14" OTHER EMS;
    assert(reads(both, sizeof both - 1, &hello, name) && hello.extended_master_secret && strcmp(name, "a") == 0);
    for (size_t len = 0; len + 1 < sizeof both; len++) {
        /* Without any extensions it ends behind the compression methods. */
        assert(reads(both, len, &hello, name) == (len == sizeof BEFORE - 1));
    }
    assert(!reads(cut, sizeof cut - 1, &hello, name));
    const char neither[] = BEFORE "\0\6" OTHER;
    assert(reads(neither, sizeof neither - 1, &hello, name) && !hello.extended_master_secret && name[0] == 0);
    /* A list of names that begins with another kind of name, and one that is longer than its extension. */
    const char unknown[] = BEFORE "\0\x0a\0\0\0\6\0\4\1\0\1a", longer[] = BEFORE "\0\x0a\0\0\0\6\0\5\0\0\1a";
    assert(!reads(unknown, sizeof unknown - 1, &hello, name) && !reads(longer, sizeof longer - 1, &hello, name));
    puts("client hello: all tests passed");
    return 0;
}
