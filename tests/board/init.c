/* init.c - the first and only program of the emulated board. Runs the lines of /steps one after the other and prints on
 * the console what they print, between marks that boot.py reads; then turns the board off.
 *
 * A line: CPUS PROGRAM ARGUMENT...    CPUS is "all" or FIRST-LAST; the program may use these only
 * `/init show FILE...` prints files, as there is no cat. Linked statically. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 64
#define LINE_BYTES 4096

static int show(char *const *names)
{
    char block[4096];

    for (; *names != NULL; names++) {
        FILE *file = fopen(*names, "r");
        size_t bytes;
        if (file == NULL)
            return fprintf(stderr, "%s: %s\n", *names, strerror(errno)), 1;
        while ((bytes = fread(block, 1, sizeof block, file)) > 0)
            fwrite(block, 1, bytes, stdout);
        fclose(file);
    }
    return 0;
}

static int restrict_to(const char *cpus)
{
    cpu_set_t set;
    unsigned first, last;

    if (strcmp(cpus, "all") == 0)
        return 0;
    if (sscanf(cpus, "%u-%u", &first, &last) != 2)
        return errno = EINVAL, -1;
    CPU_ZERO(&set);
    for (unsigned cpu = first; cpu <= last; cpu++)
        CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* In the child. */
static int become(char *line)
{
    char *words[WORDS_MAX + 1] = {NULL}, *rest = line;
    int count = 0;

    while (count < WORDS_MAX && (words[count] = strsep(&rest, " ")) != NULL)
        count++;
    if (count < 2 || restrict_to(words[0]) != 0)
        return perror(words[0]), 125;
    execv(words[1], words + 1);
    return perror(words[1]), 127;
}

static void run(unsigned number, char *line)
{
    struct timespec begin, end;
    int status = 0;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    printf("\n@begin %u\n", number);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int failed = become(line);
        fflush(stdout);
        _exit(failed);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        perror("init");
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("\n@end %u %d after %.1f s\n", number, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    fflush(stdout);
}

static void prepare(void)
{
    static const char *const trees[][2] = {{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}};

    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        mkdir(trees[i][1], 0755);
        if (mount(trees[i][0], trees[i][1], trees[i][0], 0, NULL) != 0)
            perror(trees[i][1]);
    }
    setenv("LD_LIBRARY_PATH", "/lib", 1);
    setenv("HOME", "/work", 1);
    if (chdir("/work") != 0)
        perror("/work");
}

int main(int count, char **words)
{
    char line[LINE_BYTES];
    unsigned number = 0;

    if (count > 1)
        return strcmp(words[1], "show") == 0 ? show(words + 2) : 2;
    prepare();
    FILE *steps = fopen("/steps", "r");
    while (steps != NULL && fgets(line, sizeof line, steps) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        run(number++, line);
    }
    printf("\n@done\n");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 1; /* the kernel panics, and QEMU ends */
}
