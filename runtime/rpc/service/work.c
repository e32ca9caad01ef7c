#include "work.h"
#include "answer.h"

#include <inttypes.h>

static work **bucket_of(const connection *from, uint64_t call)
{
    return &from->owner->buckets[answer_mix(call ^ (uint64_t)(uintptr_t)from) % WORK_BUCKETS];
}

void work_link(work *w)
{
    work **bucket = bucket_of(w->from, w->head.call);

    w->next_in_bucket = *bucket;
    *bucket = w;
    w->before = NULL;
    w->next = w->from->works;
    if (w->next != NULL)
        w->next->before = w;
    w->from->works = w;
}

void work_unlink(work *w)
{
    work **link = bucket_of(w->from, w->head.call);

    while (*link != w) /* it is there */
        link = &(*link)->next_in_bucket;
    *link = w->next_in_bucket;
    *(w->before != NULL ? &w->before->next : &w->from->works) = w->next;
    if (w->next != NULL)
        w->next->before = w->before;
}

work *work_find(const connection *from, uint64_t call)
{
    work *w = *bucket_of(from, call);

    while (w != NULL && (w->from != from || w->head.call != call))
        w = w->next_in_bucket;
    return w;
}

void work_note(const work *w, const char *event, int64_t value)
{
    FILE *log = w->owner->config.log;

    if (log != NULL)
        fprintf(log,
                "%s time=%" PRId64 " run=%" PRIu64 " task=%u instance=%u attempt=%u left=%" PRId64 " value=%" PRId64
                "\n",
                event, work_now_us(), w->head.run, w->head.task, w->head.instance, w->head.attempt,
                w->expires_us == FRAME_NO_DEADLINE ? -1 : work_left_us(w), value);
}
