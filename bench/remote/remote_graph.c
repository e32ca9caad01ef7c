/* remote_graph.c - see remote_graph.h. */
#include "remote/remote_graph.h"

#include "common/graphs.h"

#include <stdlib.h>
#include <string.h>

static void draw_layers(remote_graph *g, uint32_t width)
{
    uint64_t random = 7;

    for (uint32_t t = 0; t < g->tasks; t++) {
        uint32_t layer = t / width, count = layer == 0 ? 0 : 1 + bench_random_below(&random, REMOTE_PREDS_MAX);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t from = (layer - 1) * width + bench_random_below(&random, width), i = 0;
            while (i < g->preds_count[t] && g->preds[t][i] != from)
                i++;
            if (i == g->preds_count[t])
                g->preds[t][g->preds_count[t]++] = from;
        }
    }
}

bool remote_graph_open(remote_graph *g, uint32_t tasks, uint32_t width, int64_t work_ns, uint64_t bytes)
{
    *g = (remote_graph){.tasks = tasks, .work_ns = work_ns, .bytes = bytes, .iterations = bench_iterations(work_ns)};
    g->preds = calloc(tasks, sizeof *g->preds);
    g->preds_count = calloc(tasks, sizeof *g->preds_count);
    g->owner = calloc(tasks, sizeof *g->owner);
    g->values = calloc(tasks, sizeof *g->values);
    if (g->preds == NULL || g->preds_count == NULL || g->owner == NULL || g->values == NULL)
        return false;
    draw_layers(g, width);
    for (uint32_t t = 0; t < tasks; t++) {
        g->values[t] = t + 1;
        for (uint32_t k = 0; k < g->preds_count[t]; k++)
            g->values[t] += 3 * g->values[g->preds[t][k]];
    }
    return true;
}

void remote_graph_close(remote_graph *g)
{
    free(g->preds);
    free(g->preds_count);
    free(g->owner);
    free(g->values);
}

void remote_body(remote_graph *g, uint32_t task, const void *const *inputs, void *output)
{
    int64_t now_ns = bench_now_ns();
    uint64_t value = task + (uint64_t)1, input;

    if (g->first_ns == 0 || now_ns < g->first_ns)
        g->first_ns = now_ns;
    for (uint32_t k = 0; k < g->preds_count[task]; k++) {
        memcpy(&input, inputs[k], sizeof input);
        value += 3 * input;
    }
    memset(output, (int)(value & 127), g->bytes);
    memcpy(output, &value, sizeof value);
    g->sum += bench_compute(g->iterations);
    g->wrong += value != g->values[task];
    g->executed++;
    g->last_ns = bench_now_ns();
}
