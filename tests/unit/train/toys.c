/* toys.c - see toys.h. */
#include "toys.h"

#include "train/models/lachesis.h"

#include <clotho/graph.h>
#include <stdlib.h>
#include <string.h>

#define NONE CLO_MODEL_NONE

enum { STAGES = 8, FEATURES = 4, LIMITS = 3, DECISIONS = 6 };

static const uint32_t zeros[16];

typedef struct rule {
    draws d;
    uint32_t done, rows[STAGES], limits[LIMITS], count, child_begin[STAGES + 1];
    double inputs[STAGES * FEATURES + LIMITS], worth[STAGES];
    clo_model_case shape;
    network_case input;
} rule;

static void *rule_create(const void *argument)
{
    rule *r = calloc(1, sizeof *r);

    (void)argument;
    if (r != NULL)
        r->shape = (clo_model_case){STAGES, 1, LIMITS, zeros, r->child_begin, NULL, zeros, NULL};
    return r;
}

static bool rule_reset(void *self, uint64_t seed)
{
    rule *r = self;

    r->d.state = draws_key(seed, 1, 2);
    r->done = 0;
    r->input = (network_case){&r->shape, r->inputs};
    return true;
}

static bool rule_look(void *self, train_view *out)
{
    static const double hidden[FEATURES] = {2, -1, 0.5, 1.5};
    rule *r = self;

    if (r->done == DECISIONS)
        return false;
    for (int i = 0; i < STAGES * FEATURES + LIMITS; i++)
        r->inputs[i] = 2 * draws_uniform(&r->d) - 1;
    r->count = 0;
    for (uint32_t s = 0; s < STAGES; s++) {
        r->worth[s] = 0;
        for (int k = 0; k < FEATURES; k++)
            r->worth[s] += hidden[k] * r->inputs[s * FEATURES + (uint32_t)k];
        if (draws_next(&r->d) % 2 == 0)
            r->rows[r->count++] = s;
    }
    if (r->count == 0)
        r->rows[r->count++] = 3;
    *out = (train_view){.input = &r->input, .stages = {.rows = r->rows, .count = r->count}, .time = r->done};
    return true;
}

/* All of them behind the even places, two behind the others. */
static void rule_limits(void *self, uint32_t stage, train_candidates *out)
{
    rule *r = self;

    for (uint32_t i = 0; i < LIMITS; i++)
        r->limits[i] = i;
    *out = (train_candidates){.rows = r->limits + stage % 2, .count = LIMITS - stage % 2};
}

static double limit_worth(const rule *r, uint32_t row)
{
    return -r->inputs[STAGES * FEATURES + row];
}

static train_choice rule_teach(void *self)
{
    rule *r = self;
    train_choice best = {0, 0};
    train_candidates limits;

    for (uint32_t i = 1; i < r->count; i++)
        if (r->worth[r->rows[i]] > r->worth[r->rows[best.stage]])
            best.stage = i;
    rule_limits(self, best.stage, &limits);
    for (uint32_t i = 1; i < limits.count; i++)
        if (limit_worth(r, limits.rows[i]) > limit_worth(r, limits.rows[best.limit]))
            best.limit = i;
    return best;
}

static double rule_step(void *self, const train_choice *choice)
{
    rule *r = self;
    train_choice best = rule_teach(self);
    train_candidates limits;

    double lost = r->worth[r->rows[best.stage]] - r->worth[r->rows[choice->stage]], most = -2;
    rule_limits(self, choice->stage, &limits);
    for (uint32_t i = 0; i < limits.count; i++)
        if (limit_worth(r, limits.rows[i]) > most)
            most = limit_worth(r, limits.rows[i]);
    lost += most - limit_worth(r, limits.rows[choice->limit]);
    r->done++;
    return -lost / (double)DECISIONS;
}

const train_environment toy_rule = {"rule",      NULL,      rule_create, free, rule_reset, rule_look,
                                    rule_limits, rule_step, rule_teach,  NULL, 0};

static uint32_t add_dense(double *parameters, uint32_t *count, network *net, uint32_t in, uint32_t outputs,
                          double leaky)
{
    uint32_t inputs = net->values[in].width, out = net->values_count++, layer = net->layers_count++;

    net->values[out] = (network_value){.domain = net->values[in].domain, .width = outputs};
    net->layers[layer] = (network_layer){.inputs = inputs,
                                         .outputs = outputs,
                                         .stride = inputs,
                                         .weights = parameters + *count,
                                         .bias = parameters + *count + (size_t)inputs * outputs,
                                         .leaky = leaky};
    *count += (inputs + 1) * outputs;
    net->ops[net->ops_count++] =
        (clo_model_op){.op = CLO_MODEL_DENSE, .out = out, .in = {in, NONE, NONE}, .argument = layer};
    return out;
}

void toy_rule_network(double *parameters, uint32_t *count, network *net)
{
    memset(net, 0, sizeof *net);
    *count = 0;
    net->values[0] = (network_value){.domain = CLO_MODEL_STAGE, .width = FEATURES, .is_input = true};
    net->values[1] = (network_value){.domain = CLO_MODEL_LIMIT, .width = 1, .is_input = true};
    net->values_count = 2;
    net->score = add_dense(parameters, count, net, add_dense(parameters, count, net, 0, 8, 0.2), 1, 1);
    net->limit = add_dense(parameters, count, net, add_dense(parameters, count, net, 1, 4, 0.2), 1, 1);
}

enum { TASKS = 9, MACHINES = 2, LISTS = 100, TASK_FEATURES = 2 };

typedef struct machines {
    uint32_t child_begin[TASKS + 1], children[TASKS * TASKS], parents[TASKS];
    uint32_t ready[TASKS], ready_count, waits[TASKS], done, now[TASKS], now_count;
    double time[TASKS], from[TASKS], free_at[MACHINES], rank[TASKS], finish, best, inputs[TASKS * TASK_FEATURES];
    clo_model_case shape;
    network_case input;
} machines;

static void *machines_create(const void *argument)
{
    machines *m = calloc(1, sizeof *m);

    (void)argument;
    if (m != NULL)
        m->shape = (clo_model_case){TASKS, 1, 0, zeros, m->child_begin, m->children, NULL, NULL};
    return m;
}

static double start_of(const machines *m, uint32_t task)
{
    double free_at = m->free_at[0] < m->free_at[1] ? m->free_at[0] : m->free_at[1];

    return m->from[task] > free_at ? m->from[task] : free_at;
}

/* The ready tasks that can start first. */
static void find_now(machines *m)
{
    double first = 1e9;

    m->now_count = 0;
    for (uint32_t i = 0; i < m->ready_count; i++)
        first = start_of(m, m->ready[i]) < first ? start_of(m, m->ready[i]) : first;
    for (uint32_t i = 0; i < m->ready_count; i++)
        if (start_of(m, m->ready[i]) <= first)
            m->now[m->now_count++] = m->ready[i];
}

static void begin_list(machines *m)
{
    m->ready_count = m->done = 0;
    m->finish = 0;
    memset(m->free_at, 0, sizeof m->free_at);
    for (uint32_t t = 0; t < TASKS; t++) {
        m->waits[t] = m->parents[t];
        m->from[t] = 0;
        if (m->waits[t] == 0)
            m->ready[m->ready_count++] = t;
    }
    find_now(m);
}

static void place(machines *m, uint32_t at)
{
    uint32_t task = m->now[at], machine = m->free_at[1] < m->free_at[0], kept = 0;

    for (uint32_t i = 0; i < m->ready_count; i++)
        if (m->ready[i] != task)
            m->ready[kept++] = m->ready[i];
    m->ready_count = kept;
    double start = m->from[task] > m->free_at[machine] ? m->from[task] : m->free_at[machine];
    double finish = m->free_at[machine] = start + m->time[task];
    m->finish = finish > m->finish ? finish : m->finish;
    for (uint32_t e = m->child_begin[task]; e < m->child_begin[task + 1]; e++) {
        uint32_t child = m->children[e];
        m->from[child] = finish > m->from[child] ? finish : m->from[child];
        if (--m->waits[child] == 0)
            m->ready[m->ready_count++] = child;
    }
    m->done++;
    find_now(m);
}

static void draw_tasks(machines *m, draws *d)
{
    uint32_t edges = 0;

    memset(m->parents, 0, sizeof m->parents);
    for (uint32_t t = 0; t < TASKS; t++) {
        m->child_begin[t] = edges;
        m->time[t] = 1 + (double)(draws_next(d) % 9);
        for (uint32_t child = t + 1; child < TASKS; child++)
            if (draws_next(d) % 5 == 0) {
                m->children[edges++] = child;
                m->parents[child]++;
            }
    }
    m->child_begin[TASKS] = edges;
    for (uint32_t t = TASKS; t-- > 0;) {
        double longest = 0;
        for (uint32_t e = m->child_begin[t]; e < m->child_begin[t + 1]; e++)
            longest = m->rank[m->children[e]] > longest ? m->rank[m->children[e]] : longest;
        m->rank[t] = longest + m->time[t];
        m->inputs[t * TASK_FEATURES] = m->time[t] / 9;
        m->inputs[t * TASK_FEATURES + 1] = m->rank[t] / 30;
    }
}

static bool machines_reset(void *self, uint64_t seed)
{
    machines *m = self;
    draws d = {draws_key(seed, 7, 7)};

    draw_tasks(m, &d);
    m->best = 1e9;
    for (int i = 0; i < LISTS; i++) {
        begin_list(m);
        while (m->done < TASKS)
            place(m, (uint32_t)(draws_next(&d) % m->now_count));
        m->best = m->finish < m->best ? m->finish : m->best;
    }
    begin_list(m);
    m->input = (network_case){&m->shape, m->inputs};
    return true;
}

static bool machines_look(void *self, train_view *out)
{
    machines *m = self;

    if (m->done == TASKS)
        return false;
    *out = (train_view){
        .input = &m->input, .stays = true, .stages = {.rows = m->now, .count = m->now_count}, .time = m->done};
    return true;
}

static bool machines_look_anew(void *self, train_view *out)
{
    bool is_there = machines_look(self, out);

    if (is_there)
        out->stays = false;
    return is_there;
}

static double machines_step(void *self, const train_choice *choice)
{
    machines *m = self;

    double before = m->finish;

    place(m, choice->stage);
    return (before - m->finish) / m->best;
}

static train_choice machines_teach(void *self)
{
    const machines *m = self;
    train_choice best = {0, NONE};

    for (uint32_t i = 1; i < m->now_count; i++)
        if (m->rank[m->now[i]] > m->rank[m->now[best.stage]])
            best.stage = i;
    return best;
}

static bool broken_reset(void *self, uint64_t seed)
{
    if (seed != 13)
        return machines_reset(self, seed);
    return clo_graph_create(NULL, NULL) == CLO_OK; /* it is not, and leaves a line in clo_last_error */
}

const train_environment toy_machines = {
    "machines", NULL, machines_create, free, machines_reset, machines_look, NULL, machines_step, machines_teach,
    NULL,       0};
const train_environment toy_machines_anew = {
    "machines", NULL, machines_create, free, machines_reset, machines_look_anew, NULL, machines_step, machines_teach,
    NULL,       0};
const train_environment toy_broken = {
    "machines", NULL, machines_create, free, broken_reset, machines_look, NULL, machines_step, NULL, NULL, 0};

void toy_machines_network(double *parameters, uint32_t *count, network *net, uint32_t *critic)
{
    lachesis_shape shape = {
        .stage_inputs = TASK_FEATURES, .width = 4, .rounds = 2, .exponent = 12, .has_critic = critic != NULL};

    *count = lachesis_parameters(&shape);
    (void)lachesis_network(&shape, parameters, net, critic);
}
