/* text.h - text that grows, memory that is freed at once, and arrays that double: what a reader of files needs.
 *
 * Nothing here aborts. A failed allocation, or one above the limit, is an answer that the caller looks at. */
#ifndef CLO_TOOLS_NINJA_TEXT_TEXT_H
#define CLO_TOOLS_NINJA_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that somebody else owns; not terminated. */
typedef struct piece {
    const char *at;
    size_t bytes;
} piece;

bool piece_equal(piece a, piece b);
piece piece_of(const char *text); /* of a terminated text */
/* For qsort of pieces: by their bytes, a beginning of another one before that one. */
int piece_order(const void *a, const void *b);
/* "1.5.3" -> 1 and 5, "2-x" -> 2 and 0, what is no number -> 0. */
void piece_version(piece text, unsigned *major, unsigned *minor);

/* Blocks that live until store_free. */
typedef struct store {
    struct store_block *blocks;
    char *next;
    size_t left;
    size_t taken; /* bytes of all blocks */
    size_t most;  /* limit of `taken`; 0: none */
} store;

/* `bytes` for any type, zeroed; NULL: no memory, or above the limit. */
void *store_take(store *s, size_t bytes);
/* A terminated copy; NULL as above. */
char *store_copy(store *s, piece text);
void store_free(store *s);

/* A text that grows. After a failed append it stays failed, so that one look at the end is enough. */
typedef struct buffer {
    char *at; /* NULL while empty; not terminated */
    size_t bytes, capacity;
    size_t most; /* limit of `bytes`; 0: none */
    bool failed;
    bool counts; /* keeps no text, only its length; takes no memory */
} buffer;

void buffer_add(buffer *b, const char *bytes, size_t count);
void buffer_add_text(buffer *b, const char *text);
void buffer_add_format(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_clear(buffer *b); /* keeps its memory */
void buffer_free(buffer *b);
piece buffer_piece(const buffer *b);

/* Makes room for `count` items of `item` bytes in an array of *capacity items. Returns the array, which may have moved;
 * NULL: no memory, the old one stays as it was. */
void *array_grow(void *array, size_t *capacity, size_t count, size_t item);

/* MurmurHash64A (Appleby, public domain) with the seed of ninja's log up to version 6. */
uint64_t murmur64(const void *bytes, size_t count);
/* rapidhash (De Carli) with its own seed, as ninja's log has it from version 7 on. */
uint64_t rapid64(const void *bytes, size_t count);

/* The whole file, terminated, owned by the caller; *bytes without the terminator. Returns 0, or an error number: EFBIG
 * above `most` bytes, ENOMEM, or what the system said. */
int file_read(const char *path, size_t most, char **text, size_t *bytes);

#endif
