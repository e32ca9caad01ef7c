/* quantize_cases.c - a network and its model on the same jobs. */
#include "train/models/quantize.h"

#include <math.h>
#include <stdlib.h>

/* The inputs of a case as real numbers; NULL: no memory. */
static double *to_reals(const network *net, const clo_model_case *from)
{
    size_t numbers = 0, at = 0;

    for (uint32_t v = 0; v < net->values_count; v++)
        numbers +=
            net->values[v].is_input ? (size_t)network_rows(from, net->values[v].domain) * net->values[v].width : 0;
    double *reals = malloc((numbers + 1) * sizeof *reals);
    for (uint32_t v = 0; v < net->values_count && reals != NULL; v++) {
        const network_value *value = &net->values[v];
        size_t rows = value->is_input ? network_rows(from, value->domain) : 0;
        for (size_t i = 0; i < rows * value->width; i++, at++)
            reals[at] = ldexp(from->inputs[at], -value->exponent);
    }
    return reals;
}

static clo_status run_one(network *net, const clo_model_case *one, double **scores)
{
    double *reals = to_reals(net, one), *limits = malloc((one->limits + 1) * sizeof *limits);
    bool is_good = false;

    *scores = malloc((one->stages + 1) * sizeof **scores);
    if (reals != NULL && limits != NULL && *scores != NULL)
        is_good = network_run(net, &(network_case){one, reals}, *scores, limits);
    free(reals);
    free(limits);
    if (is_good)
        return CLO_OK;
    free(*scores);
    *scores = NULL;
    return CLO_ERR_MEMORY;
}

clo_status quantize_on(network *net, const quantize_config *config, const quantize_cases *cases, void **out,
                       size_t *bytes, const char **why)
{
    quantize_config with = *config;
    clo_status status = CLO_OK;

    measure seen;

    *why = NULL;
    if (!measure_open(&seen, net))
        return CLO_ERR_MEMORY;
    for (uint32_t i = 0; i < cases->count && status == CLO_OK; i++) {
        double *reals = to_reals(net, &cases->list[i]);
        if (reals == NULL || !measure_add(&seen, net, &(network_case){&cases->list[i], reals}))
            status = CLO_ERR_MEMORY;
        free(reals);
    }
    with.cases = cases->list;
    with.cases_count = cases->golden < cases->count ? cases->golden : cases->count;
    if (status == CLO_OK)
        status = quantize(net, &seen, &with, out, bytes, why);
    measure_close(&seen);
    return status;
}

/* The stages of a job stand together or not: all are looked at. */
static void compare_job(const clo_model_case *one, uint32_t job, const double *reals, const int32_t *integers,
                        quantize_agreement *found)
{
    uint32_t best = UINT32_MAX, chosen = UINT32_MAX, stages = 0;
    bool is_tie = false;

    for (uint32_t s = 0; s < one->stages; s++) {
        if (one->job_of_stage[s] != job)
            continue;
        stages++;
        is_tie = best != UINT32_MAX && (reals[s] == reals[best] || (is_tie && reals[s] < reals[best]));
        best = best == UINT32_MAX || reals[s] > reals[best] ? s : best;
        chosen = chosen == UINT32_MAX || integers[s] > integers[chosen] ? s : chosen;
    }
    if (stages < 4 || is_tie)
        return;
    found->choices++;
    found->same += best == chosen;
}

clo_status quantize_compare(network *net, const clo_model *model, const quantize_cases *cases,
                            quantize_agreement *found)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < cases->count && status == CLO_OK; i++) {
        const clo_model_case *one = &cases->list[i];
        double *reals;
        int32_t *integers = malloc((one->stages + 1) * sizeof *integers);
        status = run_one(net, one, &reals);
        if (status == CLO_OK)
            status = integers != NULL ? clo_model_scores(model, one, integers, NULL) : CLO_ERR_MEMORY;
        for (uint32_t job = 0; job < one->jobs && status == CLO_OK; job++)
            compare_job(one, job, reals, integers, found);
        free(reals);
        free(integers);
    }
    return status;
}
