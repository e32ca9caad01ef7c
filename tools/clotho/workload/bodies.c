/* bodies.c - see bodies.h. */
#include "clotho/workload/bodies.h"

#include <stdlib.h>

bool bodies_keep(bodies *kept, const clo_log_record *record)
{
    if (kept->count == kept->room) {
        size_t room = kept->room > 0 ? 2 * kept->room : 4096;
        clo_log_record *more = realloc(kept->all, room * sizeof *more);
        if (more == NULL)
            return false;
        kept->all = more;
        kept->room = room;
    }
    kept->all[kept->count++] = *record;
    return true;
}

/* When a job came, and how it ended. */
static bool append_job(clo_log *log, const clo_stream_outcome *o, uint32_t place)
{
    clo_log_record record = {.what = CLO_LOG_ARRIVE, .now_ns = o->arrival_ns, .job = place, .value = place};

    if (!clo_log_append(log, &record))
        return false;
    if (o->status == CLO_OK && o->finish_ns == CLO_TIME_NEVER)
        return true;
    record.what = CLO_LOG_DONE;
    record.now_ns = o->finish_ns;
    record.value = o->status == CLO_OK         ? CLO_LOG_DONE_OK
                   : o->status == CLO_ERR_TASK ? CLO_LOG_DONE_FAILED
                                               : CLO_LOG_DONE_CANCELLED;
    return clo_log_append(log, &record);
}

static int by_end(const void *left, const void *right)
{
    const clo_log_record *a = left, *b = right;

    return (a->now_ns > b->now_ns) - (a->now_ns < b->now_ns);
}

int bodies_log(bodies *kept, stream_run *run, uint32_t submitted)
{
    clo_log_header header = CLO_LOG_HEADER_INIT;
    const clo_log_record begin = {.what = CLO_LOG_BEGIN, .job = CLO_LOG_NO_JOB};
    bool is_whole = true;

    if (!run->draws)
        return EXIT_GOOD;
    header.executors = clo_platform_executors(run->sim.platform);
    header.clock = run->options->clock;
    if (clo_log_create(&header, 0, &run->gantt) != CLO_OK)
        return complain(run->sim.path, "out of memory for the picture; leave --gantt and --report out");
    qsort(kept->all, kept->count, sizeof *kept->all, by_end);
    is_whole = clo_log_append(run->gantt, &begin);
    for (uint32_t i = 0; i < submitted && is_whole; i++)
        is_whole = append_job(run->gantt, &run->run.outcomes[i], i);
    for (size_t i = 0; i < kept->count && is_whole; i++)
        is_whole = clo_log_append(run->gantt, &kept->all[i]);
    return is_whole ? EXIT_GOOD
                    : complain(run->sim.path, "out of memory for the picture; leave --gantt and --report out");
}
