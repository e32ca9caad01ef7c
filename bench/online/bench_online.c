/* bench_online.c - jobs that arrive over time: how long do they take under each policy?
 *
 * All contenders of a scene meet the same streams, one a seed. Ratios are of sums over the seeds, their intervals from
 * a paired bootstrap. The baseline's streams are judged by the stream checker, which also gives the lower bound; so are
 * all streams of the scenes with groups. */
#include "online/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CLO_DATA
#define CLO_DATA "../shared/data"
#endif

static bool read_count(const char *text, const char *name, uint32_t *out)
{
    char *end;
    unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;

    if (text != NULL && (*text < '1' || *text > '9' || *end != '\0' || value > 1000000)) {
        fprintf(stderr, "bench: --%s %s: give a whole number from 1 to 1000000\n", name, text);
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static bool play_all(online *o)
{
    bool has_oracle = false;

    if (o->oracle_tries > 0 && !o->options.json)
        printf("%-22s %-20s %12s %18s %18s\n", "scene", "best rule", "", "an oracle gains", "with other times");
    for (uint32_t i = 0; online_scenes[i] != NULL; i++) {
        const scene *s = online_scenes[i];

        if (o->only != NULL && strncmp(s->name, o->only, strlen(o->only)) != 0)
            continue;
        if (o->oracle_tries > 0) {
            if (o->options.json && has_oracle)
                printf(", ");
            if (!oracle_scene(o, s, o->oracle_tries))
                return false;
            fflush(stdout);
            has_oracle = true;
            continue;
        }
        if (!online_play(o, s, &o->played[o->played_count++]))
            return false;
        if (o->options.json) {
            if (o->played_count > 1)
                printf(", ");
            online_print_json(&o->played[o->played_count - 1]);
        } else {
            online_print(&o->played[o->played_count - 1]);
        }
        fflush(stdout);
    }
    if (o->played_count == 0 && !has_oracle) {
        fprintf(stderr, "bench: no scene's name begins with '%s'; leave --only out to see all\n", o->only);
        return false;
    }
    return o->svg == NULL || online_svg(o, o->svg);
}

static bool run(online *o)
{
    if (o->options.json)
        printf("{\"bench\": \"online\", \"scenes\": [");
    bool is_good = online_data_open(o);
    if (o->skipped != NULL)
        fprintf(stderr, "bench: skipped: %s\n", o->skipped);
    else
        is_good = is_good && play_all(o);
    if (o->options.json)
        printf("]}\n");
    for (uint32_t i = 0; i < o->played_count; i++)
        played_close(&o->played[i]);
    online_data_close(o);
    return is_good;
}

int main(int argc, char **argv)
{
    online o = {.data = CLO_DATA};
    bool choices = false, cluster = false;
    const char *jobs = NULL, *seeds = NULL, *from = NULL, *percent = NULL, *oracle = NULL;
    const bench_flag flags[] = {
        {.name = "only NAME", .help = "only scenes whose names begin so", .value = &o.only},
        {.name = "cluster", .help = "only 150 jobs at once on 50 to 30 000 executors", .is_set = &cluster},
        {.name = "policy NAME", .help = "NAME[:ARGUMENT] beside the baseline; may be repeated", .list = &o.policies},
        {.name = "by MEASURE",
         .help = "compare by mean, weighted, makespan, tardiness, p95 or late, in place of the scene's measure",
         .value = &o.by},
        {.name = "baseline NAME", .help = "NAME[:ARGUMENT] in place of the scene's baseline", .value = &o.baseline},
        {.name = "jobs N", .help = "at most so many jobs a stream", .value = &jobs},
        {.name = "seeds N", .help = "so many seeds a scene; with --quick no more than it has then", .value = &seeds},
        {.name = "from N", .help = "the first seed of every scene, to tune on others than the tables'", .value = &from},
        {.name = "load N", .help = "the load of streams in percent, in place of the scene's", .value = &percent},
        {.name = "environment NAME",
         .help = "in place of decima in its scenes: decima:moving=500ms, decima:faithful ...",
         .value = &o.environment},
        {.name = "oracle N",
         .help = "N simulations a seed: what a search that knows all would gain over the best rule of a scene",
         .value = &oracle},
        {.name = "choices", .help = "count between how many stages that fit graphene chooses", .is_set = &choices},
        {.name = "data DIR", .help = "where tpch and alibaba lie (default " CLO_DATA ")", .value = &o.data},
        {.name = "svg FILE", .help = "the distributions of completion times as a picture", .value = &o.svg},
        {0}};
    const bench_about about = {"online", "how long do jobs of a stream take under each policy?", flags, 1, 1};
    int status = bench_options_read(&o.options, &about, argc, argv);
    if (status >= 0)
        return status;
    const char *wrong = cluster && o.only != NULL         ? "--cluster is --only cluster; leave one of them out"
                        : oracle != NULL && o.svg != NULL ? "--oracle has no picture; leave --svg out"
                                                          : NULL;
    if (wrong != NULL) {
        fprintf(stderr, "bench: %s\n", wrong);
        return 2;
    }
    if (cluster)
        o.only = "cluster-";
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    if (o.environment != NULL && clo_environment_open(o.environment, 0, &environment) != CLO_OK) {
        fprintf(stderr, "bench: %s\n", clo_last_error());
        return 2;
    }
    clo_environment_close(&environment);
    measure by;
    if (o.by != NULL && !online_measure_find(o.by, &by))
        return 2;
    if (choices)
        owed_count_choices();
    if (!read_count(jobs, "jobs", &o.jobs_max) || !read_count(seeds, "seeds", &o.seeds) ||
        !read_count(oracle, "oracle", &o.oracle_tries) || !read_count(from, "from", &o.from) ||
        !read_count(percent, "load", &o.load_percent))
        return 2;
    return run(&o) ? 0 : 1;
}
