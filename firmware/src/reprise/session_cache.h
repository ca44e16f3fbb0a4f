/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A cache of TLS 1.2 sessions for a server with little memory (RFC 5246 section 7.3, resumption by session ID).
 *
 * The caller owns the memory: an array of slots, each of sizeof(reprise_session_slot) = 112 bytes. Nothing is allocated,
 * nothing else is kept. When all slots are in use, the least recently used session is wiped and its slot is used again.
 *
 * Rules that hold for every session:
 *   - It lives at most `lifetime` seconds from its full handshake on. Resuming it does not prolong it.
 *   - It is found only under the tag that it was stored with. A tag stands for the policy that the session was made
 *     under: the server's certificate, the name that the client asked for, the CAs that client certificates must come from.
 *   - Its secret is overwritten when it is evicted or forgotten. Once it has expired, the next put, find or expire, of
 *     whatever session, overwrites it: a server that may be idle for long calls reprise_session_cache_expire() by a timer.
 *
 * Time is an argument: seconds of any clock that does not run backwards; it may wrap around after 2^32 seconds. A clock that
 * has run backwards makes sessions expire. A 32-bit `millis() / 1000` is no such clock: it falls from 4,294,967 to 0 every 49.7
 * days, which ends every session, and one that is not wiped by then would be alive again in the next round. Count seconds,
 * or milliseconds in 64 bits.
 *
 * Not reentrant: where several threads share a cache, the caller holds a lock around each call.
 */
#ifndef REPRISE_SESSION_CACHE_H
#define REPRISE_SESSION_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REPRISE_SESSION_ID_MAX 32u
#define REPRISE_MASTER_SECRET 48u
#define REPRISE_SESSION_TAG 16u

/* What resuming needs. */
typedef struct {
    uint8_t id[REPRISE_SESSION_ID_MAX];
    uint8_t master_secret[REPRISE_MASTER_SECRET];
    uint8_t tag[REPRISE_SESSION_TAG];
    uint16_t version; /* 0x0303 */
    uint16_t suite;   /* IANA's number */
    uint8_t id_len;   /* 1 to 32 */
} reprise_session;

/* One session, or a free place (session.id_len is 0). Its fields belong to the cache. */
typedef struct {
    reprise_session session;
    uint32_t created;
    uint16_t newer, older; /* indices; the list of all slots in the order of their use */
} reprise_session_slot;

/* Its fields belong to the functions below; `hits` and `misses` may be read. */
typedef struct {
    reprise_session_slot *slots;
    uint32_t lifetime;
    uint32_t hits, misses;
    uint16_t count, newest, oldest;
} reprise_session_cache;

/*
 * Makes an empty cache of the `count` slots, whatever they hold; of more than 65,534, the first 65,534. With no slots it
 * keeps nothing. A `lifetime` of 0 seconds keeps nothing either.
 */
void reprise_session_cache_init(reprise_session_cache *cache, reprise_session_slot *slots, size_t count, uint32_t lifetime);

/* Stores a session as the newest; one with the same ID is replaced. One with an illegal id_len is not stored. */
void reprise_session_cache_put(reprise_session_cache *cache, uint32_t now, const reprise_session *session);

/*
 * Finds the session of this ID and tag, and makes it the newest. Writes `found` only on success. A session of another tag
 * is left where it is, and is not told apart from none.
 */
bool reprise_session_cache_find(reprise_session_cache *cache, uint32_t now, const uint8_t *id, size_t id_len,
                                const uint8_t *tag, reprise_session *found);

/* Wipes the session of this ID, if there is one: for callers that end sessions early. The TLS servers here do not call it. */
void reprise_session_cache_forget(reprise_session_cache *cache, const uint8_t *id, size_t id_len);

/* Wipes every session that has expired; put and find do so first. */
void reprise_session_cache_expire(reprise_session_cache *cache, uint32_t now);

/* Wipes every session. */
void reprise_session_cache_clear(reprise_session_cache *cache);

/* How many sessions are stored and would be found now. */
size_t reprise_session_cache_count(const reprise_session_cache *cache, uint32_t now);

/* Overwrites memory in a way that no optimizer leaves out. */
void reprise_wipe(void *memory, size_t len);

#ifdef __cplusplus
}
#endif

#endif
