/* room.c - see room.h. A few jobs are drawn, their weights move by a factor of 2 to some power, or their limits; what
 * does not make the measure worse is kept. Times of an environment are drawn by job, stage and instance, so that a
 * change of order is not taken for luck. */
#include "clotho/room/room.h"

#include "clotho/common/report.h"
#include "clotho/room/dress.h"
#include "train/numbers/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 4, TRIES = 48, JOBS_MOST = 30, POWER_MAX = 8 };

static uint32_t below(draws *d, uint32_t bound)
{
    uint32_t drawn = (uint32_t)(draws_uniform(d) * bound);

    return drawn < bound ? drawn : bound - 1;
}

static void move(stream_said *job, uint32_t executors, draws *d)
{
    if (below(d, 4) > 0) {
        int to = (int)job->weight_power + (int)below(d, 7) - 3;
        job->weight_power = (uint32_t)(to < 0 ? 0 : to > POWER_MAX ? POWER_MAX : to);
    } else {
        uint32_t limit = 1 + below(d, executors);
        job->limit = below(d, 3) == 0 ? 0 : limit;
    }
}

/* All streams climb side by side. said: [2][SEEDS][jobs], what is kept and what is tried. */
static int climb(const train_streams *how, train_stream *list, uint32_t count, stream_said *said, double *best)
{
    uint32_t jobs = how->arrivals.jobs, executors = clo_platform_executors(how->platform);
    int code = EXIT_GOOD;

    for (uint32_t i = 0; i < TRIES && code == EXIT_GOOD; i++) {
        for (uint32_t s = 0; s < count; s++) {
            stream_said *tried = said + (size_t)(SEEDS + s) * jobs;
            draws d = {draws_key(list[s].seed, i, 1)};
            uint32_t moved = 1 + below(&d, i % 2 == 0 ? 2 : jobs / 4 + 1);
            memcpy(tried, said + (size_t)s * jobs, jobs * sizeof *tried);
            while (moved-- > 0)
                move(&tried[below(&d, jobs)], executors, &d);
            list[s].said = tried;
        }
        code = train_streams_run(how, NULL, list, count);
        for (uint32_t s = 0; s < count && code == EXIT_GOOD; s++)
            if (list[s].reached <= best[s]) {
                best[s] = list[s].reached;
                memcpy(said + (size_t)s * jobs, list[s].said, jobs * sizeof *said);
            }
    }
    return code;
}

/* 1 - (what the oracle reaches / what the rule reaches) */
static int measure(const train_streams *streams, const clo_policy *rule, const void *argument, seed_list seeds,
                   double *out)
{
    train_streams how = *streams;
    train_stream list[SEEDS] = {{0}};
    double best[SEEDS], from = 0, to = 0;
    uint32_t count = seeds.count < SEEDS ? seeds.count : SEEDS;

    how.is_common = how.environment != NULL;
    how.arrivals.jobs = how.arrivals.jobs < JOBS_MOST ? how.arrivals.jobs : JOBS_MOST;
    stream_said *said = calloc((size_t)2 * SEEDS * (how.arrivals.jobs + 1), sizeof *said);
    if (said == NULL)
        return complain(NULL, "out of memory");
    for (uint32_t s = 0; s < count; s++)
        list[s] = (train_stream){.policy = rule, .argument = argument, .seed = seeds.first + s};
    int code = train_streams_run(&how, NULL, list, count);
    for (uint32_t s = 0; s < count; s++)
        from += best[s] = list[s].reached;
    if (code == EXIT_GOOD)
        code = climb(&how, list, count, said, best);
    for (uint32_t s = 0; s < count; s++)
        to += best[s];
    free(said);
    *out = from > 0 ? 1 - to / from : 0;
    return code;
}

int room_check(const train_streams *settings, uint32_t count, const clo_policy *rule, const void *argument,
               seed_list seeds, bool is_quiet)
{
    double room = 0, one = 0;
    int code = EXIT_GOOD;

    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++) {
        code = measure(&settings[i], rule, argument, seeds, &one);
        room = one > room ? one : room;
    }

    if (code == EXIT_GOOD && room < ROOM_LEAST)
        return complain(NULL,
                        "an oracle that knows all is %.2f %% better than '%s' on these streams: less than %.0f %%, "
                        "so there is nothing to learn; choose others, or write --force",
                        100 * room, rule->name, 100 * ROOM_LEAST);
    if (code == EXIT_GOOD && !is_quiet) {
        printf("room         an oracle that knows all is %.1f %% better than '%s'\n", 100 * room, rule->name);
        fflush(stdout);
    }
    return code;
}
