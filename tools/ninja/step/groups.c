/* groups.c - see groups.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/step/groups.h"
#include "base/cgroup.h"
#include "ninja/step/pids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PREFIX[] = "clotho-build-", SELF[] = "clotho-self";

/* "%s/%s"; false: too long. */
static bool join(char *path, size_t bytes, const char *folder, const char *name)
{
    int length = snprintf(path, bytes, "%s/%s", folder, name);

    return length >= 0 && (size_t)length < bytes;
}

static int open_in(const char *folder, const char *name, int flags)
{
    char path[1400];

    return join(path, sizeof path, folder, name) ? open(path, flags | O_CLOEXEC) : -1;
}

/* Writes a short text. Returns 0 or an error number. */
static int put(const char *folder, const char *name, const char *text)
{
    int file = open_in(folder, name, O_WRONLY);
    int error = file < 0 ? errno : 0;

    if (error == 0 && write(file, text, strlen(text)) < 0)
        error = errno;
    if (file >= 0)
        close(file);
    return error;
}

/* The file from its beginning, terminated. False: it cannot be read. */
static bool get(int file, char *text, size_t bytes)
{
    ssize_t got = file >= 0 ? pread(file, text, bytes - 1, 0) : -1;

    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static int64_t number_in(const char *folder, const char *name)
{
    char text[64];
    int file = open_in(folder, name, O_RDONLY);
    bool is_good = get(file, text, sizeof text);

    if (file >= 0)
        close(file);
    return is_good && text[0] >= '0' && text[0] <= '9' ? strtoll(text, NULL, 10) : -1; /* "max": no limit */
}

/* The number behind a word at the beginning of a line; -1: there is none. */
static int64_t number_of(const char *text, const char *word)
{
    size_t bytes = strlen(word);

    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, bytes) == 0 && line[bytes] == ' ')
            return strtoll(line + bytes, NULL, 10);
    }
    return -1;
}

static void no_groups(step_groups *g, const char *what, int error)
{
    groups_close(g);
    snprintf(g->why, sizeof g->why, "%.180s%s%s", what, error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
}

static int is_of_step(const struct dirent *entry)
{
    return entry->d_name[0] == 's';
}

static int is_of_build(const struct dirent *entry)
{
    return strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0;
}

/* What a group holds goes to another one. */
static void move_all(const char *from, const char *to)
{
    char list[1900], number[16];
    FILE *file = join(list, sizeof list, from, "cgroup.procs") ? fopen(list, "re") : NULL;

    if (file == NULL)
        return;
    for (pid_t pid = pids_next(file); pid > 1; pid = pids_next(file)) {
        snprintf(number, sizeof number, "%d", (int)pid);
        put(to, "cgroup.procs", number);
    }
    fclose(file);
}

static void kill_all(const char *group)
{
    char list[1900];
    FILE *file = join(list, sizeof list, group, "cgroup.procs") ? fopen(list, "re") : NULL;

    if (file == NULL)
        return;
    for (pid_t pid = pids_next(file); pid > 1; pid = pids_next(file))
        kill(pid, SIGKILL);
    fclose(file);
}

/* Whether the helper of a step's group lives, which ends what is the step's own and moves servers. */
static bool has_helper(const char *group)
{
    int folder = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_held = folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (folder >= 0)
        close(folder);
    return is_held;
}

/* A group with those below it, but for steps whose helper lives. What runs in the others is nobody's any more. */
static void remove_build(const char *parent, const char *name)
{
    char path[1400], below[1700];
    struct dirent **found = NULL;

    if (!join(path, sizeof path, parent, name))
        return;
    int count = scandir(path, &found, is_of_step, alphasort);
    for (int i = 0; i < count; i++) {
        if (join(below, sizeof below, path, found[i]->d_name) && !has_helper(below)) {
            kill_all(below);
            rmdir(below);
        }
        free(found[i]);
    }
    if (count >= 0)
        free(found);
    rmdir(path);
}

/* Groups of builds that do not run any more. */
static void remove_old(const char *parent)
{
    struct dirent **found = NULL;
    int count = scandir(parent, &found, is_of_build, alphasort);

    for (int i = 0; i < count; i++) {
        long pid = strtol(found[i]->d_name + sizeof PREFIX - 1, NULL, 10);
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            remove_build(parent, found[i]->d_name);
        free(found[i]);
    }
    if (count >= 0)
        free(found);
}

/* Whether this process is the only one of its group. */
static bool is_single(const char *parent)
{
    char text[128];
    int file = open_in(parent, "cgroup.procs", O_RDONLY);
    bool is_good = get(file, text, sizeof text);

    if (file >= 0)
        close(file);
    return is_good && strtol(text, NULL, 10) == (long)getpid() && strchr(text, '\n') == strrchr(text, '\n');
}

/* Version 2 gives a controller to groups below one that has no process. A process that is alone there (systemd-run
 * --scope -p Delegate=yes) moves down. */
static int enable_memory(step_groups *g)
{
    char self[1200];
    int error = put(g->parent, "cgroup.subtree_control", "+memory");

    if (error != EBUSY || !is_single(g->parent) || !join(self, sizeof self, g->parent, SELF))
        return error;
    if (mkdir(self, 0755) != 0 && errno != EEXIST)
        return errno;
    error = put(self, "cgroup.procs", "0");
    g->has_moved = error == 0;
    return error != 0 ? error : put(g->parent, "cgroup.subtree_control", "+memory");
}

static bool open_files(step_groups *g, uint32_t step)
{
    step_group *s = &g->groups[step];
    char path[1200];

    groups_folder(g, step, path);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return false;
    s->stat = open_in(path, "memory.stat", O_RDONLY);
    s->kernel = g->version == 1 ? open_in(path, "memory.kmem.usage_in_bytes", O_RDONLY) : -1;
    s->events = open_in(path, g->version == 1 ? "memory.oom_control" : "memory.events", O_RDONLY);
    s->peak = open_in(path, g->version == 1 ? "memory.max_usage_in_bytes" : "memory.peak", O_RDWR);
    if (g->version == 2)
        put(path, "memory.oom.group", "1");
    return s->stat >= 0 && s->events >= 0;
}

void groups_open_at(step_groups *g, int version, const char *parent, uint32_t count, int64_t limit_kib)
{
    char text[32], name[64];
    int error = 0;

    *g = (step_groups){.version = version};
    snprintf(g->parent, sizeof g->parent, "%s", parent);
    snprintf(name, sizeof name, "%s%d", PREFIX, (int)getpid());
    snprintf(g->whole, sizeof g->whole, "%s/%s", g->parent, name);
    remove_old(g->parent);
    if (version == 2)
        error = enable_memory(g);
    if (error == 0 && mkdir(g->whole, 0755) != 0 && errno != EEXIST)
        error = errno;
    if (error == 0 && version == 2)
        error = put(g->whole, "cgroup.subtree_control", "+memory");
    if (error != 0) {
        no_groups(g, "no control group can be made", error);
        return;
    }
    g->groups = calloc(count, sizeof *g->groups);
    g->count = g->groups != NULL ? count : 0;
    for (uint32_t i = 0; i < g->count; i++)
        g->groups[i] = (step_group){.stat = -1, .kernel = -1, .peak = -1, .events = -1};
    for (uint32_t i = 0; i < count; i++)
        if (g->groups == NULL || !open_files(g, i)) {
            no_groups(g, "the groups of steps cannot be made", g->groups == NULL ? ENOMEM : errno);
            return;
        }
    snprintf(text, sizeof text, "%" PRId64, limit_kib * 1024);
    if (limit_kib > 0)
        g->has_limit = put(g->whole, version == 1 ? "memory.limit_in_bytes" : "memory.max", text) == 0;
}

void groups_open(step_groups *g, uint32_t count, int64_t limit_kib)
{
    char parent[1024];
    int version = clo_cgroup_find("", "memory", parent);

    *g = (step_groups){0};
    if (version == 0)
        no_groups(g, "no tree of control groups is mounted", 0);
    else
        groups_open_at(g, version, parent, count, limit_kib);
}

static void close_file(int file)
{
    if (file >= 0)
        close(file);
}

void groups_close(step_groups *g)
{
    char path[1200];

    for (uint32_t i = 0; g->groups != NULL && i < g->count; i++) {
        close_file(g->groups[i].stat);
        close_file(g->groups[i].kernel);
        close_file(g->groups[i].peak);
        close_file(g->groups[i].events);
        groups_leave(g, i);
        if (groups_folder(g, i, path) != NULL)
            rmdir(path);
    }
    if (g->whole[0] != '\0')
        rmdir(g->whole);
    if (g->has_moved && join(path, sizeof path, g->parent, SELF)) {
        put(g->parent, "cgroup.subtree_control", "-memory");
        move_all(path, g->parent);
        rmdir(path);
    }
    free(g->groups);
    *g = (step_groups){0};
}

const char *groups_folder(const step_groups *g, uint32_t step, char path[1200])
{
    if (step >= g->count)
        return NULL;
    snprintf(path, 1200, "%s/s%u", g->whole, step);
    return path;
}

/* Processes killed for memory, all so far. */
static int64_t kills_of(const step_groups *g, uint32_t step)
{
    char text[512];

    return step < g->count && get(g->groups[step].events, text, sizeof text) ? number_of(text, "oom_kill") : -1;
}

void groups_begin(step_groups *g, uint32_t step)
{
    if (step >= g->count)
        return;
    step_group *s = &g->groups[step];
    s->has_peak = s->peak >= 0 && pwrite(s->peak, "0", 1, 0) == 1; /* version 2: not before Linux 6.12 */
    s->kills = kills_of(g, step);
}

/* Of version 1, which has a file for that, or from memory.stat of version 2. */
static int64_t kernel_bytes(const step_group *s, const char *stat)
{
    static const char *const parts[] = {"kernel_stack", "pagetables", "slab_unreclaimable"};
    char text[64];
    int64_t sum = 0;

    if (s->kernel >= 0)
        return get(s->kernel, text, sizeof text) ? strtoll(text, NULL, 10) : 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int64_t part = number_of(stat, parts[i]);
        sum += part > 0 ? part : 0;
    }
    return sum;
}

int64_t groups_held_kib(const step_groups *g, uint32_t step)
{
    char text[8192];

    if (step >= g->count || !get(g->groups[step].stat, text, sizeof text))
        return -1;
    int64_t bytes = number_of(text, g->version == 1 ? "total_rss" : "anon");
    return bytes < 0 ? -1 : (bytes + kernel_bytes(&g->groups[step], text)) / 1024;
}

int64_t groups_peak_kib(const step_groups *g, uint32_t step)
{
    char text[64];

    if (step >= g->count || !g->groups[step].has_peak || !get(g->groups[step].peak, text, sizeof text))
        return -1;
    return strtoll(text, NULL, 10) / 1024;
}

int64_t groups_kills(const step_groups *g, uint32_t step)
{
    int64_t kills = kills_of(g, step);

    return kills > 0 && g->groups[step].kills >= 0 ? kills - g->groups[step].kills : 0;
}

void groups_leave(const step_groups *g, uint32_t step)
{
    char path[1200], self[1200];

    if (groups_folder(g, step, path) == NULL || !join(self, sizeof self, g->parent, SELF))
        return;
    move_all(path, g->has_moved ? self : g->parent);
}

/* Room below the limits of this process's group and of those above it, up to the root of the tree. */
static int64_t room_kib(int version, char *folder)
{
    const char *limit_name = version == 1 ? "memory.limit_in_bytes" : "memory.max";
    const char *usage_name = version == 1 ? "memory.usage_in_bytes" : "memory.current";
    int64_t room = INT64_MAX;

    for (;;) {
        int64_t limit = number_in(folder, limit_name), usage = number_in(folder, usage_name);
        if (limit >= 0 && usage >= 0 && limit - usage < room)
            room = limit > usage ? limit - usage : 0;
        char *end = strrchr(folder, '/');
        if (end == NULL || end == folder || usage < 0)
            return room / 1024;
        *end = '\0';
    }
}

int64_t groups_available_kib(void)
{
    char text[4096], parent[1024];
    int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    int64_t available = get(file, text, sizeof text) ? number_of(text, "MemAvailable:") : -1;
    int version = clo_cgroup_find("", "memory", parent);

    close_file(file);
    if (version == 0)
        return available;
    int64_t room = room_kib(version, parent);
    return available < 0 || room < available ? room : available;
}
