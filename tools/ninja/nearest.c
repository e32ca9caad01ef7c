/* nearest.c - see nearest.h. Levenshtein's distance, one row at a time and in it only what can still be small (Ukkonen
 * 1985), as a manifest may have 100 000 long names. */
#include "nearest.h"

#include <assert.h>

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

uint32_t nearest_node(const ninja_manifest *m, piece name)
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
