/* seen.c - see seen.h. */
#include "flight/seen.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

clo_status clo_seen_open(clo_seen *seen)
{
    size_t count = (size_t)seen->last + seen->late;

    seen->releases = clo_allocate(count, sizeof seen->releases[0]);
    seen->memory = seen->executions <= SIZE_MAX / sizeof seen->memory[0] / count
                       ? clo_allocate(count * seen->executions, sizeof seen->memory[0])
                       : NULL;
    if (seen->releases == NULL || seen->memory == NULL) {
        clo_seen_close(seen);
        return clo_fail_memory("the releases of a clo_flight");
    }
    for (size_t i = 0; i < count; i++)
        seen->releases[i].executions = seen->memory + i * seen->executions;
    for (size_t i = 0; i < count * seen->executions; i++) /* each page is there from now on */
        *(volatile uint32_t *)&seen->memory[i].task = 0;
    return CLO_OK;
}

void clo_seen_close(clo_seen *seen)
{
    clo_free(seen->releases);
    clo_free(seen->memory);
}

static void clear(clo_seen_release *release)
{
    release->number = 0;
    release->count = 0;
    release->is_late = false;
    release->end_ns = 0;
}

void clo_seen_begin(clo_seen *seen, int64_t submit_ns)
{
    for (uint32_t i = 0; i < seen->last + seen->late; i++)
        clear(&seen->releases[i]);
    seen->submit_ns = submit_ns;
    seen->late_count = 0;
    seen->releases_seen = seen->late_seen = seen->strays = 0;
}

/* When a release is to have ended, since the submit. */
static int64_t deadline_of(const clo_seen *seen, uint64_t release)
{
    if (seen->period_ns == 0 || release > INT64_MAX)
        return INT64_MAX;
    return clo_time_add(clo_time_mul((int64_t)release, seen->period_ns), seen->deadline_ns);
}

static int64_t lateness_of(const clo_seen *seen, const clo_seen_release *release)
{
    return clo_time_sub(release->end_ns, deadline_of(seen, release->number - 1));
}

/* A place among the late ones: a free one, or that of the one that was least late; NULL: this one was less late. */
static clo_seen_release *late_place(clo_seen *seen, const clo_seen_release *release)
{
    clo_seen_release *late = seen->releases + seen->last, *least = late;

    if (seen->late_count < seen->late)
        return &late[seen->late_count++];
    for (uint32_t i = 1; i < seen->late; i++)
        if (lateness_of(seen, &late[i]) < lateness_of(seen, least))
            least = &late[i];
    return lateness_of(seen, least) < lateness_of(seen, release) ? least : NULL;
}

/* The place is needed for a later release. */
static void retire(clo_seen *seen, clo_seen_release *release)
{
    clo_seen_release *place = release->is_late ? late_place(seen, release) : NULL;

    if (place != NULL) {
        clo_seen_execution *freed = place->executions;
        *place = *release;
        release->executions = freed;
    }
    clear(release);
}

/* Where executions of a release are kept; NULL: it was given up. */
static clo_seen_release *place_of(clo_seen *seen, uint64_t release)
{
    clo_seen_release *place = &seen->releases[release % seen->last];

    if (place->number == release + 1)
        return place;
    if (place->number < release + 1) {
        if (place->number > 0)
            retire(seen, place);
        place->number = release + 1;
        seen->releases_seen++;
        return place;
    }
    for (uint32_t i = 0; i < seen->late_count; i++)
        if (seen->releases[seen->last + i].number == release + 1)
            return &seen->releases[seen->last + i];
    return NULL;
}

void clo_seen_add(clo_seen *seen, const clo_release_record *next)
{
    const clo_record *record = &next->record;
    clo_seen_release *release = place_of(seen, next->release);

    if (release == NULL || release->count == seen->executions) {
        seen->strays++;
        return;
    }
    clo_seen_execution *mine = &release->executions[release->count++];
    *mine = (clo_seen_execution){.task = record->task,
                                 .instance = record->instance,
                                 .executor = record->executor,
                                 .is_replica = record->is_replica,
                                 .start_ns = clo_time_sub(record->start_ns, seen->submit_ns),
                                 .finish_ns = clo_time_sub(record->finish_ns, seen->submit_ns)};
    if (mine->start_ns < 0) /* times that were ticks are rounded */
        mine->start_ns = 0;
    if (mine->finish_ns > release->end_ns)
        release->end_ns = mine->finish_ns;
    if (!release->is_late && release->end_ns > deadline_of(seen, next->release)) {
        release->is_late = true;
        seen->late_seen++;
    }
}

void clo_seen_count(const clo_seen *seen, clo_flight_counts *counts)
{
    counts->releases = seen->releases_seen;
    counts->late = seen->late_seen;
    counts->executions_lost = seen->strays;
    for (uint32_t i = 0; i < seen->last + seen->late; i++) {
        counts->kept += seen->releases[i].number > 0;
        counts->late_kept += seen->releases[i].is_late;
    }
}

size_t clo_seen_events(const clo_seen *seen, clo_trace_event *events)
{
    size_t count = 0;

    for (uint32_t i = 0; i < seen->last + seen->late; i++) {
        const clo_seen_release *release = &seen->releases[i];
        for (uint32_t k = 0; k < release->count; k++, count++) {
            const clo_seen_execution *one = &release->executions[k];
            if (events != NULL)
                events[count] = (clo_trace_event){.task = one->task,
                                                  .instance = one->instance,
                                                  .executor = one->executor,
                                                  .is_replica = one->is_replica,
                                                  .start_ns = one->start_ns,
                                                  .finish_ns = one->finish_ns,
                                                  .release = release->number - 1};
        }
    }
    return count;
}
