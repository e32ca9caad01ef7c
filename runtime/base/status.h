/* base/status.h - how a failure is reported inside the library: `return clo_fail(CLO_ERR_X, "...")`. */
#ifndef CLO_BASE_STATUS_H
#define CLO_BASE_STATUS_H

#include "library.h"
#include <clotho/status.h>
#include <stddef.h>

/* Stores the formatted text for clo_last_error of this thread and returns `status`. */
CLO_INTERNAL clo_status clo_fail(clo_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Texts that were stored on this thread so far: whether a function of the caller's that has failed has said why. */
CLO_INTERNAL size_t clo_fail_texts(void);

/* A text of this thread that a caller may still read: what fails inside a call that succeeds is not to replace it.
 * clo_fail_keep copies it, clo_fail_put_back stores it again. */
typedef struct clo_fail_text {
    char text[512];
} clo_fail_text;

CLO_INTERNAL void clo_fail_keep(clo_fail_text *kept);
CLO_INTERNAL void clo_fail_put_back(const clo_fail_text *kept);

/* Puts "prefix" in front of the stored text, e.g. the file's name, and returns `status`. */
CLO_INTERNAL clo_status clo_fail_prefix(clo_status status, const char *prefix);

/* Out of memory while doing `what`: one wording everywhere. */
CLO_INTERNAL clo_status clo_fail_memory(const char *what);

/* CLO_ERR_ARGUMENT: `call` got NULL for what `arguments` names, e.g. "cost or out". One wording everywhere. */
CLO_INTERNAL clo_status clo_fail_null(const char *call, const char *arguments);

/* Reads a config struct that may come from an older or newer caller: `mine` (of mine_bytes, already holding
 * the defaults) receives what the caller knows. `theirs` may be NULL. Older caller: missing tail = defaults.
 * Newer caller: a non-zero unknown tail is refused. The first field of both is `size_t size`. */
CLO_INTERNAL clo_status clo_config_read(void *mine, size_t mine_bytes, const void *theirs, const char *name);

/* Result structs that a newer or older caller gives to be filled; their first field is `size_t size` too. A call checks
 * first, before it does anything that cannot be undone, and writes last.
 *
 * Check: the caller's size is at least `first_bytes`, the struct's size in the first release. Else CLO_ERR_ARGUMENT.
 * Write: the caller gets as much of `mine` (of mine_bytes) as his size holds, and zeros in fields that this library
 * does not know; his size stays as it is. Both do nothing where `theirs` is NULL. */
CLO_INTERNAL clo_status clo_result_check(const void *theirs, size_t first_bytes, const char *name);
CLO_INTERNAL void clo_result_write(void *theirs, const void *mine, size_t mine_bytes);

/* Bytes of a struct up to the end of `field`: the size in a release whose last field this was. */
#define CLO_BYTES_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

#endif
