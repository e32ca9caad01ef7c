/* misfits.c - see misfits.h. */
#include "clotho/stream/misfits.h"

#include "clotho/common/input.h"

#include <clotho/cost.h>
#include <clotho/status.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct misfits_row {
    const clo_graph *graph;
    bool is_good;
    char why[256];
};

static int by_graph(const void *left, const void *right)
{
    const misfits_row *a = left, *b = right;

    return (uintptr_t)a->graph < (uintptr_t)b->graph ? -1 : (uintptr_t)a->graph > (uintptr_t)b->graph;
}

clo_status misfits_find(misfits *m, const clo_workload *workload, const clo_platform *platform)
{
    uint32_t jobs = clo_workload_jobs(workload);

    *m = (misfits){.rows = calloc(jobs > 0 ? jobs : 1, sizeof *m->rows)};
    if (m->rows == NULL)
        return CLO_ERR_MEMORY;
    for (uint32_t i = 0; i < jobs; i++)
        m->rows[i].graph = clo_workload_get(workload, i)->graph;
    qsort(m->rows, jobs, sizeof *m->rows, by_graph);
    for (uint32_t i = 0; i < jobs; i++)
        if (m->count == 0 || m->rows[i].graph != m->rows[m->count - 1].graph)
            m->rows[m->count++].graph = m->rows[i].graph;
    for (size_t i = 0; i < m->count; i++) {
        misfits_row *row = &m->rows[i];
        clo_cost *cost = NULL;
        clo_status status = clo_cost_create(row->graph, platform, &cost);
        row->is_good = status == CLO_OK;
        clo_cost_destroy(cost);
        if (status == CLO_ERR_PLATFORM)
            snprintf(row->why, sizeof row->why, "%s", clo_last_error());
        else if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

void misfits_close(misfits *m)
{
    free(m->rows);
    *m = (misfits){0};
}

const char *misfits_why(const misfits *m, const clo_workload_job *job)
{
    const misfits_row key = {.graph = job->graph};
    const misfits_row *row = bsearch(&key, m->rows, m->count, sizeof key, by_graph);

    return row != NULL && !row->is_good ? row->why : NULL;
}

void misfits_name(const char *path, const clo_workload_job *job, const char *why, const char *hint)
{
    char place[512];

    snprintf(place, sizeof place, job->line > 0 ? "%.450s:%" PRIu64 : "%.450s", path, job->line);
    complain(place, "job '%.100s' is refused: %s%s%s", show_name(job->name), why, hint != NULL ? "; " : "",
             hint != NULL ? hint : "");
}
