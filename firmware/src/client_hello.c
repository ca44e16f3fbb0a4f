/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See client_hello.h (RFC 5246 section 7.4.1.2, RFC 6066 section 3). */
#include "client_hello.h"

enum { SERVER_NAME = 0, EXTENDED_MASTER_SECRET = 23, HOST_NAME = 0 };

typedef struct {
    const uint8_t *at;
    size_t len;
} piece;

/* Takes a vector whose length is a number of `width` bytes. */
static bool take(piece *from, size_t width, piece *vector)
{
    size_t len = 0;
    if (from->len < width) {
        return false;
    }
    for (size_t index = 0; index < width; index++) {
        len = len << 8 | from->at[index];
    }
    if (from->len - width < len) {
        return false;
    }
    vector->at = from->at + width;
    vector->len = len;
    from->at += width + len;
    from->len -= width + len;
    return true;
}

static bool take_name(piece extension, reprise_client_hello *hello)
{
    piece list, name;
    if (!take(&extension, 2, &list) || list.len == 0 || list.at[0] != HOST_NAME) {
        return false;
    }
    list.at++, list.len--;
    if (!take(&list, 2, &name)) {
        return false;
    }
    hello->name = name.at;
    hello->name_len = name.len;
    return true;
}

bool reprise_client_hello_read(reprise_client_hello *hello, const uint8_t *bytes, size_t len)
{
    piece rest = {bytes, len}, suites, compression, extensions, extension;
    hello->name = bytes;
    hello->name_len = 0;
    hello->extended_master_secret = false;
    if (!take(&rest, 2, &suites) || !take(&rest, 1, &compression)) {
        return false;
    }
    hello->suites = suites.at;
    hello->suites_len = suites.len;
    if (rest.len == 0) {
        return true;
    }
    if (!take(&rest, 2, &extensions)) {
        return false;
    }
    while (extensions.len > 0) {
        if (extensions.len < 2) {
            return false;
        }
        unsigned type = (unsigned)extensions.at[0] << 8 | extensions.at[1];
        extensions.at += 2, extensions.len -= 2;
        if (!take(&extensions, 2, &extension) || (type == SERVER_NAME && !take_name(extension, hello))) {
            return false;
        }
        hello->extended_master_secret |= type == EXTENDED_MASTER_SECRET;
    }
    return true;
}
