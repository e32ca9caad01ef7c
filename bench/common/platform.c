/* platform.c - the part of this machine that a benchmark runs on. */
#include "common/platform.h"

#include <stdio.h>
#include <stdlib.h>

bool bench_fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, clo_last_error());
    return false;
}

clo_platform *bench_platform(uint32_t workers)
{
    clo_platform *native = NULL, *part = NULL;
    clo_executor *executors = calloc(workers, sizeof *executors);

    if (executors == NULL || clo_platform_open("native", &native) != CLO_OK) {
        bench_fail("cannot open the native platform");
    } else if (workers > clo_platform_executors(native)) {
        fprintf(stderr, "bench: %u workers asked for, this process may use %u CPUs\n", workers,
                clo_platform_executors(native));
    } else {
        for (uint32_t e = 0; e < workers; e++) {
            executors[e] = *clo_platform_executor(native, e);
            /* One machine, one kind, one memory, one speed: what is measured here is dispatch. */
            executors[e].kind = executors[e].machine = executors[e].memory = 0;
            for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
                executors[e].speed_q16[c] = CLO_SPEED_ONE;
        }
        clo_platform_desc desc = {.size = sizeof desc,
                                  .name = "bench",
                                  .executors_count = workers,
                                  .executors = executors,
                                  .kinds_count = 1,
                                  .coherent = 1};
        if (clo_platform_create(&desc, &part) != CLO_OK)
            bench_fail("cannot make a platform");
    }
    clo_platform_destroy(native);
    free(executors);
    return part;
}
