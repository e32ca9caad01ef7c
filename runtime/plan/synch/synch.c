/* synch.c - the public calls of plan/synch: the table of planners, pieces, figures. */
#include "plan/synch/synch.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/synch/greedy.h"
#include "plan/synch/order.h"
#include "plan/synch/preempt.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_DEFAULT = 60, GROWTH_DEFAULT = 100, GRID_MAX = 1000 };

/* Each plans without preemption, or with it; the other one is NULL. */
typedef struct method {
    const char *name;
    clo_status (*pack)(const clo_synch_problem *, const clo_synch_config *, const clo_synch_settings *,
                       clo_synch_timeline *, clo_synch_found *);
    clo_status (*preempt)(const clo_synch_problem *, const clo_synch_settings *, clo_synch_runs *, clo_synch_found *);
    bool has_lp, needs_lp, replans;
} method;

static clo_status pack_2(const clo_synch_problem *p, const clo_synch_config *config, const clo_synch_settings *settings,
                         clo_synch_timeline *timeline, clo_synch_found *found)
{
    clo_synch_scope scope = {p, p->count, 0};

    if (config->replan_ns > 0)
        return clo_synch_pack_online(p, settings, config->replan_ns, config->replan_growth_percent, timeline, found);
    return clo_synch_pack(&scope, settings, timeline, found);
}

static clo_status pack_tetris(const clo_synch_problem *p, const clo_synch_config *config,
                              const clo_synch_settings *settings, clo_synch_timeline *timeline, clo_synch_found *found)
{
    (void)config, (void)settings;
    found->rounds = 1;
    return clo_synch_greedy(p, CLO_SYNCH_TETRIS, timeline);
}

static clo_status pack_jsq(const clo_synch_problem *p, const clo_synch_config *config,
                           const clo_synch_settings *settings, clo_synch_timeline *timeline, clo_synch_found *found)
{
    (void)config, (void)settings;
    found->rounds = 1;
    return clo_synch_greedy(p, CLO_SYNCH_JSQ, timeline);
}

static clo_status preempt_psrs(const clo_synch_problem *p, const clo_synch_settings *settings, clo_synch_runs *runs,
                               clo_synch_found *found)
{
    (void)settings;
    found->rounds = 1;
    return clo_synch_psrs(p, runs);
}

static const method planners[] = {
    {"synchpack-1", NULL, clo_synch_preempt_1, true, true, false},
    {"synchpack-2", pack_2, NULL, true, false, true},
    {"synchpack-3", NULL, clo_synch_preempt_3, true, false, false},
    {"psrs", NULL, preempt_psrs, false, false, false},
    {"tetris-weighted", pack_tetris, NULL, false, false, false},
    {"jsq-maxweight", pack_jsq, NULL, false, false, false},
};

enum { PLANNERS = sizeof planners / sizeof planners[0] };

struct clo_synch {
    const clo_workload *workload;
    const clo_platform *platform;
    clo_synch_piece *pieces;
    size_t count;
    clo_synch_figures figures;
};

static clo_status choose_planner(const clo_synch_config *config, const method **out)
{
    const char *name = config->planner != NULL ? config->planner : "synchpack-2";

    for (uint32_t i = 0; i < PLANNERS; i++)
        if (strcmp(planners[i].name, name) == 0) {
            *out = &planners[i];
            break;
        }
    if (*out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "no planner \"%s\" for workloads; take synchpack-1, synchpack-2, "
                        "synchpack-3, psrs, tetris-weighted or jsq-maxweight",
                        name);
    if (config->replan_ns > 0 && !(*out)->replans)
        return clo_fail(CLO_ERR_ARGUMENT, "%s does not plan again: replan_ns is for synchpack-2", name);
    return CLO_OK;
}

static clo_status read_config(const clo_synch_config *theirs, clo_synch_config *config)
{
    *config = (clo_synch_config)CLO_SYNCH_CONFIG_INIT;
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_synch_config");

    if (status != CLO_OK)
        return status;
    if (config->lp > CLO_SYNCH_LP_NEVER)
        return clo_fail(CLO_ERR_ARGUMENT, "lp %u is not one of clo_synch_lp", config->lp);
    if (config->grid_percent > GRID_MAX || config->replan_growth_percent > GRID_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "grid_percent and replan_growth_percent are at most %d", GRID_MAX);
    if (config->replan_ns < 0 || config->replan_ns > CLO_WORKLOAD_TIME_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_synch_config.replan_ns is %lld; give 0 to CLO_WORKLOAD_TIME_MAX",
                        (long long)config->replan_ns);
    if (config->replan_growth_percent == 0)
        config->replan_growth_percent = GROWTH_DEFAULT;
    if (config->lp_seconds == 0)
        config->lp_seconds = SECONDS_DEFAULT;
    return CLO_OK;
}

/* Whether an LP is solved; a failure where one is needed and cannot be. */
static clo_status decide_lp(const method *how, const clo_synch_config *config, bool *has_lp)
{
    *has_lp = false;
    if (how->needs_lp && config->lp == CLO_SYNCH_LP_NEVER)
        return clo_fail(CLO_ERR_ARGUMENT, "%s has no form without LP; take synchpack-2", how->name);
    if (!how->has_lp || config->lp == CLO_SYNCH_LP_NEVER)
        return CLO_OK;
    *has_lp = clo_lp_is_there();
    if (!*has_lp && (how->needs_lp || config->lp == CLO_SYNCH_LP_ALWAYS))
        return CLO_ERR_UNSUPPORTED; /* clo_lp_is_there said why */
    return CLO_OK;
}

/* Task `index` of a kind, as task and instance of the job's graph. */
static void name_task(const clo_synch_problem *p, uint32_t kind, uint32_t index, clo_synch_piece *piece)
{
    const clo_graph *graph = clo_workload_get(p->workload, p->job_of[kind])->graph;

    piece->job = p->job_of[kind];
    for (uint32_t i = p->member_first[kind]; i < p->member_first[kind + 1]; i++) {
        uint32_t instances = clo_graph_ranges(graph, p->member_task[i]);
        piece->task = p->member_task[i];
        piece->instance = index;
        if (index < instances)
            return;
        index -= instances;
    }
}

static int by_start(const void *left, const void *right)
{
    const clo_synch_batch *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static int by_piece_start(const void *left, const void *right)
{
    const clo_synch_piece *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->executor != b->executor)
        return a->executor < b->executor ? -1 : 1;
    return (a->finish_ns > b->finish_ns) - (a->finish_ns < b->finish_ns); /* what takes no time goes first */
}

/* The batches' tasks on executors: one of the group that is free, and there is one, for no more start than the group
 * has room for. free_at [executors] and next [kinds] are zero. */
static void spread(clo_synch *synch, const clo_synch_problem *p, clo_synch_timeline *timeline, int64_t *free_at,
                   uint32_t *next)
{
    qsort(timeline->batches, timeline->count, sizeof *timeline->batches, by_start);
    for (size_t i = 0; i < timeline->count; i++) {
        const clo_synch_batch *b = &timeline->batches[i];
        int64_t time = clo_synch_time(p, b->kind, b->group);
        uint32_t e = p->group_first[b->group];
        for (uint32_t n = 0; n < b->count; n++) {
            while (free_at[p->group_executor[e]] > b->start_ns) /* the executors of the group */
                e++;
            assert(e < p->group_first[b->group + 1]);
            clo_synch_piece piece = {.machine = p->machine_of[b->group],
                                     .executor = p->group_executor[e],
                                     .start_ns = b->start_ns,
                                     .finish_ns = b->start_ns + time};
            free_at[piece.executor] = b->start_ns + (time > 0 ? time : 1);
            name_task(p, b->kind, next[b->kind]++, &piece);
            synch->pieces[synch->count++] = piece;
        }
    }
}

static clo_status take_timeline(clo_synch *synch, const clo_synch_problem *p, clo_synch_timeline *timeline)
{
    int64_t *free_at = clo_allocate(clo_platform_executors(p->platform), sizeof *free_at);
    uint32_t *next = clo_allocate(p->kinds, sizeof *next);

    synch->pieces = clo_allocate(p->tasks, sizeof *synch->pieces);
    clo_status status = free_at == NULL || next == NULL || synch->pieces == NULL ? clo_fail_memory("a plan") : CLO_OK;
    if (status == CLO_OK)
        spread(synch, p, timeline, free_at, next);
    clo_free(free_at);
    clo_free(next);
    return status;
}

static clo_status take_runs(clo_synch *synch, const clo_synch_problem *p, const clo_synch_runs *runs)
{
    synch->pieces = clo_allocate(runs->count, sizeof *synch->pieces);
    if (synch->pieces == NULL)
        return clo_fail_memory("a plan");
    for (size_t i = 0; i < runs->count; i++) {
        const clo_synch_run *r = &runs->run[i];
        clo_synch_piece piece = {.machine = clo_platform_executor(p->platform, r->executor)->machine,
                                 .executor = r->executor,
                                 .start_ns = r->start_ns,
                                 .finish_ns = r->finish_ns};
        name_task(p, r->kind, r->index, &piece);
        synch->pieces[synch->count++] = piece;
    }
    return CLO_OK;
}

static clo_status plan(clo_synch *synch, const clo_synch_problem *p, const method *how, const clo_synch_config *config,
                       clo_synch_found *found)
{
    clo_synch_settings settings = {false, config->lp == CLO_SYNCH_LP_AUTO, config->grid_percent, config->lp_seconds};
    clo_synch_timeline timeline;
    clo_synch_runs runs = {0};
    clo_status status = decide_lp(how, config, &settings.has_lp);

    if (status != CLO_OK)
        return status;
    if (how->preempt != NULL) {
        status = how->preempt(p, &settings, &runs, found);
        if (status == CLO_OK)
            status = take_runs(synch, p, &runs);
        clo_free(runs.run);
        return status;
    }
    if (!clo_synch_timeline_create(&timeline, p))
        return clo_fail_memory("a plan");
    status = how->pack(p, config, &settings, &timeline, found);
    if (status == CLO_OK)
        status = take_timeline(synch, p, &timeline);
    clo_synch_timeline_destroy(&timeline);
    return status;
}

static clo_status count_figures(clo_synch *synch, const clo_synch_problem *p, const method *how,
                                const clo_synch_found *found)
{
    clo_synch_figures *f = &synch->figures;
    int64_t *done = clo_allocate(p->jobs, sizeof *done);

    if (done == NULL)
        return clo_fail_memory("a plan");
    qsort(synch->pieces, synch->count, sizeof *synch->pieces, by_piece_start);
    for (size_t i = 0; i < synch->count; i++) {
        const clo_synch_piece *piece = &synch->pieces[i];
        if (piece->finish_ns > done[piece->job])
            done[piece->job] = piece->finish_ns;
        if (piece->finish_ns > f->makespan_ns)
            f->makespan_ns = piece->finish_ns;
    }
    for (uint32_t j = 0; j < p->jobs; j++)
        f->weighted_completion += p->weight[j] * done[j];
    clo_free(done);
    f->lp_bound = found->bound;
    f->lp_columns = found->size.columns;
    f->lp_rows = found->size.rows;
    f->lp_elements = found->size.elements;
    f->rounds = found->rounds;
    f->is_preemptive = how->preempt != NULL;
    return clo_synch_free_bound(p, &f->free_bound) ? CLO_OK : clo_fail_memory("a bound");
}

static clo_status make(clo_synch *synch, const method *how, const clo_synch_config *config)
{
    clo_synch_problem problem = {0};
    clo_synch_found found = {0};
    clo_status status = clo_synch_problem_create(synch->workload, synch->platform, &problem);

    if (status != CLO_OK)
        return status;
    status = plan(synch, &problem, how, config, &found);
    if (status == CLO_OK)
        status = count_figures(synch, &problem, how, &found);
    clo_synch_problem_destroy(&problem);
    return status;
}

clo_status clo_synch_create(const clo_workload *workload, const clo_platform *platform, const clo_synch_config *config,
                            clo_synch **out)
{
    clo_synch_config mine;
    const method *how = NULL;
    clo_status status;

    if (workload == NULL || platform == NULL || out == NULL)
        return clo_fail_null("clo_synch_create", "workload, platform or out");
    if (clo_workload_jobs(workload) == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "workload \"%.60s\" has no jobs; add one", clo_workload_name(workload));
    if ((status = read_config(config, &mine)) != CLO_OK || (status = choose_planner(&mine, &how)) != CLO_OK)
        return status;
    clo_synch *synch = clo_allocate(1, sizeof *synch);
    if (synch == NULL)
        return clo_fail_memory("a plan");
    synch->workload = workload;
    synch->platform = platform;
    status = make(synch, how, &mine);
    if (status == CLO_OK)
        *out = synch;
    else
        clo_synch_destroy(synch);
    return status;
}

void clo_synch_destroy(clo_synch *synch)
{
    if (synch == NULL)
        return;
    clo_free(synch->pieces);
    clo_free(synch);
}

const clo_workload *clo_synch_workload(const clo_synch *synch)
{
    return synch->workload;
}

uint32_t clo_synch_executors(const clo_synch *synch)
{
    return clo_platform_executors(synch->platform);
}

const clo_synch_piece *clo_synch_pieces(const clo_synch *synch, size_t *count)
{
    if (count != NULL)
        *count = synch != NULL ? synch->count : 0;
    return synch != NULL ? synch->pieces : NULL;
}

clo_status clo_synch_measure(const clo_synch *synch, clo_synch_figures *out)
{
    clo_status status;

    if (synch == NULL || out == NULL)
        return clo_fail_null("clo_synch_measure", "synch or out");
    status = clo_result_check(out, CLO_BYTES_UP_TO(clo_synch_figures, is_preemptive), "clo_synch_figures");
    if (status == CLO_OK)
        clo_result_write(out, &synch->figures, sizeof synch->figures);
    return status;
}

bool clo_synch_has_lp(void)
{
    return clo_lp_is_there();
}
