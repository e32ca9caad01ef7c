/* log_file.c - see log_file.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/logs/log_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_BYTES_MAX = 1 << 30 };

bool log_file_read(ninja_manifest *m, const char *path, char **text, size_t *bytes)
{
    int error = file_read(path, LOG_BYTES_MAX, text, bytes);

    return error == 0 || error == ENOENT ||
           ninja_fail(m, "%.256s: cannot be read: %s; look at the file", path, strerror(error));
}

static bool rewrite(ninja_manifest *m, const char *path, log_file_write write_anew, void *log)
{
    char other[4096];

    if (snprintf(other, sizeof other, "%s.recompact", path) >= (int)sizeof other)
        return ninja_fail(m, "%.256s: the path is too long; build elsewhere", path);
    FILE *file = fopen(other, "wbe");
    bool is_good = file != NULL && write_anew(log, m, file);
    if (file != NULL && fclose(file) != 0)
        is_good = false;
    if (is_good && rename(other, path) == 0)
        return true;
    if (m->error[0] == '\0')
        ninja_set_error(m, "%.256s: cannot be written: %s; look at the disk", other, strerror(errno));
    unlink(other);
    return false;
}

FILE *log_file_open(ninja_manifest *m, const char *path, size_t good_bytes, log_file_write write_anew, void *log)
{
    if (good_bytes == 0 && !rewrite(m, path, write_anew, log))
        return NULL;
    FILE *file = good_bytes == 0 || truncate(path, (off_t)good_bytes) == 0 ? fopen(path, "abe") : NULL;
    if (file == NULL)
        ninja_set_error(m, "%.256s: cannot be written: %s; look at the file", path, strerror(errno));
    return file;
}

static size_t slot_of(const path_list *list, piece path)
{
    size_t mask = list->slots_count - 1, at = (size_t)murmur64(path.at, path.bytes) & mask;

    while (list->slots[at] != NINJA_NONE && !piece_equal(list->paths[list->slots[at]], path))
        at = (at + 1) & mask;
    return at;
}

static bool slots_double(path_list *list)
{
    size_t count = list->slots_count == 0 ? 64 : 2 * list->slots_count;
    uint32_t *slots = malloc(count * sizeof *slots);

    if (slots == NULL)
        return false;
    memset(slots, 0xff, count * sizeof *slots);
    free(list->slots);
    list->slots = slots;
    list->slots_count = count;
    for (uint32_t i = 0; i < list->count; i++)
        list->slots[slot_of(list, list->paths[i])] = i;
    return true;
}

uint32_t path_list_find(const path_list *list, piece path)
{
    return list->slots_count > 0 ? list->slots[slot_of(list, path)] : NINJA_NONE;
}

uint32_t path_list_take(path_list *list, piece path)
{
    if (2 * (list->count + 1) > list->slots_count && !slots_double(list))
        return NINJA_NONE;
    size_t slot = slot_of(list, path);
    if (list->slots[slot] != NINJA_NONE)
        return list->slots[slot];
    piece *grown = array_grow(list->paths, &list->capacity, list->count + 1, sizeof *grown);
    if (grown == NULL)
        return NINJA_NONE;
    list->paths = grown;
    char *copy = store_copy(&list->store, path);
    if (copy == NULL)
        return NINJA_NONE;
    list->paths[list->count] = (piece){copy, path.bytes};
    return list->slots[slot] = (uint32_t)list->count++;
}

void path_list_free(path_list *list)
{
    free(list->paths);
    free(list->slots);
    store_free(&list->store);
    *list = (path_list){0};
}
