/* target.c - the node that a user means. What is like a name: Levenshtein's distance, one row at a time and in it only
 * what can still be small (Ukkonen 1985), as a manifest may have 100 000 long names. */
#define _GNU_SOURCE /* O_DIRECTORY */
#include "ninja/manifest/manifest.h"
#include "ninja/text/paths.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES_MAX = 256, CHANGES_MAX = 3 };

/* Changes that make `a` of `b`; above `most`: more than that. a.bytes <= BYTES_MAX, `most` <= CHANGES_MAX. */
static size_t distance(piece a, piece b, size_t most)
{
    size_t row[BYTES_MAX + CHANGES_MAX + 2];

    if (a.bytes > b.bytes + most || b.bytes > a.bytes + most)
        return most + 1;
    for (size_t j = 0; j <= b.bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.bytes; i++) {
        size_t first = i > most ? i - most : 1, last = i + most < b.bytes ? i + most : b.bytes;
        size_t diagonal = row[first - 1];
        row[first - 1] = first == 1 ? i : most + 1;
        for (size_t j = first; j <= last; j++) {
            size_t change = diagonal + (a.at[i - 1] != b.at[j - 1]), left = row[j - 1] + 1;
            size_t above = j == i + most ? most + 1 : row[j] + 1; /* that one is no part of the row above */
            diagonal = row[j];
            row[j] = change < above ? change : above;
            row[j] = left < row[j] ? left : row[j];
        }
    }
    return row[b.bytes];
}

/* The node whose path is most like `name`, which is the path of none: by at most 3 letters, and by at most a third of
 * its own, rounded up. The first of several; NINJA_NONE: none is like it. */
static uint32_t nearest_node(const ninja_manifest *m, piece name)
{
    size_t most = (name.bytes + 2) / 3 < CHANGES_MAX ? (name.bytes + 2) / 3 : CHANGES_MAX;
    uint32_t best = NINJA_NONE;

    if (name.bytes > BYTES_MAX)
        return NINJA_NONE;
    for (uint32_t n = 0; most > 0 && n < m->nodes_count; n++) {
        size_t changes = distance(name, (piece){m->nodes[n].path, m->nodes[n].bytes}, most);
        if (changes > most)
            continue;
        assert(changes > 0);
        best = n;
        most = changes - 1; /* only what is nearer */
    }
    return best;
}

/* The first output of the first edge that uses `node`. */
static uint32_t first_use(ninja_manifest *m, uint32_t node)
{
    for (size_t e = 0; e < m->edges_count; e++)
        for (uint32_t i = 0; i < m->edges[e].inputs_count; i++)
            if (m->edges[e].inputs[i] == node && m->edges[e].outputs_count > 0)
                return m->edges[e].outputs[0];
    ninja_set_error(m, "'%.256s' is used by no statement, so '%.256s^' names nothing; name a target",
                    m->nodes[node].path, m->nodes[node].path);
    return NINJA_NONE;
}

static bool is_bare_folder(const char *name)
{
    struct stat about;
    int folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_bare = folder >= 0 && fstatat(folder, "build.ninja", &about, 0) != 0;

    if (folder >= 0)
        close(folder);
    return is_bare;
}

static void refuse_target(ninja_manifest *m, const char *name, piece path)
{
    uint32_t near = nearest_node(m, path);

    if (is_bare_folder(name))
        ninja_set_error(m,
                        "%.256s is a folder without a build.ninja, and no target of %.256s; name the folder of a build",
                        name, m->files[0]);
    else if (near == NINJA_NONE)
        ninja_set_error(m, "no statement of %.256s mentions '%.256s'; see 'clotho build -t targets'", m->files[0],
                        name);
    else
        ninja_set_error(m, "no statement of %.256s mentions '%.256s'; did you mean '%.256s'?", m->files[0], name,
                        m->nodes[near].path);
}

/* The node of the first `bytes` of `name`. */
static uint32_t find_named(ninja_manifest *m, const char *name, size_t bytes)
{
    char *path = malloc(bytes + 1);

    if (path == NULL) {
        ninja_no_memory(m);
        return NINJA_NONE;
    }
    memcpy(path, name, bytes);
    path[bytes] = '\0';
    bytes = path_canonical(path, bytes);
    uint32_t node = ninja_find_node(m, (piece){path, bytes});
    if (node == NINJA_NONE)
        refuse_target(m, name, (piece){path, bytes});
    free(path);
    return node;
}

uint32_t ninja_named(ninja_manifest *m, const char *name)
{
    return find_named(m, name, strlen(name));
}

uint32_t ninja_target(ninja_manifest *m, const char *name)
{
    size_t bytes = strlen(name);
    bool is_use = bytes > 0 && name[bytes - 1] == '^';
    uint32_t node = find_named(m, name, bytes - is_use);

    return is_use && node != NINJA_NONE ? first_use(m, node) : node;
}
