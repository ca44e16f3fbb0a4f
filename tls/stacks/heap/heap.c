/*
 * reprise-heap: counts the heap of the process that it is preloaded to (LD_PRELOAD), for `reprise compare memory`.
 *
 * It counts the bytes that a caller asks for, as massif does: neither what malloc adds to a block nor what it keeps for later. Sizes are in
 * a header before each block. For glibc, whose malloc stays the allocator.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef __GLIBC__
#error "the malloc of glibc alone has these names"
#endif

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* As large as malloc aligns. */
typedef struct {
    size_t size;   /* what was asked for */
    size_t offset; /* from where the allocator's block begins */
} header;

#define HEADER sizeof(header)
#define header_of(block) ((header *)(block)-1)
#define base_of(block) ((char *)(block)-header_of(block)->offset)

static size_t live, peak;

size_t reprise_heap_live(void) { return __atomic_load_n(&live, __ATOMIC_RELAXED); }

/* The most since the last call of reprise_heap_begin_peak. */
size_t reprise_heap_peak(void) { return __atomic_load_n(&peak, __ATOMIC_RELAXED); }

void reprise_heap_begin_peak(void) { __atomic_store_n(&peak, reprise_heap_live(), __ATOMIC_RELAXED); }

/* By the difference, which wraps where it is below zero. */
static void count(size_t difference)
{
    size_t now = __atomic_add_fetch(&live, difference, __ATOMIC_RELAXED), most = reprise_heap_peak();
    while (now > most && !__atomic_compare_exchange_n(&peak, &most, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void *counted(char *base, size_t offset, size_t size)
{
    if (!base) return NULL;
    void *block = base + offset;
    *header_of(block) = (header){size, offset};
    count(size);
    return block;
}

static int is_too_large(size_t size, size_t offset)
{
    if (size <= (size_t)PTRDIFF_MAX && offset <= (size_t)PTRDIFF_MAX - size) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return is_too_large(size, HEADER) ? NULL : counted(__libc_malloc(size + HEADER), HEADER, size); }

void free(void *block)
{
    if (!block) return;
    count(-header_of(block)->size);
    __libc_free(base_of(block));
}

void *calloc(size_t number, size_t each)
{
    size_t size;
    if (__builtin_mul_overflow(number, each, &size)) size = SIZE_MAX;
    return is_too_large(size, HEADER) ? NULL : counted(__libc_calloc(1, size + HEADER), HEADER, size);
}

static void *aligned(size_t alignment, size_t size)
{
    size_t offset = alignment > HEADER ? alignment : HEADER;
    return is_too_large(size, offset) ? NULL : counted(__libc_memalign(offset, size + offset), offset, size);
}

void *realloc(void *block, size_t size)
{
    if (!block) return malloc(size);
    if (!size) return free(block), NULL;
    if (is_too_large(size, HEADER)) return NULL;
    size_t before = header_of(block)->size;
    if (header_of(block)->offset != HEADER) { /* no realloc keeps the alignment, as no caller may expect */
        void *moved = malloc(size);
        if (moved) memcpy(moved, block, before < size ? before : size), free(block);
        return moved;
    }
    char *base = __libc_realloc(base_of(block), size + HEADER);
    if (!base) return NULL;
    header_of(base + HEADER)->size = size;
    count(size - before);
    return base + HEADER;
}

void *reallocarray(void *block, size_t number, size_t each)
{
    size_t size;
    if (__builtin_mul_overflow(number, each, &size)) return errno = ENOMEM, NULL;
    return realloc(block, size);
}

static int is_power_of_two(size_t alignment) { return alignment && !(alignment & (alignment - 1)); }

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (!is_power_of_two(alignment) || alignment % sizeof(void *)) return EINVAL;
    int before = errno;
    void *block = aligned(alignment, size);
    errno = before;
    if (!block) return ENOMEM;
    *out = block;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (is_power_of_two(alignment)) return aligned(alignment, size);
    errno = EINVAL;
    return NULL;
}

void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

#define PAGE 4096

void *valloc(size_t size) { return aligned(PAGE, size); }

void *pvalloc(size_t size) { return is_too_large(size, PAGE) ? NULL : aligned(PAGE, (size + PAGE - 1) / PAGE * PAGE); }

size_t malloc_usable_size(void *block) { return block ? header_of(block)->size : 0; }
