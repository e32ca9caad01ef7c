/* head.c - takes a model apart; see head.h. What fits no part is refused: a network of another shape is run in full. */
#include "learn/infer/head.h"

#include "base/status.h"

#include <stdbool.h>
#include <string.h>

enum { NONE = CLO_MODEL_NONE, ALIGN = 64 };

/* Of a stage's value: written, and by what depends on more than the graph. */
typedef struct known {
    bool is_static[CLO_MODEL_VALUES_MAX];
    /* read by sums over children or stages, as the part of stages, or added to the score */
    bool is_kept[CLO_MODEL_VALUES_MAX];
} known;

static const clo_format_value *value_of(const clo_head *head, uint32_t value)
{
    return &head->model->values[value];
}

static clo_status refuse(const clo_head *head, uint32_t op, const char *why)
{
    return clo_fail(CLO_ERR_UNSUPPORTED, "the model '%.32s' cannot decide step by step: operation %u %s",
                    head->model->header->name, op, why);
}

/* True if all inputs are of the domain, and static where they are of stages. */
static bool is_within(const clo_head *head, const known *k, const clo_format_op *op, uint32_t domain)
{
    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != NONE; i++)
        if (value_of(head, op->in[i])->domain != domain || (domain == CLO_MODEL_STAGE && !k->is_static[op->in[i]]))
            return false;
    return true;
}

static clo_status add_sum(clo_head *head, uint32_t domain, uint32_t op_index)
{
    clo_head_sums *sums = &head->sums[domain];
    const clo_format_op *op = &head->model->ops[op_index];

    if (sums->count == CLO_HEAD_SUMS_MAX)
        return refuse(head, op_index, "is one sum too many");
    sums->list[sums->count++] = (clo_head_sum){op->in[0], sums->numbers};
    sums->numbers += clo_up(value_of(head, op->in[0])->width, CLO_LANES);
    return CLO_OK;
}

static clo_status add_join(clo_head *head, known *k, uint32_t index)
{
    const clo_format_op *op = &head->model->ops[index];

    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != NONE; i++) {
        uint32_t domain = value_of(head, op->in[i])->domain;
        uint32_t *part = domain == CLO_MODEL_STAGE ? &head->stage_part
                         : domain == CLO_MODEL_JOB ? &head->job_part
                                                   : &head->system_part;
        if (*part != NONE || (domain == CLO_MODEL_STAGE && !k->is_static[op->in[i]]))
            return refuse(head, index, "joins two parts of one domain, or a part that is not of the graph alone");
        *part = op->in[i];
    }
    if (head->stage_part == NONE)
        return refuse(head, index, "joins no part of stages");
    k->is_kept[head->stage_part] = true;
    head->chain[head->chain_count++] = (uint16_t)index;
    return CLO_OK;
}

/* The score: the chain and what stages add to it. */
static clo_status add_last_join(clo_head *head, known *k, uint32_t index)
{
    const clo_format_op *op = &head->model->ops[index];

    if (op->in[0] != head->model->ops[head->chain[head->chain_count - 1]].out || op->in[1] == NONE ||
        op->in[2] != NONE || !k->is_static[op->in[1]] || op->out != head->model->header->score)
        return refuse(head, index, "is a join that does not give the score of the head and one part of stages");
    head->last_join = index;
    head->direct = op->in[1];
    k->is_kept[head->direct] = true;
    return CLO_OK;
}

/* A stage's value that depends on its job or on the system. */
static clo_status add_to_head(clo_head *head, known *k, uint32_t index)
{
    const clo_format_op *op = &head->model->ops[index];

    if (op->on != CLO_MODEL_ALL)
        return refuse(head, index, "is for some stages alone, and not of the graph alone");
    if (head->chain_count == 0)
        return op->op == CLO_MODEL_JOIN ? add_join(head, k, index)
                                        : refuse(head, index, "depends on jobs, and is no join");
    if (head->last_join != NONE)
        return refuse(head, index, "goes on behind the score");
    if (op->op == CLO_MODEL_JOIN)
        return add_last_join(head, k, index);
    if (op->in[0] != head->model->ops[head->chain[head->chain_count - 1]].out || op->in[1] != NONE ||
        (op->op != CLO_MODEL_DENSE && op->op != CLO_MODEL_TANH && op->op != CLO_MODEL_LOOKUP))
        return refuse(head, index, "does not go on from the one before it in the head");
    if (head->chain_count == CLO_HEAD_CHAIN_MAX)
        return refuse(head, index, "makes the head too long");
    head->chain[head->chain_count++] = (uint16_t)index;
    return CLO_OK;
}

static clo_status add_op(clo_head *head, known *k, uint32_t index)
{
    const clo_format_op *op = &head->model->ops[index];
    uint32_t domain = value_of(head, op->out)->domain;
    bool is_sum = op->op == CLO_MODEL_SUM;

    if (domain == CLO_MODEL_LIMIT)
        return refuse(head, index, "is for limits, which such a model does not choose");
    if (domain == CLO_MODEL_STAGE && !is_within(head, k, op, CLO_MODEL_STAGE))
        return add_to_head(head, k, index);
    if (is_sum && !is_within(head, k, op, domain - 1))
        return refuse(head, index, "sums up what is not of the graph alone");
    if (!is_sum && !is_within(head, k, op, domain))
        return refuse(head, index, "makes a job depend on all others");
    if (is_sum || op->op == CLO_MODEL_SUM_CHILDREN)
        k->is_kept[op->in[0]] = true;
    k->is_static[op->out] = domain == CLO_MODEL_STAGE;
    head->ops[domain][head->ops_count[domain]++] = (uint16_t)index;
    return is_sum ? add_sum(head, domain - 1, index) : CLO_OK;
}

static void take_apart_inputs(clo_head *head, known *k)
{
    uint32_t next[4] = {0};

    for (uint32_t v = 0; v < head->model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = value_of(head, v);
        k->is_static[v] = value->is_input && value->domain == CLO_MODEL_STAGE;
        head->feature[v] = next[value->domain];
        next[value->domain] += value->is_input ? value->width : 0;
    }
}

static void set_places(clo_head *head, const known *k)
{
    for (uint32_t v = 0; v < head->model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = value_of(head, v);
        uint32_t bytes = clo_up(clo_up(value->width, CLO_LANES) * clo_number_bytes(value->number), ALIGN), *at = NULL;
        if (value->domain == CLO_MODEL_STAGE && !k->is_static[v])
            continue;
        head->place[v] = value->domain == CLO_MODEL_JOB      ? CLO_HEAD_OF_JOB
                         : value->domain == CLO_MODEL_GLOBAL ? CLO_HEAD_OF_SYSTEM
                         : k->is_kept[v]                     ? CLO_HEAD_KEPT
                                                             : CLO_HEAD_SCRATCH;
        at = head->place[v] == CLO_HEAD_OF_JOB      ? &head->job_bytes
             : head->place[v] == CLO_HEAD_OF_SYSTEM ? &head->system_bytes
             : head->place[v] == CLO_HEAD_KEPT      ? &head->record_bytes
                                                    : &head->scratch_bytes;
        head->offset[v] = *at;
        *at += bytes;
    }
}

static uint64_t multiplications(const clo_head *head, const uint16_t *ops, uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const clo_format_op *op = &head->model->ops[ops[i]];
        if (op->op == CLO_MODEL_DENSE)
            sum += (uint64_t)head->model->dense[op->argument].inputs * head->model->dense[op->argument].outputs;
    }
    return sum;
}

static clo_status check_kind(const clo_model *model)
{
    if (model->header->kind == CLO_MODEL_DECIMA || model->header->feature_set != CLO_FEATURES_LACHESIS)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "the model '%.32s' is not of the kind LACHESIS or head with list %d of features",
                        model->header->name, CLO_FEATURES_LACHESIS);
    if (model->header->score == NONE || model->header->limit != NONE)
        return clo_fail(CLO_ERR_UNSUPPORTED, "the model '%.32s' has no scores of stages, or has some of limits",
                        model->header->name);
    return CLO_OK;
}

clo_status clo_head_open(const clo_model *model, uint32_t isa, clo_head *out)
{
    known k = {0};
    clo_status status = check_kind(model);

    *out = (clo_head){
        .model = model, .stage_part = NONE, .job_part = NONE, .system_part = NONE, .last_join = NONE, .direct = NONE};
    take_apart_inputs(out, &k);
    for (uint32_t i = 0; i < model->counts[CLO_PART_OPS] && status == CLO_OK; i++) {
        const clo_format_op *op = &model->ops[i];
        if (op->op == CLO_MODEL_LOOP && op->in[0] != NONE)
            status = refuse(out, i, "is left out where no job has an edge, so jobs depend on one another");
        else if (op->op != CLO_MODEL_LOOP && op->op != CLO_MODEL_END)
            status = add_op(out, &k, i);
    }
    if (status != CLO_OK)
        return status;
    if (out->chain_count == 0 && k.is_static[model->header->score]) { /* of the graph alone: a rule */
        out->direct = model->header->score;
        k.is_kept[out->direct] = true;
    } else if (out->chain_count == 0 ||
               model->ops[out->last_join != NONE ? out->last_join : out->chain[out->chain_count - 1]].out !=
                   model->header->score)
        return clo_fail(CLO_ERR_UNSUPPORTED, "the model '%.32s' cannot decide step by step: no head ends in the score",
                        model->header->name);
    set_places(out, &k);
    for (uint32_t d = CLO_MODEL_JOB; d <= CLO_MODEL_GLOBAL; d++)
        out->multiplications[d - 1] = multiplications(out, out->ops[d], out->ops_count[d]);
    out->multiplications[2] = multiplications(out, out->chain, out->chain_count);
    clo_kernels_select(&out->kernels, isa);
    return CLO_OK;
}
