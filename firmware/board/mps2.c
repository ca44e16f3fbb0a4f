/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ARM's MPS2 board with a Cortex-M3 (QEMU's mps2-an385), of which only what a Cortex-M0+ has is used: code for ARMv6-M, one
 * UART, two timers. The second timer is a second instruction counter in QEMU; our own M0+ model counts cycles with it.
 */
#include <string.h>

#include "board.h"
#include "heap.h"

typedef struct {
    volatile uint32_t data, state, control, interrupt, divider;
} uart;

typedef struct {
    volatile uint32_t control, value, reload, interrupt;
} timer;

#define UART ((uart *)0x40004000)
#define TIMER_INSTRUCTIONS ((timer *)0x40000000)
#define TIMER_CYCLES ((timer *)0x40001000)

enum { TX_FULL = 1, RX_FULL = 2, TX_ENABLE = 1, RX_ENABLE = 2 };

int main(void);
void reset(void);
static void fail(void);

extern uint32_t data_load[], data_low[], data_high[], bss_low[], bss_high[];

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))board_stack_high, reset, fail, fail,
};

void reset(void)
{
    memcpy(data_low, data_load, (size_t)((uint8_t *)data_high - (uint8_t *)data_low));
    memset(bss_low, 0, (size_t)((uint8_t *)bss_high - (uint8_t *)bss_low));
    UART->divider = 16;
    UART->control = TX_ENABLE | RX_ENABLE;
    TIMER_INSTRUCTIONS->reload = TIMER_CYCLES->reload = UINT32_MAX;
    TIMER_INSTRUCTIONS->control = TIMER_CYCLES->control = 1;
    main();
    fail();
}

static void fail(void)
{
    static const uint8_t dead[4] = {'!', 0xff, 0, 0};
    board_send(dead, sizeof dead);
    for (;;) {
    }
}

uint8_t board_receive(void)
{
    while (!(UART->state & RX_FULL)) {
    }
    return (uint8_t)UART->data;
}

void board_send(const uint8_t *bytes, size_t len)
{
    while (len-- > 0) {
        while (UART->state & TX_FULL) {
        }
        UART->data = *bytes++;
    }
}

void board_count_start(void)
{
    TIMER_INSTRUCTIONS->value = UINT32_MAX;
    TIMER_CYCLES->value = UINT32_MAX;
}

board_count board_count_stop(void)
{
    board_count count = {UINT32_MAX - TIMER_INSTRUCTIONS->value, UINT32_MAX - TIMER_CYCLES->value};
    return count;
}

static uint8_t *next = board_heap_low;

void *heap_take(size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (size > (size_t)(board_heap_high - next)) {
        return NULL;
    }
    next += size;
    return next - size;
}

/* newlib's malloc takes from here. */
void *_sbrk(ptrdiff_t more)
{
    void *there = heap_take((size_t)more);
    return there != NULL ? there : (void *)-1;
}
