/* peer_learning.c - Clotho by work stealing, without and with a profile that learns what tasks take. In a file of its own:
 * the peer alone links no profiles. */
#include "common/platform.h"
#include "peers/peer_clotho.h"
#include "peers/peer_tables.h"

#include <stdlib.h>

enum { CODELETS = 16, SOME = 32 };

static void *open_plain(bench_graph *source, uint32_t workers)
{
    return peers_clotho[0].open(source, workers);
}

static bool build(void *state)
{
    return peers_clotho[0].build(state);
}

static bool prepare(void *state)
{
    return peers_clotho[0].prepare(state);
}

static bool run(void *state)
{
    return peers_clotho[0].run(state);
}

static void close_all(void *state)
{
    clotho *c = state;

    clo_profile_destroy(c->profile);
    free(c->records);
    peers_clotho[0].close(c);
}

static void *open_learning(bench_graph *source, uint32_t workers, uint32_t every)
{
    clotho *c = peer_clotho_open(source, workers, NULL, every);

    if (c == NULL)
        return NULL;
    c->codelets = CODELETS;
    c->records = malloc(source->tasks * sizeof *c->records);
    if (c->records != NULL && (clo_profile_create(0, &c->profile) == CLO_OK || bench_fail("cannot make a profile")))
        return c;
    close_all(c);
    return NULL;
}

static void *open_learning_each(bench_graph *source, uint32_t workers)
{
    return open_learning(source, workers, 1);
}

static void *open_learning_some(bench_graph *source, uint32_t workers)
{
    return open_learning(source, workers, SOME);
}

/* Runs, then learns all that was recorded. All of it counts. */
static bool run_and_learn(void *state)
{
    clotho *c = state;
    size_t all = 0;

    if (!run(state))
        return false;
    for (uint32_t w = 0; w < clo_runtime_workers(c->runtime); w++) {
        size_t learned = 0, count = clo_runtime_record_read(c->runtime, w, c->records, c->source->tasks, NULL);
        if (clo_profile_learn_records(c->profile, c->cost, clo_job_id(c->job), c->records, count, &learned) != CLO_OK)
            return bench_fail("cannot learn");
        all += learned;
    }
    return all > 0 || bench_fail("nothing was learned");
}

const peer learners_clotho[] = {
    {"Clotho steal", 0, false, open_plain, build, prepare, run, close_all, NULL},
    {"learning each", 0, false, open_learning_each, build, prepare, run_and_learn, close_all, NULL},
    {"learning 1 of 32", 0, false, open_learning_some, build, prepare, run_and_learn, close_all, NULL},
    {0}};
