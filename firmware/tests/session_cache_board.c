/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The session cache against its model on a board: for each byte from the host, 10,000 operations, and what came of them. */
#include "../board/board.h"
#include "session_cache_model.h"

static uint8_t next_random(void *context)
{
    uint32_t *state = context;
    *state = *state * 1664525u + 1013904223u;
    return (uint8_t)(*state >> 24);
}

int main(void)
{
    for (;;) {
        uint32_t state = board_receive();
        uint32_t differs = session_cache_differs(10000, state % 9, next_random, &state);
        /* What the generator has come to tells that all of them were done. */
        uint32_t result[2] = {differs, state};
        board_send((const uint8_t *)result, sizeof result);
    }
}
