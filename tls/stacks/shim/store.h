/* A server's store, for a library that brings none: bytes under names whose ends are random. */
#ifndef REPRISE_SHIM_STORE_H
#define REPRISE_SHIM_STORE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A name's last bytes choose its slot. What comes later takes the place of what was there. */
#define STORED 1024
typedef struct {
    uint8_t name[64];
    size_t name_length;
    uint8_t *bytes;
    unsigned length;
} stored;

static inline stored *store_slot(stored *store, const uint8_t *name, size_t length)
{
    return &store[length < 2 ? 0 : (name[length - 2] << 8 | name[length - 1]) % STORED];
}

static inline const stored *store_find(stored *store, const uint8_t *name, size_t length)
{
    const stored *slot = store_slot(store, name, length);
    return slot->bytes && slot->name_length == length && !memcmp(slot->name, name, length) ? slot : NULL;
}

static inline int store_put(stored *store, const uint8_t *name, size_t name_length, const uint8_t *bytes, unsigned length)
{
    stored *slot = store_slot(store, name, name_length);
    uint8_t *copy = name_length <= sizeof slot->name ? malloc(length ? length : 1) : NULL;
    if (!copy) return 0;
    free(slot->bytes);
    if (length) memcpy(copy, bytes, length);
    memcpy(slot->name, name, name_length);
    slot->name_length = name_length, slot->bytes = copy, slot->length = length;
    return 1;
}

static inline void store_free(stored *store)
{
    for (size_t i = 0; store && i < STORED; i++) free(store[i].bytes);
    free(store);
}

#endif
