/* cgroup.c - see cgroup.h. A group's limits and those of all groups above it hold; which tree a controller is in, says
 * /proc/self/cgroup, and where the tree is mounted /proc/self/mountinfo (proc(5), cgroups(7)). */
#define _POSIX_C_SOURCE 200809L
#include "base/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512

/* Whether one of the words of a list with commas is `word`. */
static bool has_word(const char *list, const char *word)
{
    size_t bytes = strlen(word);

    for (;; list++) { /* ends with the list */
        if (strncmp(list, word, bytes) == 0 && (list[bytes] == '\0' || list[bytes] == ','))
            return true;
        list = strchr(list, ',');
        if (list == NULL)
            return false;
    }
}

static FILE *open_proc(const char *root, const char *name)
{
    char path[CLO_CGROUP_BYTES];
    int length = snprintf(path, sizeof path, "%s/proc/self/%s", root, name);

    return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* mountinfo writes blanks and the like as \040. */
static void take_escapes_out(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0';) {
        bool is_octal = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' && at[3] >= '0' &&
                        at[3] <= '7';
        *to++ = is_octal ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0')) : *at;
        at += is_octal ? 4 : 1;
    }
    *to = '\0';
}

/* One line of mountinfo: where a tree of this type is mounted, and which part of it; controller NULL: of any. */
static bool read_mount(const char *line, const char *type, const char *controller, char shown[PATH_BYTES],
                       char point[PATH_BYTES])
{
    char found[64], options[PATH_BYTES];
    const char *rest = strstr(line, " - ");

    if (rest == NULL || sscanf(rest, " - %63s %*s %511s", found, options) != 2 || strcmp(found, type) != 0 ||
        (controller != NULL && !has_word(options, controller)) ||
        sscanf(line, "%*s %*s %*s %511s %511s", shown, point) != 2)
        return false;
    take_escapes_out(shown);
    take_escapes_out(point);
    return true;
}

/* The path of this process in a tree: behind "N:...,controller,...:", or NULL: behind "0::". */
static bool find_self(const char *root, const char *controller, char path[PATH_BYTES])
{
    FILE *file = open_proc(root, "cgroup");
    char *line = NULL;
    size_t room = 0;
    bool is_found = false;

    while (file != NULL && !is_found && getline(&line, &room, file) > 0) {
        char *list = strchr(line, ':'), *end = list != NULL ? strchr(list + 1, ':') : NULL;
        if (end == NULL)
            continue;
        *end = '\0';
        is_found = (controller != NULL ? has_word(list + 1, controller) : end == list + 1) &&
                   sscanf(end + 1, "%511[^\n]", path) == 1;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return is_found;
}

/* The folder of group `self` in a mount that shows the part of the tree from `shown` on. */
static void place_group(const char *root, const char *point, const char *shown, const char *self,
                        char folder[CLO_CGROUP_BYTES])
{
    size_t bytes = strcmp(shown, "/") == 0 ? 0 : strlen(shown);
    bool is_inside = strncmp(self, shown, bytes) == 0 && (self[bytes] == '/' || self[bytes] == '\0');
    const char *below = is_inside && strcmp(self + bytes, "/") != 0 ? self + bytes : "";

    if (snprintf(folder, CLO_CGROUP_BYTES, "%s%s%s", root, point, below) >= CLO_CGROUP_BYTES)
        snprintf(folder, CLO_CGROUP_BYTES, "%s%.400s", root, point);
}

/* A tree may be mounted more than once: the first mount in which the group is there, else the first. */
static bool find_folder(const char *root, const char *type, const char *controller, char folder[CLO_CGROUP_BYTES])
{
    char self[PATH_BYTES], shown[PATH_BYTES], point[PATH_BYTES], *line = NULL;
    FILE *file = find_self(root, controller, self) ? open_proc(root, "mountinfo") : NULL;
    size_t room = 0;
    bool is_found = false, is_there = false;

    while (file != NULL && !is_there && getline(&line, &room, file) > 0) {
        char place[CLO_CGROUP_BYTES];
        if (!read_mount(line, type, controller, shown, point))
            continue;
        place_group(root, point, shown, self, place);
        is_there = access(place, F_OK) == 0;
        if (is_there || !is_found)
            memcpy(folder, place, CLO_CGROUP_BYTES);
        is_found = true;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return is_found;
}

int clo_cgroup_find(const char *root, const char *controller, char folder[CLO_CGROUP_BYTES])
{
    return find_folder(root, "cgroup", controller, folder) ? 1 : find_folder(root, "cgroup2", NULL, folder) ? 2 : 0;
}

/* The first two numbers of a file, 0 for one that is not there; false: no file, or it begins with none, as "max". */
static bool read_numbers(const char *folder, const char *name, int64_t numbers[2])
{
    char path[CLO_CGROUP_BYTES + 64], line[64] = "", *end, *last;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;

    if (file == NULL)
        return false;
    bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    numbers[0] = strtoll(line, &end, 10); /* out of range: the nearest, which is no sane limit */
    numbers[1] = strtoll(end, &last, 10);
    return is_read && end != line;
}

/* Of one group; false: it has none. */
static bool read_quota(clo_cgroup_quota *out)
{
    int64_t quota[2], period[2];

    if (out->version == 2) {
        if (!read_numbers(out->folder, "cpu.max", quota))
            return false;
        period[0] = quota[1];
    } else if (!read_numbers(out->folder, "cpu.cfs_quota_us", quota) ||
               !read_numbers(out->folder, "cpu.cfs_period_us", period)) {
        return false;
    }
    if (quota[0] <= 0 || quota[0] >= INT64_MAX / 1000 || period[0] <= 0)
        return false;
    out->quota_us = quota[0];
    out->period_us = period[0];
    out->milli = 1000 * quota[0] / period[0];
    out->milli += out->milli == 0;
    return true;
}

bool clo_cgroup_least(int version, const char *folder, clo_cgroup_quota *out)
{
    clo_cgroup_quota at = {.version = version};
    bool is_found = false;

    if (snprintf(at.folder, sizeof at.folder, "%s", folder) >= (int)sizeof at.folder)
        return false;
    for (char *end = at.folder + strlen(at.folder); end != NULL; end = strrchr(at.folder, '/')) { /* each is shorter */
        *end = '\0';
        if (!read_quota(&at) || (is_found && at.milli >= out->milli))
            continue;
        *out = at;
        is_found = true;
    }
    return is_found;
}

bool clo_cgroup_limit(const char *root, clo_cgroup_quota *out)
{
    char folder[CLO_CGROUP_BYTES];
    int version = clo_cgroup_find(root, "cpu", folder);

    return version > 0 && clo_cgroup_least(version, folder, out);
}
