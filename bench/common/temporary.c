/* temporary.c - a temporary directory. */
#define _GNU_SOURCE /* nftw, mkdtemp */
#include "common/temporary.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool temporary_make(char *path)
{
    strcpy(path, "/tmp/clotho-bench-XXXXXX");
    if (mkdtemp(path) != NULL)
        return true;
    path[0] = '\0';
    return false;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void temporary_remove(const char *path)
{
    enum { OPEN_MAX_AT_ONCE = 8 };

    if (path[0] != '\0')
        nftw(path, remove_one, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
