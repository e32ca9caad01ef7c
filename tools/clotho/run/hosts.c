/* hosts.c - see hosts.h. The command does not link MPI: what runs on several machines is a program beside it,
 * one for each MPI, which must be that of the launcher. */
#define _GNU_SOURCE
#include "clotho/run/hosts.h"

#include "clotho/common/operands.h"
#include "clotho/common/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

bool run_has_hosts(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--hosts") == 0 || strncmp(argv[i], "--hosts=", 8) == 0)
            return true;
    return false;
}

/* Takes --engine NAME out of the arguments. */
static int take_engine(int *argc, char **argv, const char **engine)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--engine") != 0)
            continue;
        if (i + 1 == *argc)
            return misuse("--engine needs a name; write openmpi or mpich");
        *engine = argv[i + 1];
        memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof *argv); /* with the NULL */
        *argc -= 2;
    }
    if (strcmp(*engine, "openmpi") != 0 && strcmp(*engine, "mpich") != 0)
        return misuse("--engine is '%s'; write openmpi or mpich", *engine);
    return EXIT_GOOD;
}

/* The cluster file, before MPI starts, which reports the end of a program in many lines of its own. */
static int check_hosts(int argc, char **argv)
{
    const char *path = NULL;
    clo_cluster *cluster;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--hosts") == 0 && i + 1 == argc)
            return misuse("--hosts needs a value: F.json, the name of a cluster file");
        if (strcmp(argv[i], "--hosts") == 0 || strncmp(argv[i], "--hosts=", 8) == 0)
            path = argv[i][7] == '=' ? argv[i] + 8 : argv[++i];
    }
    if (path == NULL) /* --help */
        return EXIT_GOOD;
    if (access(path, F_OK) != 0)
        return complain_missing(path);
    clo_status status = clo_cluster_load(path, &cluster);
    if (status != CLO_OK)
        return complain_status(path, status);
    clo_cluster_destroy(cluster);
    return EXIT_GOOD;
}

/* With the arguments of a verb; argv[0] may be put in place of. */
static int become(int argc, char **argv)
{
    /* MPICH's launcher, and Slurm's for it, tells each rank its number so. */
    const char *engine = getenv("PMI_RANK") != NULL && getenv("OMPI_COMM_WORLD_RANK") == NULL ? "mpich" : "openmpi";
    char path[PATH_BYTES];
    int code = take_engine(&argc, argv, &engine);

    if (code == EXIT_GOOD)
        code = check_hosts(argc, argv);
    if (code != EXIT_GOOD)
        return code;
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 32);
    if (bytes < 0)
        return complain(NULL, "/proc/self/exe cannot be read: %s", strerror(errno));
    path[bytes] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash != NULL ? slash + 1 : path, 32, "%s", strcmp(engine, "mpich") == 0 ? "clotho-mpich" : "clotho-mpi");
    execv(path, argv);
    return complain(path, "%s; runs on several machines need it: install %s and build again", strerror(errno),
                    strcmp(engine, "mpich") == 0 ? "libmpich-dev and mpich" : "libopenmpi-dev and openmpi-bin");
}

int run_hosts(int argc, char **argv)
{
    return become(argc, argv);
}

int calibrate_hosts(int argc, char **argv)
{
    char **words = malloc((size_t)(argc + 2) * sizeof *words);

    if (words == NULL)
        return complain(NULL, "no memory for %d arguments", argc);
    words[0] = argv[0];
    words[1] = (char[]){"calibrate"};
    memcpy(&words[2], &argv[1], (size_t)argc * sizeof *words); /* with the NULL */
    int code = become(argc + 1, words);
    free(words);
    return code;
}
