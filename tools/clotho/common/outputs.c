/* outputs.c - see outputs.h. */
#define _GNU_SOURCE
#include "clotho/common/outputs.h"
#include "clotho/common/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of `path`, as a name of its own. False: it is too long. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);

    if (length >= PATH_MAX)
        return false;
    memcpy(folder, slash == NULL ? "." : path, length);
    folder[length] = '\0';
    return true;
}

static const char *name_in_folder(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

bool outputs_are_same(const char *a, const char *b)
{
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    struct stat at_a, at_b;
    bool is_a = stat(a, &at_a) == 0, is_b = stat(b, &at_b) == 0;

    if (is_a != is_b || strcmp(a, "-") == 0 || strcmp(b, "-") == 0) /* standard input and output */
        return false;
    if (is_a) /* a device may be named twice */
        return S_ISREG(at_a.st_mode) && at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
    return strcmp(name_in_folder(a), name_in_folder(b)) == 0 && folder_of(a, folder_a) && folder_of(b, folder_b) &&
           stat(folder_a, &at_a) == 0 && stat(folder_b, &at_b) == 0 && at_a.st_dev == at_b.st_dev &&
           at_a.st_ino == at_b.st_ino;
}

bool is_output(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

int outputs_to_standard(const char *const *paths, size_t count)
{
    int sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += is_output(paths[i]);
    return sum;
}

static int kept_output = -1; /* of this process, as standard output is */

int outputs_keep_standard(void)
{
    fflush(stdout);
    kept_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return kept_output >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0
               ? EXIT_GOOD
               : complain("-", "standard output cannot be kept for the file: %s", strerror(errno));
}

/* What was printed so far goes where standard output was until now. */
static void turn(const char *path, int to)
{
    if (kept_output < 0 || !is_output(path))
        return;
    fflush(stdout);
    (void)dup2(to, STDOUT_FILENO);
}

void outputs_begin_file(const char *path)
{
    turn(path, kept_output);
}

clo_status outputs_end_file(const char *path, clo_status status)
{
    turn(path, STDERR_FILENO);
    return status;
}

/* As clo_file_write asks: a new file takes the place of the old one, or of what a symbolic link stands for. */
int output_check(const char *path)
{
    char target[PATH_MAX], folder[PATH_MAX];
    struct stat about;

    if (path[0] == '\0')
        return complain(NULL, "a file to write needs a name; nothing was begun");
    if (strcmp(path, "-") == 0)
        return EXIT_GOOD;
    bool is_there = stat(path, &about) == 0;
    if (is_there && S_ISDIR(about.st_mode))
        return complain(path, "Is a directory; nothing was begun: name a file in it");
    if (is_there && access(path, W_OK) != 0)
        return complain(path, "%s; nothing was begun: name a file that is yours to write", strerror(errno));
    if (is_there && !S_ISREG(about.st_mode)) /* written in its place */
        return EXIT_GOOD;
    if (!is_there && lstat(path, &about) == 0) /* a link to what is not there: who writes it sees where that is */
        return EXIT_GOOD;
    if (!folder_of(is_there && realpath(path, target) != NULL ? target : path, folder) || path[strlen(path) - 1] == '/')
        return complain(path, "%s; nothing was begun: name a file",
                        strerror(path[strlen(path) - 1] == '/' ? EISDIR : ENAMETOOLONG));
    if (access(folder, F_OK) != 0 && errno == ENOENT)
        return complain(path, "%s; nothing was begun: make the folder first", strerror(errno));
    if (stat(folder, &about) == 0 && !S_ISDIR(about.st_mode))
        return complain(path, "%s; nothing was begun: name a file in a folder", strerror(ENOTDIR));
    if (access(folder, W_OK | X_OK) != 0)
        return complain(path, "%s; nothing was begun: name a file in a folder that is yours to write", strerror(errno));
    return EXIT_GOOD;
}

int output_complain(const output *o)
{
    return o->is_refused ? complain_status(o->path, CLO_ERR_IO)
                         : complain(o->path, "out of memory for what it is to hold; nothing was written");
}

int outputs_check(const named_file *outputs, size_t outputs_count, const named_file *inputs, size_t inputs_count)
{
    for (size_t i = 0; i < outputs_count; i++) {
        const char *option = outputs[i].option, *path = outputs[i].path;
        for (size_t k = 0; k < inputs_count;
             k++) /* what is not there is the name of something else, or an error of its own */
            if (access(inputs[k].path, F_OK) == 0 && outputs_are_same(path, inputs[k].path))
                return misuse("--%s would replace %s, which is read; name another file", option, show_name(path));
        for (size_t k = 0; k < i; k++)
            if (outputs_are_same(path, outputs[k].path))
                return misuse("--%s and --%s name one file, %s; name two", outputs[k].option, option, show_name(path));
        if (path[0] == '\0')
            return complain(NULL, "--%s: a file to write needs a name; nothing was begun", option);
        int code = output_check(path);
        if (code != EXIT_GOOD)
            return code;
    }
    return EXIT_GOOD;
}
