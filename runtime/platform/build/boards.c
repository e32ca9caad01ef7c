/* boards.c - see boards.h. */
#define _GNU_SOURCE /* dladdr */
#include "platform/build/boards.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "CLOTHO_PLATFORMS"
#define FROM_PROGRAM "../share/clotho/platforms"

/* True: `path` is that of the board in the folder "BASE/BELOW", BASE of so many bytes. */
static bool is_in(const char *base, size_t bytes, const char *below, const char *name, char *path)
{
    int length = snprintf(path, CLO_BOARD_PATH_BYTES, "%.*s/%s/%s.xml", (int)bytes, base, below, name);

    return length > 0 && length < CLO_BOARD_PATH_BYTES && access(path, R_OK) == 0;
}

static bool is_in_variable(const char *name, char *path)
{
    const char *folder = getenv(VARIABLE);

    while (folder != NULL && *folder != '\0') { /* each round is a folder shorter */
        size_t length = strcspn(folder, ":");
        if (length > 0 && length < CLO_BOARD_PATH_BYTES && is_in(folder, length, ".", name, path))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

/* Below the folder of the file, whose name is `file`: as it is installed, and as in a build tree. */
static bool is_beside(const char *file, const char *name, char *path)
{
    static const char *const below[] = {CLO_BOARDS_FROM_LIBRARY, FROM_PROGRAM};
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;

    for (size_t i = 0; i < sizeof below / sizeof below[0] && slash != NULL; i++)
        if (is_in(file, (size_t)(slash - file), below[i], name, path))
            return true;
    return false;
}

static bool is_beside_library(const char *name, char *path)
{
    Dl_info library;

    return dladdr(VARIABLE, &library) != 0 && is_beside(library.dli_fname, name, path);
}

static bool is_beside_program(const char *name, char *path)
{
    char program[CLO_BOARD_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    program[length > 0 ? length : 0] = '\0';
    return is_beside(program, name, path);
}

bool clo_board_find(const char *name, char path[CLO_BOARD_PATH_BYTES])
{
    return is_in_variable(name, path) || is_beside_library(name, path) || is_beside_program(name, path) ||
           is_in(CLO_BOARDS_INSTALLED, strlen(CLO_BOARDS_INSTALLED), ".", name, path);
}
