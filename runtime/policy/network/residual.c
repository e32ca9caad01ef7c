/* residual.c - the policy "parametric" with a small network beside it: what the network says is added to the value of a
 * job, to the bonus of an executor that stays, and to the logarithm of a job's limit. A network that says zero leaves
 * the very decisions of "parametric". Trained by `clotho train decima`. */
#include "base/status.h"
#include "learn/model/builtin.h"
#include "policy/network/parametric.h"
#include "policy/select/by_rank.h"
#include "policy/select/policies.h"

#include <stdio.h>
#include <string.h>

enum { ROOM_BYTES = 8192 };

/* The built-in model for the numbers that `text` names; NULL: there is none. */
static const clo_builtin_model *builtin_for(const char *text)
{
    return strcmp(text, "batch") == 0    ? &clo_builtin_decima_batch
           : strcmp(text, "stream") == 0 ? &clo_builtin_decima_stream
                                         : NULL;
}

/* The argument with its defaults, its numbers and its model. */
static clo_status read_argument(const void *argument, clo_parametric *numbers, void *room, size_t *room_bytes,
                                clo_residual_argument *out)
{
    clo_status status = clo_answers_read(&clo_residual_answers, argument, out);
    const char *text = out->parametric[0] != '\0' ? out->parametric : "batch";

    if (status == CLO_OK)
        status = clo_parametric_parse(text, numbers);
    return status == CLO_OK ? clo_answers_put_model(&clo_residual_answers, builtin_for(text), room, room_bytes, out)
                            : status;
}

/* 0 where the argument is wrong: init will say so. */
static size_t state_bytes(const clo_limits *limits, const void *argument)
{
    _Alignas(16) unsigned char room[ROOM_BYTES];
    size_t room_bytes = sizeof room;
    clo_residual_argument with;
    clo_parametric numbers;

    if (read_argument(argument, &numbers, room, &room_bytes, &with) != CLO_OK)
        return 0;
    return clo_answers_up(clo_parametric_bytes(limits, NULL)) + clo_answers_up(room_bytes) +
           clo_residual_bytes(with.model, limits->jobs);
}

static clo_status init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    unsigned char *room = (unsigned char *)state + clo_answers_up(clo_parametric_bytes(limits, NULL));
    size_t room_bytes = ROOM_BYTES;
    clo_residual_argument with;
    clo_parametric numbers;
    clo_status status = read_argument(clo_view_argument(view), &numbers, room, &room_bytes, &with);

    if (status == CLO_OK)
        clo_parametric_open(state, view, &numbers,
                            clo_residual_open(&with, limits->jobs, room + clo_answers_up(room_bytes)));
    return status;
}

static clo_status parse(const char *text, void *argument)
{
    clo_residual_argument with = CLO_RESIDUAL_ARGUMENT_INIT;
    const char *numbers = text;
    clo_parametric read;
    clo_status status = CLO_OK;

    if (builtin_for(text) != NULL)
        snprintf(with.parametric, sizeof with.parametric, "%s", text);
    else
        status = clo_answers_parse(&clo_residual_answers, text, &numbers, &with);
    if (status == CLO_OK && numbers != NULL)
        status = clo_parametric_parse(numbers, &read);
    if (status == CLO_OK)
        *(clo_residual_argument *)argument = with;
    else
        clo_model_destroy(with.owned);
    return status;
}

const clo_policy clo_policy_residual = {
    .size = sizeof(clo_policy),
    .name = "residual",
    .summary = "parametric, and a small network that adds to values and limits: residual:batch, residual:stream, "
               "residual:FILE[,ARGUMENT of parametric]",
    .state_bytes = state_bytes,
    .job_bytes = clo_by_rank_job_bytes,
    .prepare = clo_by_rank_prepare,
    .init = init,
    .event = clo_parametric_event,
    .decide = clo_parametric_decide,
    .argument_bytes = sizeof(clo_residual_argument),
    .parse = parse,
    .release = clo_answers_release,
};
