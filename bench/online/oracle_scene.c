/* oracle_scene.c - the search of oracle.c on the seeds of a scene, on all CPUs. */
#include "online/oracle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_DEFAULT = 6, THREADS_MAX = 64 };

typedef struct contest {
    const online *o;
    const scene *scene;
    contender list[CONTENDERS_MAX];
    uint32_t count, seeds, tries, best;
    uint64_t first_seed;
    /* [seeds][count], seconds */
    double *reached;
    /* [seeds] */
    oracle_found *found;
    bool searches;
    _Atomic uint32_t next;
    atomic_bool has_failed;
} contest;

static bool look_at_seed(contest *c, uint32_t index)
{
    const char *environment = c->scene->environment;
    occasion at = {.scene = c->scene, .environment = environment};
    uint64_t seed = c->first_seed + index;
    bool is_good = c->scene->make(c->o, seed, &at);

    for (uint32_t i = 0; i < c->count && is_good && !c->searches; i++) {
        c->reached[(size_t)index * c->count + i] = oracle_play(&at, &c->list[i], seed);
        is_good = c->reached[(size_t)index * c->count + i] >= 0;
    }
    if (is_good && c->searches)
        is_good = oracle_climb(&at, &c->list[c->best], seed, c->tries, &c->found[index]);
    clo_workload_destroy(at.workload);
    clo_workload_destroy(at.truth);
    clo_workload_destroy(at.base);
    clo_platform_destroy(at.own);
    return is_good;
}

static void *look_at_seeds(void *argument)
{
    contest *c = argument;

    for (;;) { /* ends: next grows */
        uint32_t index = atomic_fetch_add(&c->next, 1);
        if (index >= c->seeds || atomic_load(&c->has_failed))
            return NULL;
        if (!look_at_seed(c, index))
            atomic_store(&c->has_failed, true);
    }
}

static bool look_at_all(contest *c)
{
    uint32_t threads = bench_cpus(), started = 0;
    pthread_t list[THREADS_MAX];

    atomic_store(&c->next, 0);
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    while (started + 1 < threads && pthread_create(&list[started], NULL, look_at_seeds, c) == 0)
        started++;
    look_at_seeds(c);
    while (started > 0)
        pthread_join(list[--started], NULL);
    return !atomic_load(&c->has_failed);
}

/* Networks are what is to be judged, and a search is no rule. */
static bool is_rule(const char *label)
{
    static const char *const others[] = {"decima", "residual",   "easy-residual", "lachesis",
                                         "replan", "best-order", "deft:decima"};
    const char *wfair = "decima-";

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(label, others[i], strlen(others[i])) == 0 && strncmp(label, wfair, strlen(wfair)) != 0)
            return false;
    return true;
}

static bool open_contenders(const online *o, contest *c)
{
    for (uint32_t i = 0; c->scene->contenders[i] != NULL && c->count < CONTENDERS_MAX; i++)
        if (is_rule(c->scene->contenders[i]) && contender_open(&c->list[c->count], c->scene->contenders[i], false))
            c->count++;
    for (uint32_t i = 0; i < o->policies.count && c->count < CONTENDERS_MAX; i++)
        if (!contender_open(&c->list[c->count++], o->policies.items[i], true))
            return false;
    return c->count > 0 || bench_fail("no policy of this scene is registered");
}

static uint32_t best_of(const contest *c)
{
    double least = 0;
    uint32_t best = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        double sum = 0;
        for (uint32_t s = 0; s < c->seeds; s++)
            sum += c->reached[(size_t)s * c->count + i];
        best = i == 0 || sum < least ? i : best;
        least = i == 0 || sum < least ? sum : least;
    }
    return best;
}

bool oracle_scene(const online *o, const scene *s, uint32_t tries)
{
    contest c = {.o = o, .scene = s, .tries = tries, .seeds = o->seeds > 0 ? o->seeds : SEEDS_DEFAULT};

    c.first_seed = o->from > 0 ? o->from : s->seed > 0 ? s->seed : ONLINE_SEED;
    bool is_good = open_contenders(o, &c);
    c.reached = calloc((size_t)c.seeds * (c.count + 1), sizeof *c.reached);
    c.found = calloc(c.seeds, sizeof *c.found);
    is_good = is_good && ((c.reached != NULL && c.found != NULL) || bench_fail("no memory for an oracle"));
    is_good = is_good && look_at_all(&c);
    if (is_good) {
        c.best = best_of(&c);
        c.searches = true;
        is_good = look_at_all(&c);
    }
    if (is_good)
        oracle_print(s, c.list[c.best].label, c.found, c.seeds, o->options.json);
    for (uint32_t i = 0; i < c.count; i++)
        contender_close(&c.list[i]);
    free(c.reached);
    free(c.found);
    return is_good;
}
