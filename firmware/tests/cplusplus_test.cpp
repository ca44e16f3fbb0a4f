/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The library as a program in C++ takes it, which is what an Arduino sketch is. */
#include <cassert>
#include <cstdio>
#include <cstring>

#include "posix.h"
#include "reprise/service.h"
#include "reprise/session_tickets.h"

static uint32_t seconds(void *)
{
    return 7;
}

int main()
{
    static reprise_session_slot slots[2];
    static reprise_session_cache cache;
    reprise_session_cache_init(&cache, slots, 2, 300);
    reprise_session session = {}, found = {};
    session.id_len = 32;
    session.id[0] = 1;
    reprise_session_cache_put(&cache, seconds(nullptr), &session);
    assert(reprise_session_cache_find(&cache, 300, session.id, 32, session.tag, &found) && found.id[0] == 1);
    assert(!reprise_session_cache_find(&cache, 307, session.id, 32, session.tag, &found));

    reprise_tls_config config = {};
    config.seconds = seconds;
    config.cache = &cache;
    reprise_lock(&config, true);

    reprise_http http;
    char text[] = "GET /a HTTP/1.1\r\n\r\n";
    reprise_http_begin(&http, text, sizeof text);
    http.input_len = sizeof text - 1;
    assert(reprise_http_next(&http, 0) == REPRISE_HTTP_COMPLETE && std::strcmp(http.request.path, "/a") == 0);
    std::puts("C++: all tests passed");
    return 0;
}
