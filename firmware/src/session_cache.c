/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See session_cache.h. A doubly linked list through the slots holds the order of use; free slots are at its old end. */
#include "reprise/session_cache.h"

#include <string.h>

enum { NONE = 0xffff };

static reprise_session_slot *slot_of(const reprise_session_cache *cache, const uint8_t *id, size_t id_len);
static bool is_alive(const reprise_session_cache *cache, const reprise_session_slot *slot, uint32_t now);
static void make_newest(reprise_session_cache *cache, uint16_t index);
static void make_oldest(reprise_session_cache *cache, uint16_t index);
static void unlink_slot(reprise_session_cache *cache, uint16_t index);
static void free_slot(reprise_session_cache *cache, reprise_session_slot *slot);

void reprise_session_cache_init(reprise_session_cache *cache, reprise_session_slot *slots, size_t count, uint32_t lifetime)
{
    memset(cache, 0, sizeof *cache);
    cache->slots = slots;
    cache->lifetime = lifetime;
    cache->count = (uint16_t)(count < NONE ? count : NONE - 1);
    cache->newest = cache->oldest = NONE;
    for (uint16_t index = 0; index < cache->count; index++) {
        reprise_wipe(&slots[index], sizeof slots[index]);
        make_newest(cache, index);
    }
}

void reprise_session_cache_put(reprise_session_cache *cache, uint32_t now, const reprise_session *session)
{
    reprise_session_cache_expire(cache, now);
    if (cache->count == 0 || cache->lifetime == 0 || session->id_len == 0 || session->id_len > REPRISE_SESSION_ID_MAX) {
        return;
    }
    reprise_session_slot *slot = slot_of(cache, session->id, session->id_len);
    if (slot == NULL) {
        slot = &cache->slots[cache->oldest];
    }
    /* The whole slot: no part of the session that was here stays. */
    reprise_wipe(&slot->session, sizeof slot->session);
    slot->session = *session;
    slot->created = now;
    uint16_t index = (uint16_t)(slot - cache->slots);
    unlink_slot(cache, index);
    make_newest(cache, index);
}

bool reprise_session_cache_find(reprise_session_cache *cache, uint32_t now, const uint8_t *id, size_t id_len,
                                const uint8_t *tag, reprise_session *found)
{
    reprise_session_cache_expire(cache, now);
    reprise_session_slot *slot = slot_of(cache, id, id_len);
    if (slot == NULL || memcmp(slot->session.tag, tag, REPRISE_SESSION_TAG) != 0) {
        cache->misses++;
        return false;
    }
    uint16_t index = (uint16_t)(slot - cache->slots);
    unlink_slot(cache, index);
    make_newest(cache, index);
    *found = slot->session;
    cache->hits++;
    return true;
}

void reprise_session_cache_forget(reprise_session_cache *cache, const uint8_t *id, size_t id_len)
{
    reprise_session_slot *slot = slot_of(cache, id, id_len);
    if (slot != NULL) {
        free_slot(cache, slot);
    }
}

void reprise_session_cache_expire(reprise_session_cache *cache, uint32_t now)
{
    for (uint16_t index = 0; index < cache->count; index++) {
        reprise_session_slot *slot = &cache->slots[index];
        if (slot->session.id_len != 0 && !is_alive(cache, slot, now)) {
            free_slot(cache, slot);
        }
    }
}

void reprise_session_cache_clear(reprise_session_cache *cache)
{
    reprise_session_cache_init(cache, cache->slots, cache->count, cache->lifetime);
}

size_t reprise_session_cache_count(const reprise_session_cache *cache, uint32_t now)
{
    size_t alive = 0;
    for (uint16_t index = 0; index < cache->count; index++) {
        const reprise_session_slot *slot = &cache->slots[index];
        alive += slot->session.id_len != 0 && is_alive(cache, slot, now);
    }
    return alive;
}

void reprise_wipe(void *memory, size_t len)
{
    volatile uint8_t *byte = memory;
    while (len-- > 0) {
        *byte++ = 0;
    }
}

/* An ID is public, so that the comparison may take a time that depends on it. */
static reprise_session_slot *slot_of(const reprise_session_cache *cache, const uint8_t *id, size_t id_len)
{
    if (id_len == 0) {
        return NULL;
    }
    for (uint16_t index = cache->newest; index != NONE; index = cache->slots[index].older) {
        const reprise_session *session = &cache->slots[index].session;
        if (session->id_len == id_len && memcmp(session->id, id, id_len) == 0) {
            return &cache->slots[index];
        }
    }
    return NULL;
}

/* The difference is right across a wrap-around, and large where the clock has run backwards. */
static bool is_alive(const reprise_session_cache *cache, const reprise_session_slot *slot, uint32_t now)
{
    return now - slot->created < cache->lifetime;
}

static void free_slot(reprise_session_cache *cache, reprise_session_slot *slot)
{
    uint16_t index = (uint16_t)(slot - cache->slots);
    reprise_wipe(&slot->session, sizeof slot->session);
    unlink_slot(cache, index);
    make_oldest(cache, index);
}

static void make_newest(reprise_session_cache *cache, uint16_t index)
{
    cache->slots[index].newer = NONE;
    cache->slots[index].older = cache->newest;
    if (cache->newest != NONE) {
        cache->slots[cache->newest].newer = index;
    } else {
        cache->oldest = index;
    }
    cache->newest = index;
}

static void make_oldest(reprise_session_cache *cache, uint16_t index)
{
    cache->slots[index].older = NONE;
    cache->slots[index].newer = cache->oldest;
    if (cache->oldest != NONE) {
        cache->slots[cache->oldest].older = index;
    } else {
        cache->newest = index;
    }
    cache->oldest = index;
}

static void unlink_slot(reprise_session_cache *cache, uint16_t index)
{
    uint16_t newer = cache->slots[index].newer, older = cache->slots[index].older;
    if (newer != NONE) {
        cache->slots[newer].older = older;
    } else {
        cache->newest = older;
    }
    if (older != NONE) {
        cache->slots[older].newer = newer;
    } else {
        cache->oldest = newer;
    }
}
