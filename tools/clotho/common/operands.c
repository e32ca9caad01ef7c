/* operands.c - see operands.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/operands.h"
#include "clotho/common/refuse.h"
#include "clotho/common/report.h"

#include <clotho/clotho.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 256, NAMES_MAX = 512 };

/* The names in a folder, for name_at: the command has one thread here. */
static struct {
    char names[NAMES_MAX][NAME_BYTES];
    uint32_t count;
} folder;

static const char *name_at(uint32_t index)
{
    return index < folder.count ? folder.names[index] : NULL;
}

static size_t stem_bytes(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* Takes in a file of the folder. True: it has the stem of `name` and another ending, and is better than any other one. */
static bool take_file(const char *file, const char *name, bool *is_other_ending)
{
    size_t stem = stem_bytes(name), bytes = stem_bytes(file);

    if (file[0] == '.')
        return false;
    if (bytes == stem && strncmp(file, name, stem) == 0) {
        snprintf(folder.names[0], NAME_BYTES, "%.255s", file);
        folder.count = 1;
        *is_other_ending = true;
        return strncmp(file + bytes, ".json", 5) == 0; /* rather than a picture of it */
    }
    if (!*is_other_ending && strcmp(file + bytes, name + stem) == 0)
        snprintf(folder.names[folder.count++], NAME_BYTES, "%.*s", (int)bytes, file);
    return false;
}

/* The stems of the files of a folder whose ending is that of `name`, for name_at. True: a file has the stem of `name` and
 * another ending; its name is the only one then. */
static bool read_folder(const char *path, const char *name)
{
    struct dirent **files = NULL;
    int count = scandir(path, &files, NULL, alphasort);
    bool is_over = false, is_other_ending = false;

    folder.count = 0;
    for (int i = 0; i < count; i++) {
        is_over = is_over || folder.count == NAMES_MAX || take_file(files[i]->d_name, name, &is_other_ending);
        free(files[i]);
    }
    free(files);
    return is_other_ending;
}

/* The file beside `path` whose name is like it; NULL: none. The answer holds until the next call. */
static const char *neighbour(const char *path)
{
    static char answer[3 * NAME_BYTES];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    int bytes = (int)(name - path);
    char place[NAME_BYTES], stem[NAME_BYTES];

    if (bytes >= NAME_BYTES || strlen(name) >= NAME_BYTES || name[0] == '\0')
        return NULL;
    snprintf(place, sizeof place, "%.*s", bytes, path);
    bool is_other_ending = read_folder(bytes > 0 ? place : ".", name);
    snprintf(stem, sizeof stem, "%.*s", (int)stem_bytes(name), name);
    const char *near = is_other_ending ? folder.names[0] : nearest_name(stem, name_at);
    if (near != NULL && tolower((unsigned char)near[0]) != tolower((unsigned char)name[0])) /* another name */
        return NULL;
    snprintf(answer, sizeof answer, "%s%s%s", place, near != NULL ? near : "",
             is_other_ending ? "" : name + stem_bytes(name));
    return near != NULL ? answer : NULL;
}

/* "a.json b.json" or "a.json,b.json" as one word: the first one is there. */
static bool is_several(const char *path)
{
    char first[NAME_BYTES];
    size_t bytes = strcspn(path, " ,;");

    if (path[bytes] == '\0' || bytes == 0 || bytes >= sizeof first)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)bytes, path);
    return access(first, F_OK) == 0;
}

int complain_missing(const char *path)
{
    const char *why = strerror(ENOENT);
    const char *near = neighbour(path);

    if (access(path, F_OK) != 0 && errno == EACCES) /* in a folder that is closed: nobody knows */
        return complain(path, "%s; name a file in a folder that you may read", strerror(EACCES));
    if (path[0] == '\0')
        return complain(NULL, "'': %s; the name of a file is empty", why);
    if (strpbrk(path, "*?[") != NULL)
        return complain(path, "%s; no file is of this pattern", why);
    if (is_several(path))
        return complain(path, "%s; write several files as words of their own, without quotes or commas", why);
    if (strstr(path, "://") != NULL)
        return complain(path, "%s; files are read from this machine only: download it first", why);
    if (path[0] == '~' || strchr(path, '$') != NULL)
        return complain(path, "%s; leave the quotes out, so that the shell replaces '~' and '$'", why);
    if (near != NULL)
        return complain(path, "%s; did you mean '%s'?", why, show_name(near));
    return complain(path, "%s; name a file that is there", why);
}

/* Bytes of the dashes that editors and web pages make of "--": U+2010 to U+2015. */
static size_t wide_dash(const char *word)
{
    const unsigned char *b = (const unsigned char *)word;

    return b[0] == 0xe2 && b[1] == 0x80 && b[2] >= 0x90 && b[2] <= 0x95 ? 3 : 0;
}

static bool is_unit(const char *word)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "sec", "min", "m", "h"};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(word, units[i]) == 0)
            return true;
    return false;
}

/* "--json yes" */
static bool is_answer(const char *word)
{
    static const char *const answers[] = {"yes", "no", "true", "false", "on", "off"};

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (strcmp(word, answers[i]) == 0)
            return true;
    return false;
}

static bool is_platform(const char *word)
{
    clo_entry entry = CLO_ENTRY_INIT;
    size_t bytes = strcspn(word, ":");

    for (uint32_t i = 0; clo_registry_entry("platforms", i, &entry); i++)
        if (strcmp(entry.name, word) == 0)
            return true;
    return (bytes == 7 && strncmp(word, "uniform", 7) == 0) || (bytes == 5 && strncmp(word, "slots", 5) == 0);
}

int operand_refuse(const option_table *table, const char *word)
{
    if (strcmp(word, "-") == 0 || access(word, F_OK) == 0)
        return EXIT_GOOD;
    size_t dash = wide_dash(word);
    const option_spec *option = option_named(table, word + dash, strcspn(word + dash, "="));

    if (option != NULL && (dash > 0 || strchr(word, '=') != NULL || strchr(word, '.') == NULL))
        return misuse("'%s' is no file; did you mean '--%s'?", word, option->name);
    if (dash > 0)
        return misuse("'%s' begins with a long dash of print; options begin with two short ones: --", word);
    if (word[0] == '=')
        return misuse("'%s' is no file; an option and its value are two words, or one with '=' and no blanks", word);
    if (word[0] == '\0')
        return misuse("'' is no file; name one, and look at what the shell put there");
    if (strcmp(word, "help") == 0)
        return misuse("'help' is no file; did you mean 'clotho %s --help'?", table->cmd->name);
    if (word[strspn(word, "0123456789")] == '\0' || is_answer(word))
        return misuse("'%s' is no file, and the option before it takes no value; leave it out", word);
    if (is_unit(word))
        return misuse("'%s' is no file; write a time and its unit as one word, such as 10ms", word);
    if (clo_planner_find(word) != NULL && option_named(table, "planner", 7) != NULL)
        return misuse("'%s' is no file; did you mean '--planner %s'?", word, word);
    if (clo_policy_find(word) != NULL && option_named(table, "policy", 6) != NULL)
        return misuse("'%s' is no file; did you mean '--policy %s'?", word, word);
    if (is_platform(word) && strcmp(table->cmd->operands, "[SPEC]") != 0 && option_named(table, "platform", 8) != NULL)
        return misuse("'%s' is no file; did you mean '--platform %s'?", word, word);
    return EXIT_GOOD;
}

/* How many operands, from the first one on, are files that are read, by the words of the help. */
static int files_of(const command *cmd, int count)
{
    static const char *const words[] = {"GRAPH", "WORKLOAD", "FILE", "IN"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(cmd->operands, words[i], strlen(words[i])) == 0)
            return strstr(cmd->operands, " OUT") != NULL ? 1 : count;
    return 0;
}

static int check_file(const char *path)
{
    struct stat about;

    if (strcmp(path, "-") == 0)
        return OPTIONS_GO_ON;
    if (stat(path, &about) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return complain_missing(path);
    if (access(path, R_OK) != 0)
        return complain(path, "%s; name a file that you may read", strerror(errno));
    return S_ISDIR(about.st_mode) ? complain(path, "%s; name a file in it", strerror(EISDIR)) : OPTIONS_GO_ON;
}

int operands_check(const option_table *table, int count, char **operands)
{
    int files = files_of(table->cmd, count), code = OPTIONS_GO_ON, inputs = 0;

    for (int i = 0; i < files; i++)
        inputs += strcmp(operands[i], "-") == 0;
    if (inputs > 1)
        return misuse("'-', standard input, can be read once; write the others to files");
    for (int i = 0; i < files; i++)
        if (operand_refuse(table, operands[i]) != EXIT_GOOD)
            return EXIT_BAD_USAGE;
    bool expands = strcmp(table->cmd->name, "plan") == 0; /* folders and patterns (paths.h) */
    if (files == 1 && !expands)                           /* of several, those that are there are worked on */
        code = check_file(operands[0]);
    for (size_t i = 0; i < table->count && code == OPTIONS_GO_ON; i++) {
        const option_spec *o = &table->options[i];
        bool is_file = o->kind == OPTION_INPUT && strcmp(o->argument, "F.json") == 0;
        const char *path = is_file ? *(const char *const *)o->target : NULL;
        if (path != NULL)
            code = check_file(path);
    }
    return code;
}
