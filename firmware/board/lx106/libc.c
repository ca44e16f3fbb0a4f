/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The C library of an LX106: what the ESP8266 has in ROM. Copying goes by words where both sides are aligned, as the ROM's
 * does; multiplication and division of 64 bits are what the compiler's library lacks.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *memcpy(void *to, const void *from, size_t len)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if ((((uintptr_t)target | (uintptr_t)source) & 3) == 0) {
        for (; len >= 4; len -= 4, target += 4, source += 4) {
            *(uint32_t *)(void *)target = *(const uint32_t *)(const void *)source;
        }
    }
    while (len-- > 0) {
        *target++ = *source++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t len)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if (target <= source || target >= source + len) {
        return memcpy(to, from, len);
    }
    while (len-- > 0) {
        target[len] = source[len];
    }
    return to;
}

void *memset(void *memory, int byte, size_t len)
{
    uint8_t *target = memory;
    while (len-- > 0) {
        *target++ = (uint8_t)byte;
    }
    return memory;
}

int memcmp(const void *one, const void *other, size_t len)
{
    const uint8_t *left = one, *right = other;
    for (; len > 0; len--, left++, right++) {
        if (*left != *right) {
            return *left - *right;
        }
    }
    return 0;
}

void *memchr(const void *memory, int byte, size_t len)
{
    const uint8_t *at = memory;
    for (; len > 0; len--, at++) {
        if (*at == (uint8_t)byte) {
            return (void *)at;
        }
    }
    return NULL;
}

size_t strlen(const char *text)
{
    const char *end = text;
    while (*end != 0) {
        end++;
    }
    return (size_t)(end - text);
}

int strcmp(const char *one, const char *other)
{
    while (*one != 0 && *one == *other) {
        one++, other++;
    }
    return (uint8_t)*one - (uint8_t)*other;
}

void *malloc(size_t size)
{
    (void)size;
    return NULL;
}

void free(void *memory)
{
    (void)memory;
}

uint32_t __udivsi3(uint32_t number, uint32_t by);
uint32_t __umodsi3(uint32_t number, uint32_t by);
uint64_t __muldi3(uint64_t one, uint64_t other);
uint64_t __udivdi3(uint64_t number, uint64_t by);
uint64_t __umoddi3(uint64_t number, uint64_t by);

uint64_t __muldi3(uint64_t one, uint64_t other)
{
    uint32_t a = (uint32_t)one, b = (uint32_t)other;
    uint32_t a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
    uint32_t low = a0 * b0, middle = a1 * b0 + (low >> 16), other_middle = a0 * b1 + (middle & 0xffff);
    uint32_t high = a1 * b1 + (middle >> 16) + (other_middle >> 16);
    high += (uint32_t)(one >> 32) * b + a * (uint32_t)(other >> 32);
    return (uint64_t)high << 32 | (other_middle << 16 | (low & 0xffff));
}

static uint64_t divide(uint64_t number, uint64_t by, uint64_t *rest)
{
    uint64_t quotient = 0, left = 0;
    for (int bit = 63; bit >= 0; bit--) {
        left = left << 1 | (number >> bit & 1);
        quotient <<= 1;
        if (left >= by) {
            left -= by;
            quotient |= 1;
        }
    }
    *rest = left;
    return quotient;
}

uint64_t __udivdi3(uint64_t number, uint64_t by)
{
    uint64_t rest;
    return divide(number, by, &rest);
}

uint64_t __umoddi3(uint64_t number, uint64_t by)
{
    uint64_t rest;
    divide(number, by, &rest);
    return rest;
}

uint32_t __udivsi3(uint32_t number, uint32_t by)
{
    uint64_t rest;
    return (uint32_t)divide(number, by, &rest);
}

uint32_t __umodsi3(uint32_t number, uint32_t by)
{
    uint64_t rest;
    divide(number, by, &rest);
    return (uint32_t)rest;
}
