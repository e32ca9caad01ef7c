/* paths.h - operands that stand for many files. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_PATHS_H
#define CLO_TOOLS_CLOTHO_COMMON_PATHS_H

#include <stddef.h>

typedef struct path_list {
    char **items;
    size_t count, capacity;
    size_t empty; /* operands that hold nothing */
} path_list;

/* Each operand in turn: a folder is the graph files in it (by their endings; not those in its folders, no pipes), a pattern that
 * names no file ("set/[a-m]*.json") is what it matches, both in the order of their names. Returns EXIT_GOOD, or
 * EXIT_BAD_INPUT after an error line for each that holds nothing; `list` has the others. paths_free in each case. */
int paths_expand(char **operands, int count, path_list *list);
void paths_free(path_list *list);

#endif
