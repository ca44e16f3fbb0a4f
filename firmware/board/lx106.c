/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The ESP8266's CPU, an Xtensa LX106, on QEMU's simulator board. The line is the emulator's own standard input and output,
 * by simulator calls; CCOUNT passes by one in 25 instructions.
 */
#include <string.h>

#include "board.h"
#include "heap.h"

int main(void);
void begin(void);

extern uint32_t bss_low[], bss_high[];

/* The CPU begins at the reset vector, whatever the image says: with a stack, and on to C. */
__asm__(".section .reset, \"ax\"\n"
        ".global reset\n"
        "reset:\n"
        "    j 1f\n"
        "    .align 4\n"
        "stack_at: .word board_stack_high\n"
        "begin_at: .word begin\n"
        "1:  l32r a1, stack_at\n"
        "    l32r a0, begin_at\n"
        "    jx a0\n"
        ".text\n");

enum { EXIT = 1, READ = 3, WRITE = 4 };

static int simulator_call(int call, int first, const void *second, size_t third)
{
    register int a2 __asm__("a2") = call;
    register int a3 __asm__("a3") = first;
    register const void *a4 __asm__("a4") = second;
    register size_t a5 __asm__("a5") = third;
    __asm__ volatile("simcall" : "+r"(a2), "+r"(a3) : "r"(a4), "r"(a5) : "memory");
    return a2;
}

void begin(void)
{
    memset(bss_low, 0, (size_t)((uint8_t *)bss_high - (uint8_t *)bss_low));
    main();
    simulator_call(EXIT, 1, NULL, 0);
}

uint8_t board_receive(void)
{
    uint8_t byte = 0;
    if (simulator_call(READ, 0, &byte, 1) != 1) {
        simulator_call(EXIT, 0, NULL, 0);
    }
    return byte;
}

void board_send(const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        int sent = simulator_call(WRITE, 1, bytes, len);
        if (sent <= 0) {
            simulator_call(EXIT, 1, NULL, 0);
        }
        bytes += sent;
        len -= (size_t)sent;
    }
}

static uint32_t cycle_count(void)
{
    uint32_t count;
    __asm__ volatile("rsr.ccount %0" : "=r"(count));
    return count;
}

static uint32_t began;

/* Set anew each time: what is left of a tick would make two runs differ. */
void board_count_start(void)
{
    __asm__ volatile("wsr.ccount %0" : : "r"(0));
    began = cycle_count();
}

board_count board_count_stop(void)
{
    uint32_t passed = cycle_count() - began;
    board_count count = {passed, passed};
    return count;
}

static uint8_t *next;

void *heap_take(size_t size)
{
    if (next == NULL) {
        next = board_heap_low;
    }
    size = (size + 7) & ~(size_t)7;
    if (size > (size_t)(board_heap_high - next)) {
        return NULL;
    }
    next += size;
    return next - size;
}
