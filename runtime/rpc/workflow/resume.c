#include "resume.h"
#include "parcel.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const flow *f;
    resume *out;
    char *error;
    size_t error_bytes;
    int result;
} reader;

static int refuse(reader *r, const char *why, const journal_record *record)
{
    snprintf(r->error, r->error_bytes, "the journal's record of task %u, instance %u %s", record->task,
             record->instance, why);
    return -1;
}

static int take(reader *r, const journal_record *record)
{
    const method *m = record->task < r->f->methods_count ? &r->f->methods[record->task] : NULL;

    if (m == NULL || record->instance >= m->instances)
        return refuse(r, "is not of this graph", record);
    uint32_t i = m->first + record->instance;
    if (record->state == JOURNAL_STARTED)
        r->out->attempts[i] = record->attempt > r->out->attempts[i] ? record->attempt : r->out->attempts[i];
    if (record->state != JOURNAL_FINISHED || (r->out->done[i / 64] >> i % 64 & 1) != 0)
        return 0;
    if (record->output_bytes != parcel_size(m->output_bytes) || parcel_bytes(record->output) > m->output_bytes)
        return refuse(r, "has an output of another size", record);
    void *copy = malloc(record->output_bytes + 1);
    if (copy == NULL)
        return refuse(r, "finds no memory", record);
    if (record->output_bytes > 0)
        memcpy(copy, record->output, record->output_bytes);
    r->out->outputs[i] = copy;
    r->out->done[i / 64] |= UINT64_C(1) << i % 64;
    r->out->finished++;
    return 0;
}

static void show(void *argument, const journal_record *record)
{
    reader *r = argument;

    if (r->result == 0)
        r->result = take(r, record);
}

/* Calls that began and did not end. */
static int judge_started(reader *r)
{
    for (uint32_t t = 0; t < r->f->methods_count; t++) {
        const method *m = &r->f->methods[t];
        for (uint32_t k = 0; k < m->instances; k++) {
            uint32_t i = m->first + k;
            if (r->out->attempts[i] == 0 || (r->out->done[i / 64] >> i % 64 & 1) != 0)
                continue;
            if (m->effect == EFFECT_ONCE) {
                snprintf(
                    r->error, r->error_bytes,
                    "task %s, instance %u was under way and may have had its effect; it has no key, so find out at "
                    "service %u, replica %u, before you run it again",
                    m->name, k, m->service, m->home);
                return -1;
            }
            r->out->again++;
        }
    }
    return 0;
}

int resume_read(journal *j, const flow *f, resume *out, char *error, size_t error_bytes)
{
    reader r = {.f = f, .out = out, .error = error, .error_bytes = error_bytes};

    *out = (resume){.finished = 0};
    out->done = calloc(f->instances / 64 + 1, sizeof *out->done);
    out->outputs = calloc(f->instances, sizeof *out->outputs);
    out->attempts = calloc(f->instances, sizeof *out->attempts);
    if (out->done == NULL || out->outputs == NULL || out->attempts == NULL) {
        snprintf(error, error_bytes, "no memory for the journal");
        r.result = -1;
    } else if (journal_read(j, show, &r) != 0) {
        snprintf(error, error_bytes, "%s", journal_error(j));
        r.result = -1;
    }
    if (r.result == 0)
        r.result = judge_started(&r);
    if (r.result != 0)
        resume_free(out, f);
    return r.result;
}

void resume_free(resume *r, const flow *f)
{
    for (uint32_t i = 0; r->outputs != NULL && i < f->instances; i++)
        free((void *)(uintptr_t)r->outputs[i]);
    free(r->outputs);
    free(r->done);
    free(r->attempts);
    *r = (resume){.finished = 0};
}
