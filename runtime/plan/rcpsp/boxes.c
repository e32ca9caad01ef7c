/* plan/rcpsp/boxes.c - see boxes.h. */
#include "plan/rcpsp/boxes.h"

#include "plan/rcpsp/priority.h"

#include <assert.h>
#include <string.h>

/* The first machine with the capacities of `m`. */
static uint32_t first_like(const clo_rcpsp *problem, uint32_t m)
{
    const uint64_t *capacity = problem->capacity;
    uint32_t words = problem->words, other = 0;

    while (memcmp(&capacity[(size_t)other * words], &capacity[(size_t)m * words], words * sizeof *capacity) != 0)
        other++; /* ends: at m */
    return other;
}

void clo_boxes_carve(clo_boxes *boxes, const clo_rcpsp *problem, size_t sums_max, clo_block *block)
{
    size_t tasks = problem->graph->tasks, size = 2, nodes = 2, sums;

    while (nodes < 2 * tasks)
        nodes *= 2;
    while (size < 2 * tasks && size < 1u << 31)
        size *= 2;
    *boxes = (clo_boxes){.problem = problem, .leaves = (uint32_t)(nodes / 2), .mask = (uint32_t)(size - 1)};
    for (uint32_t m = 0; m < problem->machines; m++)
        boxes->shapes += first_like(problem, m) == m;
    sums = (size_t)boxes->shapes * clo_rcpsp_lanes(problem);
    boxes->summed = (uint32_t)(sums_max / sums < 2 ? 2 : sums_max / sums < nodes ? sums_max / sums : nodes);
    clo_carve(block, &boxes->place, tasks);
    clo_carve(block, &boxes->task, tasks);
    clo_carve(block, &boxes->shape_of, problem->machines);
    clo_carve(block, &boxes->machine_of, boxes->shapes);
    clo_carve(block, &boxes->nodes, nodes);
    clo_carve(block, &boxes->least, nodes * problem->words);
    clo_carve(block, &boxes->most, nodes * problem->words);
    clo_carve(block, &boxes->shares, boxes->summed * sums);
    clo_carve(block, &boxes->ways, nodes * problem->machines);
    clo_carve(block, &boxes->group_of, tasks);
    clo_carve(block, &boxes->samples, tasks);
    clo_carve(block, &boxes->table, size);
    clo_carve(block, &boxes->keys, 2 * tasks);
}

static const uint64_t *demand_of(const clo_boxes *boxes, uint32_t task)
{
    return &boxes->problem->demand[(size_t)boxes->problem->graph->first_instance[task] * boxes->problem->words];
}

/* Bits of all lanes that any task demands, the highest ones first. */
static uint64_t place_on_curve(const clo_boxes *boxes, uint32_t task, const uint32_t *used, uint32_t count)
{
    uint64_t key = 0;

    for (uint32_t bit = clo_rcpsp_lane_bits(boxes->problem) - 1, left = 64; bit-- > 0 && left >= count; left -= count)
        for (uint32_t i = 0; i < count; i++)
            key = key << 1 | (uint64_t)(clo_rcpsp_lane(boxes->problem, demand_of(boxes, task), used[i]) >> bit & 1);
    return key;
}

/* Lanes of which not all tasks demand the same. */
static uint32_t find_used(const clo_boxes *boxes, uint32_t *used)
{
    uint32_t count = 0;

    for (uint32_t l = 0; l < clo_rcpsp_lanes(boxes->problem); l++) {
        int64_t first = clo_rcpsp_lane(boxes->problem, demand_of(boxes, 0), l);
        bool differs = false;
        for (uint32_t t = 1; t < boxes->problem->graph->tasks && !differs; t++)
            differs = clo_rcpsp_lane(boxes->problem, demand_of(boxes, t), l) != first;
        if (differs)
            used[count++] = l;
    }
    return count;
}

static uint32_t find_group(clo_boxes *boxes, uint32_t task)
{
    uint64_t hash = boxes->hash_of(boxes->context, task);
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & boxes->mask;

    for (; boxes->table[at] != CLO_NONE; at = (at + 1) & boxes->mask) { /* ends: half of the table is empty */
        uint32_t group = boxes->table[at];
        if (boxes->is_alike(boxes->context, boxes->samples[group], task))
            return group;
    }
    boxes->samples[boxes->groups_count] = task;
    return boxes->table[at] = boxes->groups_count++;
}

/* The order of the leaves; see boxes.h. */
static void place_tasks(clo_boxes *boxes)
{
    uint32_t tasks = boxes->problem->graph->tasks, used[CLO_RCPSP_WORDS_MAX * 4];
    uint32_t count = find_used(boxes, used);
    clo_sort_key *keys = boxes->keys, *other = boxes->keys + tasks;

    for (uint32_t i = 0; i < tasks; i++)
        keys[i] = (clo_sort_key){place_on_curve(boxes, tasks - 1 - i, used, count), tasks - 1 - i};
    clo_sort_key *sorted = clo_sort_keys(keys, other, tasks);
    for (uint32_t i = 0; i < tasks; i++)
        sorted[i].key = boxes->group_of[sorted[i].index];
    sorted = clo_sort_keys(sorted, sorted == keys ? other : keys, tasks);
    for (uint32_t i = 0; i < tasks; i++) {
        boxes->task[i] = sorted[i].index;
        boxes->place[sorted[i].index] = i;
    }
}

void clo_boxes_begin(clo_boxes *boxes)
{
    const clo_rcpsp *problem = boxes->problem;
    uint32_t shapes = 0;

    memset(boxes->table, 0xff, ((size_t)boxes->mask + 1) * sizeof *boxes->table); /* CLO_NONE */
    for (uint32_t m = 0; m < problem->machines; m++) {
        uint32_t like = first_like(problem, m);
        boxes->shape_of[m] = like == m ? shapes : boxes->shape_of[like];
        if (like == m)
            boxes->machine_of[shapes++] = m;
    }
    for (uint32_t t = 0; t < problem->graph->tasks; t++)
        boxes->group_of[t] = find_group(boxes, t);
    place_tasks(boxes);
}

/* The lower, or the higher, value of each lane. */
static void widen(const clo_boxes *boxes, size_t node, size_t left, size_t right)
{
    uint64_t guards = boxes->problem->guards;
    uint32_t words = boxes->problem->words, top = clo_rcpsp_lane_bits(boxes->problem) - 1;

    for (uint32_t w = 0; w < words; w++) {
        uint64_t a = boxes->least[left * words + w], b = boxes->least[right * words + w];
        uint64_t above = ((a | guards) - b) & guards, mask = above - (above >> top);
        boxes->least[node * words + w] = (b & mask) | (a & ~mask);
        a = boxes->most[left * words + w];
        b = boxes->most[right * words + w];
        above = ((a | guards) - b) & guards;
        mask = above - (above >> top);
        boxes->most[node * words + w] = (a & mask) | (b & ~mask);
    }
}

static void copy(clo_boxes *boxes, size_t to, size_t from)
{
    size_t words = boxes->problem->words;

    boxes->nodes[to] = boxes->nodes[from];
    memcpy(&boxes->least[to * words], &boxes->least[from * words], words * sizeof *boxes->least);
    memcpy(&boxes->most[to * words], &boxes->most[from * words], words * sizeof *boxes->most);
    memcpy(&boxes->ways[to * boxes->problem->machines], &boxes->ways[from * boxes->problem->machines],
           boxes->problem->machines);
}

/* True if nothing below either tells the tasks of both apart. */
static bool are_one(const clo_boxes *boxes, size_t left, size_t right)
{
    const clo_box *a = &boxes->nodes[left], *b = &boxes->nodes[right];
    size_t words = boxes->problem->words, machines = boxes->problem->machines;

    return a->is_uniform && b->is_uniform && a->group == b->group && a->work == b->work &&
           memcmp(&boxes->least[left * words], &boxes->least[right * words], words * sizeof *boxes->least) == 0 &&
           memcmp(&boxes->ways[left * machines], &boxes->ways[right * machines], machines) == 0;
}

static void join(clo_boxes *boxes, size_t node)
{
    size_t left = 2 * node, right = left + 1, machines = boxes->problem->machines;
    const clo_box *a = &boxes->nodes[left], *b = &boxes->nodes[right];

    if (a->count == 0 || b->count == 0) {
        copy(boxes, node, a->count == 0 ? right : left);
        return;
    }
    widen(boxes, node, left, right);
    boxes->nodes[node] = (clo_box){.count = a->count + b->count,
                                   .first = a->first < b->first ? a->first : b->first,
                                   .group = a->group == b->group ? a->group : CLO_NONE,
                                   .is_uniform = are_one(boxes, left, right),
                                   .work = a->work < b->work ? a->work : b->work,
                                   .all_work = a->all_work + b->all_work};
    for (size_t m = 0; m < machines; m++)
        boxes->ways[node * machines + m] = boxes->ways[left * machines + m] | boxes->ways[right * machines + m];
}

static void lift(clo_boxes *boxes, size_t leaf)
{
    for (size_t node = leaf / 2; node > 0; node /= 2)
        join(boxes, node);
}

static uint64_t share_of(const clo_boxes *boxes, uint32_t task, uint32_t shape, uint32_t lane)
{
    const clo_rcpsp *problem = boxes->problem;
    const uint64_t *capacity = &problem->capacity[(size_t)boxes->machine_of[shape] * problem->words];

    return clo_box_share(clo_rcpsp_lane(problem, demand_of(boxes, task), lane),
                         clo_rcpsp_lane(problem, capacity, lane));
}

/* times: 1, or -1 to take them off. */
static void add_shares(clo_boxes *boxes, uint32_t task, int times)
{
    uint32_t lanes = clo_rcpsp_lanes(boxes->problem), lowest = boxes->leaves + boxes->place[task];

    while (lowest >= boxes->summed)
        lowest /= 2;
    for (uint32_t s = 0; s < boxes->shapes; s++)
        for (uint32_t l = 0; l < lanes; l++) {
            uint64_t share = share_of(boxes, task, s, l);
            for (uint32_t node = lowest; node > 0; node /= 2) {
                uint64_t *sum = &boxes->shares[((size_t)node * boxes->shapes + s) * lanes + l];
                *sum = times > 0 ? *sum + share : *sum - share;
            }
        }
}

uint64_t clo_boxes_sum(const clo_boxes *boxes, uint32_t node, uint32_t shape, uint32_t lane)
{
    uint32_t lanes = clo_rcpsp_lanes(boxes->problem);

    assert(clo_boxes_has_sums(boxes, node));
    if (node < boxes->summed)
        return boxes->shares[((size_t)node * boxes->shapes + shape) * lanes + lane];
    return boxes->nodes[node].count * share_of(boxes, boxes->nodes[node].first, shape, lane);
}

void clo_boxes_add(clo_boxes *boxes, uint32_t task, const uint8_t *ways, uint64_t work)
{
    const clo_rcpsp *problem = boxes->problem;
    size_t leaf = (size_t)boxes->leaves + boxes->place[task], words = problem->words;

    boxes->nodes[leaf] = (clo_box){1, task, boxes->group_of[task], true, work, work};
    memcpy(&boxes->least[leaf * words], demand_of(boxes, task), words * sizeof *boxes->least);
    memcpy(&boxes->most[leaf * words], demand_of(boxes, task), words * sizeof *boxes->most);
    memcpy(&boxes->ways[leaf * problem->machines], ways, problem->machines);
    add_shares(boxes, task, 1);
    lift(boxes, leaf);
}

void clo_boxes_take(clo_boxes *boxes, uint32_t task)
{
    size_t leaf = (size_t)boxes->leaves + boxes->place[task];

    assert(boxes->nodes[leaf].count == 1);
    boxes->nodes[leaf].count = 0;
    add_shares(boxes, task, -1);
    lift(boxes, leaf);
}
