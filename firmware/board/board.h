/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What main.c needs of a machine: one byte stream to the host, two counters, memory. One file for each machine:
 * mps2.c (Cortex-M), lx106.c (ESP8266's CPU).
 */
#ifndef REPRISE_BOARD_H
#define REPRISE_BOARD_H

#include <stddef.h>
#include <stdint.h>

/* The host's line: it waits for a byte, and for the line to take one. */
uint8_t board_receive(void);
void board_send(const uint8_t *bytes, size_t len);

/* Two counters that begin at 0 when they are started: instructions and cycles, in the machine's unit of each. */
typedef struct {
    uint32_t instructions, cycles;
} board_count;
void board_count_start(void);
board_count board_count_stop(void);

/* The stack: its lowest address, and the highest. */
extern uint8_t board_stack_low[], board_stack_high[];
/* All memory that nothing else uses. */
extern uint8_t board_heap_low[], board_heap_high[];

#endif
