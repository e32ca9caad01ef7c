/* resume.c - a run that was killed goes on: what its journal has is done, what it had begun is called again. */
#include "base/memory.h"
#include "base/status.h"
#include "rpc/wire/parcel.h"
#include "rpc/workflow/state.h"

#include <string.h>

typedef struct reader {
    clo_rpc_workflow *w;
    clo_status status;
} reader;

static clo_status refuse(const clo_rpc_journal_record *record, const char *why)
{
    return clo_fail(CLO_ERR_IO, "the journal's record of task %u, instance %u %s", record->task, record->instance, why);
}

static clo_status take(clo_rpc_workflow *w, const clo_rpc_journal_record *record)
{
    clo_rpc_resume *before = &w->before;
    const clo_rpc_method *m = record->task < w->methods_count ? &w->methods[record->task] : NULL;

    if (m == NULL || record->instance >= m->instances)
        return refuse(record, "is not of this graph");
    uint32_t i = m->first + record->instance;
    if (record->state == CLO_RPC_JOURNAL_STARTED && record->attempt > before->attempts[i])
        before->attempts[i] = record->attempt;
    if (record->state != CLO_RPC_JOURNAL_FINISHED || (before->done[i / 64] >> i % 64 & 1) != 0)
        return CLO_OK;
    if (record->output_bytes < clo_rpc_parcel_size(0) || record->output_bytes > clo_rpc_parcel_size(m->output_bytes) ||
        clo_rpc_parcel_bytes(record->output) > record->output_bytes - clo_rpc_parcel_size(0))
        return refuse(record, "has an output of another size");
    void *copy = clo_allocate(1, clo_rpc_parcel_size(m->output_bytes)); /* zeros */
    if (copy == NULL)
        return clo_fail_memory("the journal");
    memcpy(copy, record->output, record->output_bytes);
    before->outputs[i] = copy;
    before->done[i / 64] |= UINT64_C(1) << i % 64;
    before->finished++;
    return CLO_OK;
}

static void show(void *argument, const clo_rpc_journal_record *record)
{
    reader *r = argument;

    if (r->status == CLO_OK)
        r->status = take(r->w, record);
}

/* Calls that began and did not end. */
static clo_status judge_started(clo_rpc_workflow *w)
{
    clo_rpc_resume *before = &w->before;

    for (size_t t = 0; t < w->methods_count; t++) {
        const clo_rpc_method *m = &w->methods[t];
        for (uint32_t k = 0; k < m->instances; k++) {
            uint32_t i = m->first + k;
            if (before->attempts[i] == 0 || (before->done[i / 64] >> i % 64 & 1) != 0)
                continue;
            if (m->effect == CLO_RPC_ONCE)
                return clo_fail(CLO_ERR_STATE,
                                "task %.100s, instance %u was under way and may have had its effect; it has no key, so "
                                "find out at service %s, replica %u, before you run it again",
                                m->name, k, w->services[m->service].name, m->home);
            before->again++;
        }
    }
    return CLO_OK;
}

clo_status clo_rpc_resume_read(clo_rpc_workflow *w)
{
    reader r = {.w = w, .status = CLO_OK};

    w->before.done = clo_allocate(w->instances / 64 + 1, sizeof *w->before.done);
    w->before.outputs = clo_allocate(w->instances, sizeof *w->before.outputs);
    w->before.attempts = clo_allocate(w->instances, sizeof *w->before.attempts);
    if (w->before.done == NULL || w->before.outputs == NULL || w->before.attempts == NULL)
        return clo_fail_memory("the journal");
    if (clo_rpc_journal_read(w->journal, show, &r) != 0)
        return clo_fail(CLO_ERR_IO, "%s", clo_rpc_journal_error(w->journal));
    return r.status == CLO_OK ? judge_started(w) : r.status;
}

void clo_rpc_resume_free(clo_rpc_workflow *w)
{
    for (uint32_t i = 0; w->before.outputs != NULL && i < w->instances; i++)
        clo_free((void *)(uintptr_t)w->before.outputs[i]);
    clo_free(w->before.outputs);
    clo_free(w->before.done);
    clo_free(w->before.attempts);
    w->before = (clo_rpc_resume){.finished = 0};
}
