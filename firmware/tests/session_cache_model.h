/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The session cache against a model that does the same in the simplest way: an array in the order of use. On a host, under
 * sanitizers and in the fuzzer; on a board, in an image of its own.
 */
#ifndef REPRISE_SESSION_CACHE_MODEL_H
#define REPRISE_SESSION_CACHE_MODEL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Does `operations` operations that `next` chooses, byte by byte, on a cache of `slots` slots (at most 8) and on the model.
 * Returns 0, or the number of the first operation after which they differ, from 1.
 */
uint32_t session_cache_differs(uint32_t operations, size_t slots, uint8_t (*next)(void *context), void *context);

#endif
