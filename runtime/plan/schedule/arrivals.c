#include "plan/schedule/arrivals.h"

#include "base/order/sort.h"

#include <assert.h>
#include <string.h>

/* A producer, or several of one edge that look alike from one executor. */
typedef struct arrival {
    int64_t latest_ns, second_ns; /* second_ns: -1: there is one only */
    uint32_t instance;            /* the first of those that arrive last */
} arrival;

static int64_t finish_of(const clo_schedule *schedule, uint32_t instance)
{
    return schedule->executions[schedule->first_execution[instance]].finish_ns;
}

static int by_class_and_finish(const void *left, const void *right)
{
    const clo_stage_item *a = left, *b = right;

    if (a->class_of != b->class_of)
        return a->class_of < b->class_of ? -1 : 1;
    if (a->finish_ns != b->finish_ns)
        return a->finish_ns > b->finish_ns ? -1 : 1;
    return a->instance < b->instance ? -1 : a->instance > b->instance;
}

static void sort_stage(const clo_schedule *schedule, uint32_t task, clo_stage *stage)
{
    clo_stages *stages = schedule->stages;
    const clo_graph *graph = schedule->graph;
    uint32_t count = 0;

    stage->again = CLO_NONE;
    stage->count = 0;
    stage->is_sorted = true;
    for (uint32_t v = graph->first_instance[task + 1]; v-- > graph->first_instance[task];) {
        if (schedule->first_execution[v] == CLO_NONE) {
            stage->is_sorted = false;
            continue;
        }
        const clo_execution *execution = &schedule->executions[schedule->first_execution[v]];
        if (execution->next == CLO_NONE) {
            stages->items[count++] = (clo_stage_item){execution->finish_ns, stages->class_of[execution->executor], v};
            continue;
        }
        stages->next_again[v] = stage->again;
        stage->again = v;
    }
    clo_sort(stages->items, count, sizeof *stages->items, by_class_and_finish);
    for (uint32_t i = 0; i < count; i++) {
        const clo_stage_item *item = &stages->items[i];
        bool is_last = i + 1 == count || item[1].class_of != item->class_of;
        if (i == 0 || item[-1].class_of != item->class_of)
            stages->groups[stage->first + stage->count++] = (clo_stage_group){item->class_of, item->instance};
        stages->next[item->instance] = is_last ? CLO_NONE : item[1].instance;
    }
}

clo_stage *clo_schedule_find_stage(const clo_schedule *schedule, uint32_t task)
{
    const clo_stages *stages = schedule->stages;

    if (stages->of[task] == CLO_NONE)
        return NULL;
    clo_stage *stage = &stages->list[stages->of[task]];
    if (!stage->is_sorted)
        sort_stage(schedule, task, stage);
    return stage;
}

uint32_t clo_schedule_last_of(const clo_schedule *schedule, uint32_t task)
{
    const clo_stages *stages = schedule->stages;
    bool is_stage = stages != NULL && stages->of[task] != CLO_NONE;

    return is_stage ? stages->list[stages->of[task]].last : schedule->graph->first_instance[task];
}

int64_t clo_schedule_producers_ns(const clo_schedule *schedule, uint32_t instance)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance];
    int64_t latest = 0;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        int64_t finish = finish_of(schedule, clo_schedule_last_of(schedule, clo_graph_source(graph, edge)));
        latest = finish > latest ? finish : latest;
    }
    return latest;
}

uint32_t clo_schedule_group_of(const clo_schedule *schedule, const clo_stage *stage, uint32_t executor)
{
    uint32_t wanted = schedule->stages->class_of[executor], group = stage->first;

    while (schedule->stages->groups[group].executor != wanted) { /* ends: it is one of them */
        group++;
        assert(group < stage->first + stage->count);
    }
    return group;
}

/* The first at *link or behind it that was executed once; what was executed again meanwhile is taken off the list. */
static uint32_t once_at(const clo_schedule *schedule, uint32_t *link)
{
    while (*link != CLO_NONE && clo_schedule_is_again(schedule, *link)) /* ends: the list gets shorter */
        *link = schedule->stages->next[*link];
    return *link;
}

/* Latest and second latest finish of a group; false if it is empty. */
static bool look_at_group(const clo_schedule *schedule, clo_stage_group *group, arrival *out)
{
    uint32_t first = once_at(schedule, &group->head), second;

    if (first == CLO_NONE)
        return false;
    second = once_at(schedule, &schedule->stages->next[first]);
    *out = (arrival){finish_of(schedule, first), second == CLO_NONE ? -1 : finish_of(schedule, second), first};
    return true;
}

int64_t clo_schedule_instance_ns(const clo_schedule *schedule, uint32_t instance, uint64_t bytes, uint32_t executor)
{
    int64_t earliest = INT64_MAX;

    for (uint32_t c = schedule->first_execution[instance]; c != CLO_NONE; c = schedule->executions[c].next) {
        const clo_execution *execution = &schedule->executions[c];
        int64_t there = execution->finish_ns + clo_schedule_transfer_ns(schedule, bytes, execution->executor, executor);
        if (there < earliest)
            earliest = there;
    }
    assert(earliest < INT64_MAX);
    return earliest;
}

/* row[e]: when data that are on `from` at finish_ns are on executor e. The hot loop of planning: everything it needs is
 * in locals, because stores to row could alias the members. */
static void fill_row(const clo_schedule *schedule, int64_t finish_ns, uint32_t from, uint64_t bytes,
                     int64_t *restrict row)
{
    const clo_platform *platform = schedule->platform;
    uint32_t piece = clo_platform_piece(platform, bytes);
    size_t groups = platform->groups_count, first = (piece * groups + platform->group_of[from]) * groups;
    uint64_t beyond = bytes - platform->cut_bytes[piece];
    const int64_t *latency_ns = &platform->latency_ns[first];
    const uint64_t *ns_per_byte_q32 = &platform->ns_per_byte_q32[first];
    const uint32_t *memory = schedule->memory, *group_of = platform->group_of;
    uint32_t executors = schedule->executors, here = memory[from];

    for (uint32_t e = 0; e < executors && platform->is_group_each; e++) {
        int64_t transfer_ns = clo_link_ns(latency_ns[e], ns_per_byte_q32[e], beyond);
        row[e] = finish_ns + (memory[e] == here ? 0 : transfer_ns);
    }
    for (uint32_t e = 0; e < executors && !platform->is_group_each; e++) {
        int64_t transfer_ns = clo_link_ns(latency_ns[group_of[e]], ns_per_byte_q32[group_of[e]], beyond);
        row[e] = finish_ns + (memory[e] == here ? 0 : transfer_ns);
    }
}

/* The same for all executions of an instance, the earliest of them. */
static void fill_instance_row(const clo_schedule *schedule, uint32_t instance, uint64_t bytes, int64_t *row)
{
    uint32_t first = schedule->first_execution[instance];

    assert(first != CLO_NONE);
    fill_row(schedule, schedule->executions[first].finish_ns, schedule->executions[first].executor, bytes, row);
    for (uint32_t c = schedule->executions[first].next; c != CLO_NONE; c = schedule->executions[c].next)
        for (uint32_t e = 0; e < schedule->executors; e++) {
            int64_t there = schedule->executions[c].finish_ns +
                            clo_schedule_transfer_ns(schedule, bytes, schedule->executions[c].executor, e);
            if (there < row[e])
                row[e] = there;
        }
}

static void raise_to(int64_t *restrict ready_ns, const int64_t *restrict row_ns, uint32_t count)
{
    for (uint32_t e = 0; e < count; e++)
        ready_ns[e] = row_ns[e] > ready_ns[e] ? row_ns[e] : ready_ns[e];
}

static void fill_stage_row(const clo_schedule *schedule, const clo_stage *stage, uint64_t bytes, int64_t *row)
{
    clo_stages *stages = schedule->stages;
    arrival found;

    memset(row, 0, schedule->executors * sizeof *row);
    for (uint32_t g = stage->first; g < stage->first + stage->count; g++)
        if (look_at_group(schedule, &stages->groups[g], &found)) {
            fill_row(schedule, found.latest_ns, stages->groups[g].executor, bytes, stages->row_ns);
            raise_to(row, stages->row_ns, schedule->executors);
        }
    for (uint32_t v = stage->again; v != CLO_NONE; v = stages->next_again[v]) {
        fill_instance_row(schedule, v, bytes, stages->row_ns);
        raise_to(row, stages->row_ns, schedule->executors);
    }
}

void clo_schedule_arrivals(clo_schedule *schedule, uint32_t edge)
{
    uint64_t bytes = clo_graph_in_bytes(schedule->graph, edge);
    uint32_t source = clo_graph_source(schedule->graph, edge);
    const clo_stage *stage = clo_schedule_stage(schedule, source);

    if (stage == NULL)
        fill_instance_row(schedule, schedule->graph->first_instance[source], bytes, schedule->row_ns);
    else
        fill_stage_row(schedule, stage, bytes, schedule->row_ns);
}

/* Where what is known of the inputs of a task of several instances is kept; NULL: one instance. */
static clo_stage_row *row_of(const clo_schedule *schedule, uint32_t task)
{
    clo_stages *stages = schedule->stages;

    return stages == NULL || stages->of[task] == CLO_NONE ? NULL : &stages->rows[stages->of[task] % CLO_STAGE_ROWS];
}

/* True if no producer of the task was executed again since then. */
static bool is_known(const clo_schedule *schedule, const clo_stage_row *row, uint32_t task)
{
    const clo_graph *graph = schedule->graph;

    if (row == NULL || row->task != task)
        return false;
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++)
        if (schedule->stages->changed_at[clo_graph_source(graph, edge)] > row->found_at)
            return false;
    return true;
}

/* The same where all executors share a memory, and every task has one instance: nothing takes time, so that all is
 * everywhere as soon as its first execution has ended. */
static void find_ready_near(clo_schedule *schedule, uint32_t task)
{
    const clo_graph *graph = schedule->graph;
    int64_t *restrict ready_ns = schedule->ready_ns;
    int64_t latest_ns = 0;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t first = schedule->first_execution[clo_graph_source(graph, edge)];
        assert(first != CLO_NONE);
        int64_t there_ns = schedule->executions[first].finish_ns;
        for (uint32_t c = schedule->executions[first].next; c != CLO_NONE; c = schedule->executions[c].next)
            there_ns = schedule->executions[c].finish_ns < there_ns ? schedule->executions[c].finish_ns : there_ns;
        latest_ns = there_ns > latest_ns ? there_ns : latest_ns;
    }
    for (uint32_t e = 0, count = schedule->executors; e < count; e++)
        ready_ns[e] = latest_ns;
}

void clo_schedule_find_ready(clo_schedule *schedule, uint32_t instance)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance];
    clo_stage_row *row = row_of(schedule, task);
    size_t bytes = schedule->executors * sizeof schedule->ready_ns[0];

    if (schedule->stages == NULL && schedule->platform->memories_count == 1) {
        find_ready_near(schedule, task);
        return;
    }
    if (is_known(schedule, row, task)) {
        memcpy(schedule->ready_ns, row->ready_ns, bytes);
        return;
    }
    memset(schedule->ready_ns, 0, bytes);
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        clo_schedule_arrivals(schedule, edge);
        raise_to(schedule->ready_ns, schedule->row_ns, schedule->executors);
    }
    if (row != NULL) {
        row->task = task;
        row->found_at = schedule->count;
        row->has_critical = false;
        memcpy(row->ready_ns, schedule->ready_ns, bytes);
    }
}

/* Takes in one more producer, which arrives at row_ns. */
static void take_single(clo_schedule *schedule, uint32_t instance)
{
    const int64_t *restrict row = schedule->row_ns;
    int64_t *restrict ready = schedule->ready_ns, *restrict second = schedule->second_ns;
    uint32_t *restrict critical = schedule->critical;

    for (uint32_t e = 0, count = schedule->executors; e < count; e++) {
        int64_t there = row[e], before = ready[e], lesser = there > before ? before : there;
        second[e] = lesser > second[e] ? lesser : second[e];
        ready[e] = there > before ? there : before;
        critical[e] = there > before ? instance : critical[e];
    }
}

/* Takes in one more producer, or a group of them, that came by the same edge as those of [first, last): row_ns is when
 * the latest arrives. Ties: the lowest instance of an edge; the first edge. */
static void take_row(clo_schedule *schedule, const arrival *found, uint32_t first, uint32_t last)
{
    int64_t gap_ns = found->second_ns < 0 ? INT64_MAX : found->latest_ns - found->second_ns;

    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t there = schedule->row_ns[e], second = there - (gap_ns < there ? gap_ns : there);
        uint32_t *critical = &schedule->critical[e];
        if (there > schedule->ready_ns[e]) {
            schedule->second_ns[e] = second > schedule->ready_ns[e] ? second : schedule->ready_ns[e];
            schedule->ready_ns[e] = there;
            *critical = found->instance;
            continue;
        }
        if (there == schedule->ready_ns[e] && *critical >= first && *critical < last && found->instance < *critical)
            *critical = found->instance;
        if (there > schedule->second_ns[e])
            schedule->second_ns[e] = there;
    }
}

static void take_edge(clo_schedule *schedule, uint32_t edge)
{
    clo_stages *stages = schedule->stages;
    uint32_t source = clo_graph_source(schedule->graph, edge), first = schedule->graph->first_instance[source];
    uint32_t last = schedule->graph->first_instance[source + 1];
    uint64_t bytes = clo_graph_in_bytes(schedule->graph, edge);
    const clo_stage *stage = clo_schedule_stage(schedule, source);
    arrival found = {.second_ns = -1, .instance = first};

    if (stage == NULL) {
        fill_instance_row(schedule, first, bytes, schedule->row_ns);
        take_single(schedule, first);
        return;
    }
    for (uint32_t g = stage->first; g < stage->first + stage->count; g++)
        if (look_at_group(schedule, &stages->groups[g], &found)) {
            fill_row(schedule, found.latest_ns, stages->groups[g].executor, bytes, schedule->row_ns);
            take_row(schedule, &found, first, last);
        }
    for (uint32_t v = stage->again; v != CLO_NONE; v = stages->next_again[v]) {
        found = (arrival){.second_ns = -1, .instance = v};
        fill_instance_row(schedule, v, bytes, schedule->row_ns);
        take_row(schedule, &found, first, last);
    }
}

void clo_schedule_find_critical(clo_schedule *schedule, uint32_t instance)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance], executors = schedule->executors;
    clo_stage_row *row = row_of(schedule, task);
    size_t bytes = executors * sizeof(int64_t);

    if (is_known(schedule, row, task) && row->has_critical) {
        memcpy(schedule->ready_ns, row->ready_ns, bytes);
        memcpy(schedule->second_ns, row->second_ns, bytes);
        memcpy(schedule->critical, row->critical, executors * sizeof *row->critical);
        return;
    }
    memset(schedule->ready_ns, 0, bytes);
    memset(schedule->second_ns, 0, bytes);
    memset(schedule->critical, 0xff, executors * sizeof *schedule->critical); /* CLO_NONE */
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++)
        take_edge(schedule, edge);
    if (row != NULL) {
        row->task = task;
        row->found_at = schedule->count;
        row->has_critical = true;
        memcpy(row->ready_ns, schedule->ready_ns, bytes);
        memcpy(row->second_ns, schedule->second_ns, bytes);
        memcpy(row->critical, schedule->critical, executors * sizeof *row->critical);
    }
}

/* When the last of a sorted stage is on `executor`. */
static int64_t stage_ns(const clo_schedule *schedule, const clo_stage *stage, uint64_t bytes, uint32_t executor)
{
    clo_stages *stages = schedule->stages;
    int64_t latest = 0;
    arrival found;

    for (uint32_t g = stage->first; g < stage->first + stage->count; g++)
        if (look_at_group(schedule, &stages->groups[g], &found)) {
            int64_t there =
                found.latest_ns + clo_schedule_transfer_ns(schedule, bytes, stages->groups[g].executor, executor);
            latest = there > latest ? there : latest;
        }
    for (uint32_t v = stage->again; v != CLO_NONE; v = stages->next_again[v]) {
        int64_t there = clo_schedule_instance_ns(schedule, v, bytes, executor);
        latest = there > latest ? there : latest;
    }
    return latest;
}

/* Where every task has one instance. */
static int64_t single_inputs_ns(const clo_schedule *schedule, uint32_t task, uint32_t executor)
{
    const clo_graph *graph = schedule->graph;
    int64_t latest = 0;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        int64_t there = clo_schedule_instance_ns(schedule, clo_graph_source(graph, edge),
                                                 clo_graph_in_bytes(graph, edge), executor);
        latest = there > latest ? there : latest;
    }
    return latest;
}

int64_t clo_schedule_inputs_ns(const clo_schedule *schedule, uint32_t instance, uint32_t executor)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance];
    int64_t latest = 0;

    if (schedule->stages == NULL) /* tasks are instances */
        return single_inputs_ns(schedule, task, executor);
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint64_t bytes = clo_graph_in_bytes(graph, edge);
        const clo_stage *stage = clo_schedule_stage(schedule, clo_graph_source(graph, edge));
        int64_t there = stage == NULL
                            ? clo_schedule_instance_ns(schedule, graph->first_instance[clo_graph_source(graph, edge)],
                                                       bytes, executor)
                            : stage_ns(schedule, stage, bytes, executor);
        latest = there > latest ? there : latest;
    }
    return latest;
}

static bool is_in(uint32_t instance, const uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == instance)
            return true;
    return false;
}

/* What is skipped, and what was found so far. */
typedef struct look {
    const clo_schedule *schedule;
    const uint32_t *skipped;
    uint32_t count, executor;
    uint64_t bytes;
    clo_inputs inputs;
} look;

static void take(look *l, int64_t there_ns, uint32_t instance)
{
    clo_inputs *inputs = &l->inputs;

    if (inputs->producer == CLO_NONE || there_ns > inputs->latest_ns) {
        *inputs = (clo_inputs){there_ns, inputs->producer == CLO_NONE ? 0 : inputs->latest_ns, instance};
        return;
    }
    if (there_ns == inputs->latest_ns && instance < inputs->producer &&
        l->schedule->graph->task_of[instance] == l->schedule->graph->task_of[inputs->producer])
        inputs->producer = instance; /* lists are in order of finish */
    if (there_ns > inputs->second_ns)
        inputs->second_ns = there_ns;
}

/* The first two of a group that are not skipped: more are never asked for. */
static void take_group(look *l, clo_stage_group *group)
{
    const clo_schedule *schedule = l->schedule;
    int64_t transfer_ns = clo_schedule_transfer_ns(schedule, l->bytes, group->executor, l->executor);
    uint32_t taken = 0;

    for (uint32_t *link = &group->head; taken < 2 && once_at(schedule, link) != CLO_NONE;
         link = &schedule->stages->next[*link]) {
        if (is_in(*link, l->skipped, l->count))
            continue;
        take(l, finish_of(schedule, *link) + transfer_ns, *link);
        taken++;
    }
}

clo_inputs clo_schedule_inputs_but(const clo_schedule *schedule, uint32_t instance, uint32_t executor,
                                   const uint32_t *skipped, uint32_t count)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance];
    look l = {schedule, skipped, count, executor, 0, {0, 0, CLO_NONE}};

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        const clo_stage *stage = clo_schedule_stage(schedule, clo_graph_source(graph, edge));
        uint32_t first = graph->first_instance[clo_graph_source(graph, edge)];
        l.bytes = clo_graph_in_bytes(graph, edge);
        if (stage == NULL && !is_in(first, skipped, count))
            take(&l, clo_schedule_instance_ns(schedule, first, l.bytes, executor), first);
        for (uint32_t g = 0; stage != NULL && g < stage->count; g++)
            take_group(&l, &schedule->stages->groups[stage->first + g]);
        for (uint32_t v = stage != NULL ? stage->again : CLO_NONE; v != CLO_NONE; v = schedule->stages->next_again[v])
            if (!is_in(v, skipped, count))
                take(&l, clo_schedule_instance_ns(schedule, v, l.bytes, executor), v);
    }
    return l.inputs;
}

clo_inputs clo_schedule_inputs(const clo_schedule *schedule, uint32_t instance, uint32_t executor)
{
    return clo_schedule_inputs_but(schedule, instance, executor, NULL, 0);
}
