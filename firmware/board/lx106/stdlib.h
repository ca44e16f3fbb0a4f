/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* There is no heap. */
#ifndef REPRISE_LX106_STDLIB_H
#define REPRISE_LX106_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void free(void *memory);

#endif
