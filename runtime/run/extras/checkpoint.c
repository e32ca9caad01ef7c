/* checkpoint.c - see checkpoint.h. */
#include "run/extras/checkpoint.h"

#include "base/status.h"
#include "run/state/runtime.h"

#include <string.h>

clo_status clo_checkpoint_create(clo_job *job, const clo_job_config *config, clo_arena *arena)
{
    uint32_t instances = clo_cost_graph(job->cost)->instances;

    if (config->done_outputs != NULL && config->done == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.done_outputs without done; set both");
    if (config->done == NULL)
        return CLO_OK;
    if (clo_graph_handles(clo_cost_graph(job->cost)) > 0)
        return clo_fail(CLO_ERR_UNSUPPORTED, "clo_job_config.done in a graph with handles, whose content is not there");
    if (clo_graph_branches(clo_cost_graph(job->cost)) > 0)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "clo_job_config.done in a graph with branches, whose arms it does not say");
    size_t words = ((size_t)instances + 63) / 64;
    job->done = clo_arena_take(arena, words, sizeof *job->done);
    if (job->done == NULL)
        return clo_fail_memory("a job");
    memcpy(job->done, config->done, words * sizeof *job->done);
    return CLO_OK;
}

/* Where the instance's output lies; NULL: it has none, or the instance is not done. */
static void *output_of(const clo_job *job, uint32_t instance)
{
    return clo_checkpoint_has(job, instance) ? clo_data_output(&job->engine->data, instance) : NULL;
}

void clo_checkpoint_fill(clo_job *job, const void *const *outputs)
{
    for (uint32_t i = 0; outputs != NULL && i < job->program->instances; i++) {
        void *output = output_of(job, i);
        if (output != NULL && outputs[i] != NULL)
            memcpy(output, outputs[i], (size_t)clo_data_output_bytes(&job->engine->data, i));
    }
}

void clo_checkpoint_carry(clo_job *job, const clo_engine *from)
{
    for (uint32_t i = 0; job->done != NULL && i < job->program->instances; i++) {
        void *output = output_of(job, i);
        if (output != NULL)
            memcpy(output, clo_data_output(&from->data, i), (size_t)clo_data_output_bytes(&job->engine->data, i));
    }
}

void clo_checkpoint_pass(clo_job *job, uint32_t execution, uint32_t executor)
{
    const clo_program *program = job->program;

    if (!program->is_replay)
        job->engine->ran_on[execution] = executor;
    if (execution < program->instances)
        return;
    uint32_t instance = clo_program_instance(program, execution);
    void *output = clo_data_output(&job->engine->data, execution);
    if (output != NULL)
        memcpy(output, clo_data_output(&job->engine->data, instance),
               (size_t)clo_data_output_bytes(&job->engine->data, instance));
}
