/* control_flow.c - see control_flow.h. Each mistake is found here, where its line is known, and not by the seal. */
#include "io/clotho/control_flow.h"

#include "base/memory.h"
#include "base/status.h"
#include "graph/control_flow.h"
#include "graph/shape/branch.h"

#include <clotho/branch.h>

/* One chance for each arm, of CLO_CHANCES_ONE. */
static clo_status read_chances(const clo_clotho_source *s, const cJSON *list, uint32_t arms, uint32_t *chances)
{
    const cJSON *item;
    uint64_t sum = 0;
    uint32_t a = 0;
    clo_status status = cJSON_IsArray(list) ? clo_json_count(s->json, list, arms, "arm")
                                            : clo_json_want(s->json, list, "an array of chances, one for each arm");

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, list) {
        int64_t chance = 0;
        if ((status = clo_json_integer(s->json, item, CLO_CHANCES_ONE, &chance)) != CLO_OK)
            return status;
        chances[a++] = (uint32_t)chance;
        sum += (uint64_t)chance;
    }
    if (sum != CLO_CHANCES_ONE)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, list, "adds up to %llu; make that %u", (unsigned long long)sum,
                             CLO_CHANCES_ONE);
    return CLO_OK;
}

/* A branch takes one instance, and no replicas. */
static clo_status check_task(const clo_clotho_source *s, const cJSON *item, const clo_task *task)
{
    if (task->instances == 1 && !task->duplicable)
        return CLO_OK;
    return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "makes the task a branch; leave out \"%s\"",
                         task->duplicable ? "duplicable" : "instances");
}

static clo_status read_count(const clo_clotho_source *s, const cJSON *item, uint32_t max, uint32_t *out)
{
    int64_t count = 0;
    clo_status status = clo_json_integer(s->json, item, max, &count);

    if (status == CLO_OK && count == 0)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is 0; write 1 to %u", max);
    *out = (uint32_t)count;
    return status;
}

static clo_status read_branch(const clo_clotho_source *s, const cJSON *arms, const cJSON *chances, uint32_t id)
{
    uint32_t count = 0, of[CLO_ARMS_MAX];
    clo_status status = read_count(s, arms, CLO_ARMS_MAX, &count);

    if (status == CLO_OK && chances != NULL)
        status = read_chances(s, chances, count, of);
    if (status != CLO_OK)
        return status;
    return clo_json_place(s->json, arms,
                          clo_graph_set_branch(s->reader->graph, id, count, chances != NULL ? of : NULL));
}

clo_status clo_clotho_read_control_flow(const clo_clotho_source *s, const cJSON *object, const clo_task *task,
                                        uint32_t id)
{
    const cJSON *arms, *chances, *bound;
    uint32_t iterations = 0;
    bool merge = false;
    clo_status status = clo_json_get(s->json, object, "arms", false, &arms);

    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "chances", false, &chances);
    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "bound", false, &bound);
    if (status == CLO_OK)
        status = clo_json_get_boolean(s->json, object, "merge", &merge);
    if (status == CLO_OK && merge)
        status = clo_json_place(s->json, object, clo_graph_set_merge(s->reader->graph, id));
    if (status != CLO_OK || (arms == NULL && chances == NULL && bound == NULL))
        return status;
    if (arms == NULL && bound == NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, chances, "is there without \"arms\"; add the number of arms");
    if (bound != NULL && (arms != NULL || chances != NULL))
        return clo_json_fail(s->json, CLO_ERR_FORMAT, bound,
                             "is for the last condition of a loop, which has one arm; remove \"%s\"",
                             arms != NULL ? "arms" : "chances");
    status = check_task(s, bound != NULL ? bound : arms, task);
    if (status != CLO_OK || bound == NULL)
        return status == CLO_OK ? read_branch(s, arms, chances, id) : status;
    status = read_count(s, bound, CLO_LOOP_BOUND_MAX, &iterations);
    return status == CLO_OK ? clo_json_place(s->json, bound, clo_graph_set_last(s->reader->graph, id, iterations))
                            : status;
}

clo_status clo_clotho_count_arms(clo_clotho_source *s)
{
    const clo_graph_control_flow *control_flow = s->reader->graph->control_flow;

    if (control_flow == NULL || control_flow->branches_count == 0)
        return CLO_OK;
    s->arms = clo_allocate(s->tasks_count, sizeof *s->arms);
    if (s->arms == NULL)
        return clo_fail_memory(s->json->file);
    for (uint32_t b = 0; b < control_flow->branches_count; b++)
        s->arms[control_flow->branches[b].task] = (uint16_t)control_flow->branches[b].arms;
    return CLO_OK;
}

clo_status clo_clotho_read_arm(const clo_clotho_source *s, const cJSON *edge, uint32_t from, uint32_t *arm)
{
    uint32_t arms = s->arms != NULL ? s->arms[from] : 0;
    const cJSON *item;
    int64_t number = 0;
    clo_status status = clo_json_get(s->json, edge, "arm", false, &item);

    *arm = CLO_NONE;
    if (status != CLO_OK || item == NULL)
        return status;
    if ((status = clo_json_integer(s->json, item, CLO_JSON_INTEGER_MAX, &number)) != CLO_OK)
        return status;
    if (arms == 0)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, item,
                             "is of a task that is no branch; write \"arms\" into that task");
    if (number >= arms)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is %lld; the task has the arms 0 .. %u", (long long)number,
                             arms - 1);
    *arm = (uint32_t)number;
    return CLO_OK;
}

void clo_clotho_write_control_flow(const clo_graph *graph, uint32_t task, clo_text *text)
{
    uint32_t arms = clo_graph_arms(graph, task);
    bool has_chances = clo_graph_has_chances(graph, task);

    if (clo_graph_is_merge(graph, task))
        clo_text_add(text, ", \"merge\": true");
    if (clo_graph_bound(graph, task) > 0) {
        clo_text_add(text, ", \"bound\": %u", clo_graph_bound(graph, task));
        return;
    }
    if (arms > 0)
        clo_text_add(text, ", \"arms\": %u", arms);
    for (uint32_t a = 0; has_chances && a < arms; a++)
        clo_text_add(text, "%s%u%s", a == 0 ? ", \"chances\": [" : ", ", clo_graph_chance(graph, task, a),
                     a + 1 == arms ? "]" : "");
}

void clo_clotho_source_close(clo_clotho_source *s)
{
    clo_names_free(&s->tasks);
    clo_names_free(&s->handles);
    clo_free(s->arms);
}
