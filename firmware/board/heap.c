/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The heap for stacks that need one (Mbed TLS), which knows what is in use and what was at most. */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "board.h"

static size_t in_use, peak;

/* The size stands before each block, and keeps it aligned. */
typedef union {
    size_t size;
    uint64_t align;
} header;

void *reprise_calloc(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(header)) / size) {
        return NULL;
    }
    header *block = malloc(count * size + sizeof(header));
    if (block == NULL) {
        return NULL;
    }
    memset(block + 1, 0, count * size);
    block->size = count * size;
    in_use += block->size;
    peak = in_use > peak ? in_use : peak;
    return block + 1;
}

void reprise_free(void *memory)
{
    if (memory != NULL) {
        header *block = (header *)memory - 1;
        in_use -= block->size;
        free(block);
    }
}

size_t heap_in_use(void)
{
    return in_use;
}

size_t heap_peak(void)
{
    return peak;
}

void heap_forget_peak(void)
{
    peak = in_use;
}
