/* paths.c - see paths.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/paths.h"

#include "clotho/common/report.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int no_memory(void)
{
    return complain(NULL, "out of memory for the list of files");
}

/* Takes the path over, also where there is no memory. */
static int add(path_list *list, char *path)
{
    if (path != NULL && list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        char **items = realloc(list->items, capacity * sizeof items[0]);
        if (items == NULL) {
            free(path);
            return no_memory();
        }
        list->items = items;
        list->capacity = capacity;
    }
    if (path == NULL)
        return no_memory();
    list->items[list->count++] = path;
    return EXIT_GOOD;
}

/* Hidden files are none. */
static int is_graph_file(const struct dirent *entry)
{
    static const char *const endings[] = {".json", ".jsonl", ".dot", ".gv", ".sm", ".stg"};
    const char *dot = strrchr(entry->d_name, '.');

    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && entry->d_name[0] != '.'; i++)
        if (dot != NULL && strcmp(dot, endings[i]) == 0)
            return 1;
    return 0;
}

static char *join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    char *path = malloc(length + strlen(name) + 2);

    if (path == NULL)
        return NULL;
    memcpy(path, folder, length);
    if (folder[length - 1] != '/')
        path[length++] = '/';
    strcpy(path + length, name);
    return path;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(path_list *list, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_graph_file, by_name), code = EXIT_GOOD;
    size_t before = list->count;

    if (count < 0)
        return complain(folder, "%s; name a folder that you may read", strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path = code == EXIT_GOOD ? join(folder, entries[i]->d_name) : NULL;
        struct stat about;
        if (path != NULL && stat(path, &about) == 0 && !S_ISREG(about.st_mode))
            free(path);
        else if (code == EXIT_GOOD)
            code = add(list, path);
        free(entries[i]);
    }
    free(entries);
    if (code == EXIT_GOOD && list->count == before)
        return complain(folder, "is a directory without graph files (.json, .jsonl, .dot, .gv, .sm, .stg); name files");
    return code;
}

/* Whatever is wrong with a path that is no pattern, who opens it says. */
static int add_pattern(path_list *list, const char *pattern)
{
    glob_t found = {0};
    int status = glob(pattern, 0, NULL, &found), code = EXIT_GOOD;

    if (status == GLOB_NOMATCH)
        code = complain(pattern, "no file is there, and none matches this as a pattern; name files that are there");
    else if (status != 0)
        code = no_memory();
    for (size_t i = 0; status == 0 && i < found.gl_pathc && code == EXIT_GOOD; i++)
        code = add(list, strdup(found.gl_pathv[i]));
    globfree(&found);
    return code;
}

static int expand(path_list *list, const char *operand)
{
    struct stat about;

    if (stat(operand, &about) == 0)
        return S_ISDIR(about.st_mode) ? add_folder(list, operand) : add(list, strdup(operand));
    return strpbrk(operand, "*?[") != NULL ? add_pattern(list, operand) : add(list, strdup(operand));
}

int paths_expand(char **operands, int count, path_list *list)
{
    int code = EXIT_GOOD;

    for (int i = 0; i < count; i++) {
        int one = expand(list, operands[i]);
        list->empty += one != EXIT_GOOD;
        code = code == EXIT_GOOD ? one : code;
    }
    return code;
}

void paths_free(path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (path_list){0};
}
