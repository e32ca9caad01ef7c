/* text.c - see text.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STORE_BLOCK = 1 << 16, STORE_ALIGN = 16 };

struct store_block {
    struct store_block *next;
    size_t bytes;
};

bool piece_equal(piece a, piece b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

void piece_version(piece text, unsigned *major, unsigned *minor)
{
    unsigned parts[2] = {0, 0};
    size_t at = 0;

    for (int i = 0; i < 2; i++) {
        for (; at < text.bytes && text.at[at] >= '0' && text.at[at] <= '9'; at++)
            if (parts[i] < 100000)
                parts[i] = parts[i] * 10 + (unsigned)(text.at[at] - '0');
        while (at < text.bytes && text.at[at] != '.')
            at++;
        at++;
    }
    *major = parts[0];
    *minor = parts[1];
}

piece piece_of(const char *text)
{
    return (piece){text, strlen(text)};
}

int piece_order(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    int order = memcmp(x->at, y->at, x->bytes < y->bytes ? x->bytes : y->bytes);

    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool store_more(store *s, size_t bytes)
{
    size_t size = bytes > STORE_BLOCK ? bytes : STORE_BLOCK;

    if (s->most != 0 && (size > s->most || s->taken > s->most - size))
        return false;
    struct store_block *block = calloc(1, STORE_ALIGN + size);
    if (block == NULL)
        return false;
    block->next = s->blocks;
    block->bytes = size;
    s->blocks = block;
    s->next = (char *)block + STORE_ALIGN;
    s->left = size;
    s->taken += size;
    return true;
}

void *store_take(store *s, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + STORE_ALIGN - 1) / STORE_ALIGN * STORE_ALIGN;
    if (bytes == 0)
        bytes = STORE_ALIGN;
    if (bytes > s->left && !store_more(s, bytes))
        return NULL;
    void *taken = s->next;
    s->next += bytes;
    s->left -= bytes;
    return taken;
}

char *store_copy(store *s, piece text)
{
    char *copy = store_take(s, text.bytes + 1);

    if (copy != NULL && text.bytes > 0)
        memcpy(copy, text.at, text.bytes);
    return copy;
}

void store_free(store *s)
{
    while (s->blocks != NULL) {
        struct store_block *next = s->blocks->next;
        free(s->blocks);
        s->blocks = next;
    }
    *s = (store){.most = s->most};
}

static bool buffer_room(buffer *b, size_t count)
{
    if (b->failed || count > SIZE_MAX / 2 - b->bytes || (b->most != 0 && b->bytes + count > b->most)) {
        b->failed = true;
        return false;
    }
    if (b->bytes + count <= b->capacity)
        return true;
    char *grown = array_grow(b->at, &b->capacity, b->bytes + count, 1);
    if (grown == NULL) {
        b->failed = true;
        return false;
    }
    b->at = grown;
    return true;
}

void buffer_add(buffer *b, const char *bytes, size_t count)
{
    if (b->counts) {
        b->bytes += count;
        return;
    }
    if (count == 0 || !buffer_room(b, count))
        return;
    memcpy(b->at + b->bytes, bytes, count);
    b->bytes += count;
}

void buffer_add_text(buffer *b, const char *text)
{
    buffer_add(b, text, strlen(text));
}

void buffer_add_format(buffer *b, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    int count = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (count < 0 || (size_t)count >= sizeof text)
        b->failed = true; /* formats are for numbers: they fit */
    else
        buffer_add(b, text, (size_t)count);
}

void buffer_clear(buffer *b)
{
    b->bytes = 0;
    b->failed = false;
}

void buffer_free(buffer *b)
{
    free(b->at);
    *b = (buffer){.most = b->most};
}

piece buffer_piece(const buffer *b)
{
    return (piece){b->at, b->bytes};
}

void *array_grow(void *array, size_t *capacity, size_t count, size_t item)
{
    size_t wanted = *capacity < 16 ? 16 : *capacity;

    if (count <= *capacity && array != NULL)
        return array;
    if (count > SIZE_MAX / 4 / item)
        return NULL;
    while (wanted < count)
        wanted *= 2;
    void *grown = realloc(array, wanted * item);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

static uint64_t murmur_word(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

uint64_t murmur64(const void *bytes, size_t count)
{
    const uint64_t factor = 0xc6a4a7935bd1e995U;
    const unsigned char *at = bytes;
    uint64_t hash = 0xDECAFBADDECAFBADU ^ (count * factor);

    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word = murmur_word(at) * factor;
        hash = (hash ^ ((word ^ (word >> 47)) * factor)) * factor;
    }
    if (count > 0) {
        uint64_t rest = 0;
        for (size_t i = 0; i < count; i++)
            rest |= (uint64_t)at[i] << (8 * i);
        hash = (hash ^ rest) * factor;
    }
    hash = (hash ^ (hash >> 47)) * factor;
    return hash ^ (hash >> 47);
}

/* Reads until the end, as a file may be longer than its size says (/proc) or shrink. */
static int read_all(int fd, size_t most, buffer *into)
{
    char chunk[1 << 16];

    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0;
        if (into->bytes + (size_t)got > most)
            return EFBIG;
        buffer_add(into, chunk, (size_t)got);
        if (into->failed)
            return ENOMEM;
    }
}

int file_read(const char *path, size_t most, char **text, size_t *bytes)
{
    buffer whole = {0};
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return errno;
    if (fstat(fd, &about) == 0 && about.st_size > 0 && (uint64_t)about.st_size < most)
        whole.at = array_grow(NULL, &whole.capacity, (size_t)about.st_size + 1, 1);
    int error = read_all(fd, most, &whole);
    close(fd);
    if (error == 0) {
        buffer_add(&whole, "", 1);
        error = whole.failed ? ENOMEM : 0;
    }
    if (error != 0) {
        buffer_free(&whole);
        return error;
    }
    *text = whole.at;
    *bytes = whole.bytes - 1;
    return 0;
}
