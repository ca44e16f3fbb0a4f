/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef REPRISE_BOARD_HEAP_H
#define REPRISE_BOARD_HEAP_H

#include <stddef.h>
#include <stdint.h>

void *reprise_calloc(size_t count, size_t size);
void reprise_free(void *memory);

/* Bytes that are allocated now, at most, and a new beginning for the latter. */
size_t heap_in_use(void);
size_t heap_peak(void);
void heap_forget_peak(void);

/* Memory that is never given back: for the server and its connections. NULL where there is none left. */
void *heap_take(size_t size);

#endif
