/* classes.c - see classes.h. */
#include "trace/judge/classes.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

#include <string.h>

static uint32_t place_of(const clo_judge *judge, const clo_judge_classes *classes, const uint64_t *set,
                         const int64_t *demand)
{
    clo_hash_key key = {judge->key[0], judge->key[1]};
    uint64_t hash = clo_hash(key, set, classes->words * sizeof set[0]) * 31 +
                    clo_hash(key, demand, CLO_RESOURCES_MAX * sizeof demand[0]);

    return (uint32_t)hash & classes->table_mask;
}

static bool is_equal(const clo_judge_classes *classes, uint32_t class, const uint64_t *set, const int64_t *demand)
{
    return memcmp(&classes->allowed[(size_t) class * classes->words], set, classes->words * sizeof set[0]) == 0 &&
           memcmp(&classes->demand[(size_t) class * CLO_RESOURCES_MAX], demand, CLO_RESOURCES_MAX * sizeof demand[0]) ==
               0;
}

static clo_status add_class(clo_judge_classes *classes, const uint64_t *set, const int64_t *demand)
{
    void *allowed = classes->allowed, *demands = classes->demand;
    size_t sets = ((size_t)classes->count + 1) * classes->words,
           vectors = ((size_t)classes->count + 1) * CLO_RESOURCES_MAX;

    if (clo_grow(&allowed, &classes->allowed_capacity, sets, sizeof set[0]) != 0)
        return clo_fail_memory("the check of a log");
    classes->allowed = allowed;
    if (clo_grow(&demands, &classes->demand_capacity, vectors, sizeof demand[0]) != 0)
        return clo_fail_memory("the check of a log");
    classes->demand = demands;
    memcpy(&classes->allowed[sets - classes->words], set, classes->words * sizeof set[0]);
    memcpy(&classes->demand[vectors - CLO_RESOURCES_MAX], demand, CLO_RESOURCES_MAX * sizeof demand[0]);
    classes->count++;
    return CLO_OK;
}

static clo_status find_class(const clo_judge *judge, clo_judge_classes *classes, const uint64_t *set,
                             const int64_t *demand, uint32_t *out)
{
    uint32_t at = place_of(judge, classes, set, demand);

    for (; classes->table[at] != 0; at = (at + 1) & classes->table_mask) /* the table has free places */
        if (is_equal(classes, classes->table[at] - 1, set, demand)) {
            *out = classes->table[at] - 1;
            return CLO_OK;
        }
    clo_status status = add_class(classes, set, demand);
    if (status != CLO_OK)
        return status;
    *out = classes->count - 1;
    classes->table[at] = classes->count;
    return CLO_OK;
}

static clo_status read_shape(const clo_judge *judge, clo_judge_classes *classes, uint32_t s, uint64_t *set)
{
    static const int64_t nothing[CLO_RESOURCES_MAX] = {0};
    const clo_judge_shape *shape = &judge->shapes[s];
    clo_status status = CLO_OK;

    classes->of_stage[s] = clo_allocate(shape->stages, sizeof classes->of_stage[s][0]);
    if (classes->of_stage[s] == NULL)
        return clo_fail_memory("the check of a log");
    for (uint32_t t = 0; t < shape->stages && status == CLO_OK; t++) {
        const int64_t *demand = clo_judge_demand(shape, t);
        memset(set, 0, classes->words * sizeof set[0]);
        for (uint32_t e = 0; e < judge->executors; e++)
            if (clo_cost_execution_ns(shape->cost, t, e) != CLO_TIME_NEVER)
                set[e / 64] |= UINT64_C(1) << e % 64;
        status = find_class(judge, classes, set, demand != NULL ? demand : nothing, &classes->of_stage[s][t]);
    }
    return status;
}

clo_status clo_judge_find_classes(const clo_judge *judge, const uint8_t *is_wanted, clo_judge_classes *classes)
{
    size_t stages = 0, places = 4;
    clo_status status = CLO_OK;

    for (uint32_t s = 0; s < judge->shapes_count; s++)
        stages += is_wanted[s] ? judge->shapes[s].stages : 0;
    while (places < stages * 2 && places < UINT32_MAX / 2)
        places *= 2;
    *classes = (clo_judge_classes){.words = (judge->executors + 63) / 64, .table_mask = (uint32_t)(places - 1)};
    classes->table = clo_allocate(places, sizeof classes->table[0]);
    classes->of_stage = clo_allocate(judge->shapes_count, sizeof classes->of_stage[0]);
    uint64_t *set = clo_allocate(classes->words, sizeof *set);
    if (classes->table == NULL || classes->of_stage == NULL || set == NULL)
        status = clo_fail_memory("the check of a log");
    for (uint32_t s = 0; s < judge->shapes_count && status == CLO_OK; s++)
        if (is_wanted[s])
            status = read_shape(judge, classes, s, set);
    clo_free(set);
    return status;
}

void clo_judge_free_classes(const clo_judge *judge, clo_judge_classes *classes)
{
    for (uint32_t s = 0; s < judge->shapes_count && classes->of_stage != NULL; s++)
        clo_free(classes->of_stage[s]);
    clo_free(classes->of_stage);
    clo_free(classes->allowed);
    clo_free(classes->demand);
    clo_free(classes->table);
}
