/* fuzz_workload.c - workloads: clotho.workload/1, the table of the Alibaba trace v2017, and files with graphs. What is
 * read may be drawn from, and reads back from what is written. */
#include "base/memory.h"
#include "fuzz.h"
#include "graph/graph.h"
#include "io/text/parse.h"
#include "io/text/reader.h"
#include "same.h"
#include "workload/workload.h"

static bool same_job(const clo_workload_job *a, const clo_workload_job *b)
{
    return strcmp(a->name, b->name) == 0 && a->arrival_ns == b->arrival_ns && a->deadline_ns == b->deadline_ns &&
           a->period_ns == b->period_ns && a->releases == b->releases && a->weight == b->weight && a->band == b->band &&
           a->group == b->group && a->limit == b->limit && same_graph(a->graph, b->graph);
}

/* Nothing where a file cannot hold it (numbers above 2^53). */
static void round_trip(const clo_workload *w)
{
    clo_workload *again;
    char *text;
    clo_status status = clo_workload_print(w, &text);

    if (status != CLO_OK) {
        PROMISE(status == CLO_ERR_UNSUPPORTED);
        return;
    }
    PROMISE(clo_workload_parse("again", text, strlen(text), NULL, &again) == CLO_OK);
    PROMISE(clo_workload_jobs(w) == clo_workload_jobs(again));
    for (uint32_t j = 0; j < clo_workload_jobs(w); j++)
        PROMISE(same_job(clo_workload_get(w, j), clo_workload_get(again, j)));
    PROMISE(same_platform(clo_workload_platform(w), clo_workload_platform(again)));
    clo_free(text);
    clo_workload_destroy(again);
}

static void draw(const clo_workload *w)
{
    clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;
    clo_workload *drawn = NULL;

    config.jobs = 50;
    for (int kind = CLO_ARRIVALS_BATCH; kind <= CLO_ARRIVALS_TRACE; kind++) {
        config.kind = (clo_arrivals)kind;
        config.mean_ns = kind == CLO_ARRIVALS_POISSON ? 1000 : 0;
        clo_status status = clo_workload_arrivals(w, &config, &drawn);
        PROMISE(status == CLO_OK || status == CLO_ERR_LIMIT);
        PROMISE(status != CLO_OK || (clo_workload_jobs(drawn) == 50 && drawn->is_sorted));
        clo_workload_destroy(drawn);
        drawn = NULL;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_workload *w = NULL;

    if (clo_workload_parse("f", (const char *)data, bytes, NULL, &w) != CLO_OK) {
        PROMISE(w == NULL && clo_last_error()[0] == 'f');
        return 0;
    }
    PROMISE(clo_workload_jobs(w) > 0 && w->is_sorted);
    for (uint32_t j = 0; j < clo_workload_jobs(w); j++)
        PROMISE(clo_workload_get(w, j)->graph->sealed && clo_workload_get(w, j)->weight > 0);
    round_trip(w);
    draw(w);
    clo_workload_destroy(w);
    return 0;
}
