/* residual.c - the policy "parametric" with a small network beside it: what the network says is added to the value of a
 * job, to the bonus of an executor that stays, and to the logarithm of a job's limit. A network that says zero leaves
 * the very decisions of "parametric". Trained by `clotho train decima`. */
#include "base/memory.h"
#include "base/status.h"
#include "learn/model/builtin.h"
#include "policy/network/parametric.h"
#include "policy/select/by_rank.h"
#include "policy/select/policies.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, ROOM_BYTES = 8192 };

/* The built-in model for the numbers that `text` names; NULL: there is none. */
static const clo_builtin_model *builtin_for(const char *text)
{
    return strcmp(text, "batch") == 0    ? &clo_builtin_decima_batch
           : strcmp(text, "stream") == 0 ? &clo_builtin_decima_stream
                                         : NULL;
}

/* The argument with its defaults, its numbers and its model, the built-in one opened in `room`.
 *   room_bytes  room that there is; receives what the built-in model takes, or 0. */
static clo_status read_argument(const void *argument, clo_parametric *numbers, void *room, size_t *room_bytes,
                                clo_residual_argument *out)
{
    *out = (clo_residual_argument)CLO_RESIDUAL_ARGUMENT_INIT;
    clo_status status = clo_config_read(out, sizeof *out, argument, "clo_residual_argument");
    size_t has_bytes = *room_bytes;

    *room_bytes = 0;
    if (status == CLO_OK && memchr(out->parametric, '\0', sizeof out->parametric) == NULL)
        status = clo_fail(CLO_ERR_ARGUMENT, "clo_residual_argument: the numbers of 'parametric' have no end");
    if (status != CLO_OK)
        return status;
    if (out->parametric[0] == '\0')
        snprintf(out->parametric, sizeof out->parametric, "batch");
    const clo_builtin_model *builtin = out->model == NULL ? builtin_for(out->parametric) : NULL;
    if (builtin != NULL) {
        *room_bytes = clo_builtin_model_bytes(builtin);
        status = *room_bytes <= has_bytes ? clo_builtin_model_open(builtin, room, &out->model) : CLO_ERR_LIMIT;
    }
    if (status == CLO_OK)
        status = clo_residual_check(out->model);
    return status == CLO_OK ? clo_parametric_parse(out->parametric, numbers) : status;
}

static size_t up(size_t bytes)
{
    return (bytes + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
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
    return up(clo_parametric_bytes(limits, NULL)) + up(room_bytes) + clo_residual_bytes(with.model, limits->jobs);
}

static clo_status init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    unsigned char *room = (unsigned char *)state + up(clo_parametric_bytes(limits, NULL));
    size_t room_bytes = ROOM_BYTES;
    clo_residual_argument with;
    clo_parametric numbers;
    clo_status status = read_argument(clo_view_argument(view), &numbers, room, &room_bytes, &with);

    if (status == CLO_OK)
        clo_parametric_open(state, view, &numbers, clo_residual_open(&with, limits->jobs, room + up(room_bytes)));
    return status;
}

static clo_status refuse(const char *why)
{
    return clo_fail(CLO_ERR_ARGUMENT,
                    "policy 'residual': the argument %s; write batch, stream, FILE, or FILE,ARGUMENT as 'parametric' "
                    "takes it",
                    why);
}

static clo_status parse(const char *text, void *argument)
{
    clo_residual_argument with = CLO_RESIDUAL_ARGUMENT_INIT;
    size_t length = strcspn(text, ",");
    const char *numbers = text[length] == ',' ? text + length + 1 : "batch";
    bool is_builtin = strcmp(text, "batch") == 0 || strcmp(text, "stream") == 0;
    clo_parametric read;
    char path[PATH_BYTES];

    if (length == 0)
        return refuse("begins with no file");
    if (length >= sizeof path || strlen(numbers) >= sizeof with.parametric)
        return refuse("is too long");
    clo_status status = clo_parametric_parse(numbers, &read);
    if (status != CLO_OK)
        return status;
    snprintf(path, sizeof path, "%.*s", (int)length, text);
    snprintf(with.parametric, sizeof with.parametric, "%s", is_builtin ? text : numbers);
    if (!is_builtin) {
        status = clo_model_load(path, &with.owned);
        with.model = with.owned;
    }
    if (status == CLO_OK && !is_builtin)
        status = clo_residual_check(with.model);
    if (status == CLO_OK)
        *(clo_residual_argument *)argument = with;
    else
        clo_model_destroy(with.owned);
    return status;
}

static void release(const void *argument)
{
    clo_model_destroy(((const clo_residual_argument *)argument)->owned);
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
    .release = release,
};
