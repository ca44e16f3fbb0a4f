/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session_cache_model.h"

#include <string.h>

#include "reprise/session_cache.h"

enum { MAX_SLOTS = 8, LIFETIME = 50 };

/* The newest first. */
struct model {
    reprise_session sessions[MAX_SLOTS];
    uint32_t created[MAX_SLOTS];
    size_t count, slots;
};

static void remove_at(struct model *model, size_t index)
{
    for (; index + 1 < model->count; index++) {
        model->sessions[index] = model->sessions[index + 1];
        model->created[index] = model->created[index + 1];
    }
    model->count--;
}

static void insert(struct model *model, const reprise_session *session, uint32_t created)
{
    for (size_t index = model->count; index > 0; index--) {
        model->sessions[index] = model->sessions[index - 1];
        model->created[index] = model->created[index - 1];
    }
    model->sessions[0] = *session;
    model->created[0] = created;
    model->count++;
}

static size_t place_of(const struct model *model, const uint8_t *id, size_t id_len)
{
    size_t index = 0;
    while (index < model->count
           && !(model->sessions[index].id_len == id_len && memcmp(model->sessions[index].id, id, id_len) == 0)) {
        index++;
    }
    return index;
}

static void model_expire(struct model *model, uint32_t now)
{
    for (size_t index = model->count; index-- > 0;) {
        if (now - model->created[index] >= LIFETIME) {
            remove_at(model, index);
        }
    }
}

static void model_put(struct model *model, uint32_t now, const reprise_session *session)
{
    model_expire(model, now);
    size_t index = place_of(model, session->id, session->id_len);
    if (session->id_len == 0 || session->id_len > 32 || model->slots == 0) {
        return;
    }
    if (index < model->count) {
        remove_at(model, index);
    } else if (model->count == model->slots) {
        model->count--;
    }
    insert(model, session, now);
}

static bool model_find(struct model *model, uint32_t now, const reprise_session *wanted, reprise_session *found)
{
    model_expire(model, now);
    size_t index = place_of(model, wanted->id, wanted->id_len);
    if (index == model->count || wanted->id_len == 0) {
        return false;
    }
    if (memcmp(model->sessions[index].tag, wanted->tag, REPRISE_SESSION_TAG) != 0) {
        return false;
    }
    uint32_t created = model->created[index];
    *found = model->sessions[index];
    remove_at(model, index);
    insert(model, found, created);
    return true;
}

/* Every session of the model is in a slot, and every other slot is wiped. */
static bool agree(const struct model *model, const reprise_session_slot *slots)
{
    size_t used = 0;
    for (size_t index = 0; index < model->slots; index++) {
        const reprise_session *session = &slots[index].session;
        if (session->id_len != 0) {
            size_t place = place_of(model, session->id, session->id_len);
            used++;
            if (place == model->count || memcmp(&model->sessions[place], session, sizeof *session) != 0
                || model->created[place] != slots[index].created) {
                return false;
            }
            continue;
        }
        for (size_t byte = 0; byte < sizeof *session; byte++) {
            if (((const uint8_t *)session)[byte] != 0) {
                return false;
            }
        }
    }
    return used == model->count;
}

uint32_t session_cache_differs(uint32_t operations, size_t slots, uint8_t (*next)(void *context), void *context)
{
    reprise_session_slot memory[MAX_SLOTS];
    reprise_session_cache cache;
    struct model model;
    uint32_t now = UINT32_MAX - 100; /* so that the clock wraps around */
    memset(&model, 0, sizeof model);
    memset(memory, 0xee, sizeof memory);
    model.slots = slots < MAX_SLOTS ? slots : MAX_SLOTS;
    reprise_session_cache_init(&cache, memory, model.slots, LIFETIME);
    for (uint32_t operation = 1; operation <= operations; operation++) {
        reprise_session session, found, model_found;
        memset(&session, 0, sizeof session);
        memset(&found, 0, sizeof found);
        memset(&model_found, 0, sizeof model_found);
        uint8_t what = next(context), which = next(context);
        /* Few IDs, of several lengths, some of them prefixes of others; 0 and 33 are illegal. */
        session.id_len = (uint8_t)(which % 16 == 0 ? 0 : which % 16 == 1 ? 33 : which % 16 == 2 ? 4 : 32);
        memset(session.id, which >> 4, sizeof session.id);
        session.tag[0] = what >> 7;
        session.master_secret[0] = next(context);
        session.version = 0x0303;
        switch (what % 8) {
        case 0:
        case 1:
        case 2:
            reprise_session_cache_put(&cache, now, &session);
            model_put(&model, now, &session);
            break;
        case 3:
        case 4:
        case 5: {
            bool is_found = reprise_session_cache_find(&cache, now, session.id, session.id_len, session.tag, &found);
            if (is_found != model_find(&model, now, &session, &model_found)
                || memcmp(&found, &model_found, sizeof found) != 0) {
                return operation;
            }
            break;
        }
        case 6: {
            reprise_session_cache_forget(&cache, session.id, session.id_len);
            size_t place = place_of(&model, session.id, session.id_len);
            if (place < model.count && session.id_len != 0) {
                remove_at(&model, place);
            }
            break;
        }
        default:
            now += what >> 4;
            if (which % 4 == 0) {
                reprise_session_cache_expire(&cache, now);
                model_expire(&model, now);
            }
            if (which == 255) {
                reprise_session_cache_clear(&cache);
                model.count = 0;
            }
            break;
        }
        if (!agree(&model, memory)) {
            return operation;
        }
    }
    return 0;
}
