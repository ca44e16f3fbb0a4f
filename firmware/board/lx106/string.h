/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What BearSSL and our library need of <string.h>; the compiler for this CPU comes without a C library. */
#ifndef REPRISE_LX106_STRING_H
#define REPRISE_LX106_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *memory, int byte, size_t len);
int memcmp(const void *one, const void *other, size_t len);
void *memchr(const void *memory, int byte, size_t len);
size_t strlen(const char *text);
int strcmp(const char *one, const char *other);

#endif
