/* trace/judge/classes.h - tasks that may run on the same executors and demand the same are of one class: where one of
 * them fits, all do. Streams have few classes, however many jobs they have. */
#ifndef CLO_TRACE_JUDGE_CLASSES_H
#define CLO_TRACE_JUDGE_CLASSES_H

#include "trace/judge/judge.h"

typedef struct clo_judge_classes {
    uint32_t count, words; /* words: of one set of executors */
    uint64_t *allowed;     /* [count * words] bit e: executor e may run it */
    int64_t *demand;       /* [count * CLO_RESOURCES_MAX]                  */
    uint32_t **of_stage;   /* [shapes] the class of each stage; NULL: not asked for */
    size_t allowed_capacity, demand_capacity;
    uint32_t *table; /* index + 1; 0: free; [table_mask + 1] */
    uint32_t table_mask;
} clo_judge_classes;

/* Finds the classes of the shapes for which is_wanted[shape] is set. Returns CLO_OK or CLO_ERR_MEMORY; to be freed in
 * either case. */
clo_status clo_judge_find_classes(const clo_judge *judge, const uint8_t *is_wanted, clo_judge_classes *classes);

void clo_judge_free_classes(const clo_judge *judge, clo_judge_classes *classes);

static inline bool clo_judge_class_allows(const clo_judge_classes *classes, uint32_t class, uint32_t executor)
{
    return (classes->allowed[(size_t) class * classes->words + executor / 64] >> executor % 64 & 1) != 0;
}

#endif
