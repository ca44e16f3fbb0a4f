/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The session cache on a host: what its header promises, one promise a test. Built with -fsanitize=address,undefined. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise/session_cache.h"
#include "session_cache_model.h"

static const uint8_t TAG[REPRISE_SESSION_TAG] = {1}, OTHER_TAG[REPRISE_SESSION_TAG] = {2};

static reprise_session session_named(uint8_t name)
{
    reprise_session session = {.version = 0x0303, .suite = 0xcca9, .id_len = 32};
    memset(session.id, name, sizeof session.id);
    memset(session.master_secret, name, sizeof session.master_secret);
    memcpy(session.tag, TAG, sizeof session.tag);
    return session;
}

static bool holds(reprise_session_cache *cache, uint32_t now, uint8_t name, const uint8_t *tag)
{
    reprise_session wanted = session_named(name), found;
    bool is_found = reprise_session_cache_find(cache, now, wanted.id, 32, tag, &found);
    assert(!is_found || memcmp(&found, &wanted, sizeof found) == 0);
    return is_found;
}

static bool contains_secret(const void *memory, size_t len, uint8_t name)
{
    reprise_session session = session_named(name);
    for (size_t at = 0; at + sizeof session.master_secret <= len; at++) {
        if (memcmp((const uint8_t *)memory + at, session.master_secret, sizeof session.master_secret) == 0) {
            return true;
        }
    }
    return false;
}

static void the_least_recently_used_goes_first_and_is_wiped(void)
{
    reprise_session_slot slots[3];
    reprise_session_cache cache;
    reprise_session_cache_init(&cache, slots, 3, 100);
    for (uint8_t name = 1; name <= 3; name++) {
        reprise_session session = session_named(name);
        reprise_session_cache_put(&cache, 0, &session);
    }
    assert(holds(&cache, 1, 1, TAG));
    reprise_session fourth = session_named(4);
    reprise_session_cache_put(&cache, 1, &fourth);
    assert(holds(&cache, 1, 1, TAG) && !holds(&cache, 1, 2, TAG) && holds(&cache, 1, 3, TAG) && holds(&cache, 1, 4, TAG));
    assert(!contains_secret(slots, sizeof slots, 2));
}

static void a_session_lives_no_longer_for_being_used(void)
{
    reprise_session_slot slots[2];
    reprise_session_cache cache;
    reprise_session session = session_named(1);
    reprise_session_cache_init(&cache, slots, 2, 10);
    reprise_session_cache_put(&cache, UINT32_MAX - 5, &session);
    /* Across the wrap-around. */
    for (uint32_t age = 0; age < 10; age++) {
        assert(holds(&cache, UINT32_MAX - 5 + age, 1, TAG));
    }
    assert(reprise_session_cache_count(&cache, 3) == 1 && reprise_session_cache_count(&cache, 4) == 0);
    assert(!holds(&cache, 4, 1, TAG));
    assert(!contains_secret(slots, sizeof slots, 1));
}

static void expired_sessions_are_wiped_by_whatever_comes_next(void)
{
    for (int what = 0; what < 3; what++) {
        reprise_session_slot slots[4];
        reprise_session_cache cache;
        reprise_session one = session_named(1), two = session_named(2), three = session_named(3);
        reprise_session_cache_init(&cache, slots, 4, 10);
        reprise_session_cache_put(&cache, 0, &one);
        reprise_session_cache_put(&cache, 5, &two);
        assert(contains_secret(slots, sizeof slots, 1));
        if (what == 0) {
            reprise_session_cache_put(&cache, 10, &three);
        } else if (what == 1) {
            assert(!holds(&cache, 10, 3, TAG));
        } else {
            reprise_session_cache_expire(&cache, 10);
        }
        assert(!contains_secret(slots, sizeof slots, 1) && holds(&cache, 10, 2, TAG));
    }
}

static void a_clock_that_runs_backwards_ends_sessions(void)
{
    reprise_session_slot slots[1];
    reprise_session_cache cache;
    reprise_session session = session_named(1);
    reprise_session_cache_init(&cache, slots, 1, 10);
    reprise_session_cache_put(&cache, 100, &session);
    assert(!holds(&cache, 99, 1, TAG));
}

static void a_session_of_one_policy_opens_no_other(void)
{
    reprise_session_slot slots[1];
    reprise_session_cache cache;
    reprise_session session = session_named(1);
    reprise_session_cache_init(&cache, slots, 1, 10);
    reprise_session_cache_put(&cache, 0, &session);
    assert(!holds(&cache, 0, 1, OTHER_TAG));
    assert(holds(&cache, 0, 1, TAG));
    assert(cache.hits == 1 && cache.misses == 1);
}

static void without_slots_or_lifetime_nothing_is_kept(void)
{
    reprise_session_slot slots[1];
    reprise_session_cache cache;
    reprise_session session = session_named(1);
    reprise_session_cache_init(&cache, slots, 1, 0);
    reprise_session_cache_put(&cache, 0, &session);
    assert(!holds(&cache, 0, 1, TAG) && !contains_secret(slots, sizeof slots, 1));
    reprise_session_cache_init(&cache, NULL, 0, 10);
    reprise_session_cache_put(&cache, 0, &session);
    assert(!holds(&cache, 0, 1, TAG));
}

static void what_is_forgotten_or_cleared_is_wiped(void)
{
    reprise_session_slot slots[2];
    reprise_session_cache cache;
    reprise_session one = session_named(1), two = session_named(2);
    reprise_session_cache_init(&cache, slots, 2, 10);
    reprise_session_cache_put(&cache, 0, &one);
    reprise_session_cache_put(&cache, 0, &two);
    reprise_session_cache_forget(&cache, one.id, 32);
    assert(!contains_secret(slots, sizeof slots, 1) && holds(&cache, 0, 2, TAG));
    reprise_session_cache_clear(&cache);
    assert(!contains_secret(slots, sizeof slots, 2) && !holds(&cache, 0, 2, TAG));
}

static uint8_t next_random(void *context)
{
    uint32_t *state = context;
    *state = *state * 1664525u + 1013904223u;
    return (uint8_t)(*state >> 24);
}

static void ten_thousand_operations_agree_with_the_model(void)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        uint32_t state = seed;
        uint32_t differs = session_cache_differs(10000, seed % 9, next_random, &state);
        if (differs != 0) {
            printf("seed %u differs after operation %u\n", (unsigned)seed, (unsigned)differs);
            abort();
        }
    }
}

int main(void)
{
    assert(sizeof(reprise_session_slot) == 112);
    the_least_recently_used_goes_first_and_is_wiped();
    a_session_lives_no_longer_for_being_used();
    expired_sessions_are_wiped_by_whatever_comes_next();
    a_clock_that_runs_backwards_ends_sessions();
    a_session_of_one_policy_opens_no_other();
    without_slots_or_lifetime_nothing_is_kept();
    what_is_forgotten_or_cleared_is_wiped();
    ten_thousand_operations_agree_with_the_model();
    puts("session cache: 8 tests passed");
    return 0;
}
