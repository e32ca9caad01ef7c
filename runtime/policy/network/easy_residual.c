/* easy_residual.c - the policy "easy-parametric" with a small network beside it: what the network says is added to the
 * score of each instance that may start, and to whether it may start now (easy_network.h). A network that says zero leaves
 * the very decisions of "easy-parametric". Trained by `clotho train easy-residual`. */
#include "learn/model/builtin.h"
#include "policy/network/easy_parametric.h"
#include "policy/select/policies.h"

enum { ROOM_BYTES = 8192 };

typedef struct easy_residual_state {
    clo_easy easy;
    clo_job_queue queue;
} easy_residual_state;

/* The argument with its defaults, its numbers and its model. */
static clo_status read_argument(const void *argument, clo_easy_numbers *numbers, void *room, size_t *room_bytes,
                                clo_residual_argument *out)
{
    clo_status status = clo_answers_read(&clo_easy_answers, argument, out);

    *numbers = clo_easy_built_in;
    if (status == CLO_OK && out->parametric[0] != '\0')
        status = clo_easy_parse(out->parametric, numbers);
    return status == CLO_OK
               ? clo_answers_put_model(&clo_easy_answers, &clo_builtin_easy_residual, room, room_bytes, out)
               : status;
}

static size_t before_model(const clo_limits *limits)
{
    return clo_answers_up(sizeof(easy_residual_state) + clo_job_queue_bytes(limits->jobs));
}

/* 0 where the argument is wrong: init will say so. */
static size_t state_bytes(const clo_limits *limits, const void *argument)
{
    _Alignas(16) unsigned char room[ROOM_BYTES];
    size_t room_bytes = sizeof room;
    clo_residual_argument with;
    clo_easy_numbers numbers;

    if (read_argument(argument, &numbers, room, &room_bytes, &with) != CLO_OK)
        return 0;
    return before_model(limits) + clo_answers_up(room_bytes) + clo_easy_network_bytes(with.model);
}

static size_t job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_easy_job_bytes(cost);
}

static clo_status prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    (void)argument;
    clo_easy_prepare(job_state, cost);
    return CLO_OK;
}

static clo_status init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    unsigned char *room = (unsigned char *)state + before_model(limits);
    easy_residual_state *s = state;
    size_t room_bytes = ROOM_BYTES;
    clo_residual_argument with;
    clo_easy_numbers numbers;
    clo_status status = read_argument(clo_view_argument(view), &numbers, room, &room_bytes, &with);

    if (status != CLO_OK)
        return status;
    clo_job_queue_open(&s->queue, s + 1, limits->jobs);
    clo_easy_open(&s->easy, &numbers, clo_easy_network_open(&with, room + clo_answers_up(room_bytes)), false);
    return CLO_OK;
}

static void event(void *state, const clo_view *view, const clo_event *event)
{
    easy_residual_state *s = state;

    clo_easy_queue_event(&s->easy, &s->queue, view, event);
}

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    easy_residual_state *s = state;

    return clo_easy_decide(&s->easy, &s->queue, view, choice);
}

static clo_status parse(const char *text, void *argument)
{
    clo_residual_argument with;
    const char *numbers;
    clo_easy_numbers read;
    clo_status status = clo_answers_parse(&clo_easy_answers, text, &numbers, &with);

    if (status != CLO_OK)
        return status;
    if (numbers != NULL)
        status = clo_easy_parse(numbers, &read);
    if (status == CLO_OK)
        *(clo_residual_argument *)argument = with;
    else
        clo_model_destroy(with.owned);
    return status;
}

const clo_policy clo_policy_easy_residual = {
    .size = sizeof(clo_policy),
    .name = "easy-residual",
    .summary =
        "easy-parametric, and a small network that adds to scores and may let what has room wait: easy-residual, "
        "easy-residual:FILE[,ARGUMENT of easy-parametric]",
    .state_bytes = state_bytes,
    .job_bytes = job_bytes,
    .prepare = prepare,
    .init = init,
    .event = event,
    .decide = decide,
    .argument_bytes = sizeof(clo_residual_argument),
    .parse = parse,
    .release = clo_answers_release,
};
