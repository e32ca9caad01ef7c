/* here.c - calls that no service answers: a handler in this process, on a worker. */
#include "base/memory.h"
#include "rpc/wire/mix.h"
#include "rpc/wire/parcel.h"
#include "rpc/workflow/state.h"

#include <stdio.h>
#include <string.h>

/* The bytes of its own, and the answers of the predecessors, one behind the other. */
static unsigned char *gather(const clo_rpc_method *m, const clo_call *call, size_t *bytes)
{
    *bytes = m->body_bytes;
    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL)
            *bytes += clo_rpc_parcel_bytes(call->inputs[i]);
    unsigned char *body = clo_allocate(1, *bytes + 1), *at = body;
    if (body == NULL)
        return NULL;
    if (m->body_bytes > 0)
        memcpy(at, m->body, m->body_bytes);
    at += m->body_bytes;
    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL) {
            uint32_t count = clo_rpc_parcel_bytes(call->inputs[i]);
            memcpy(at, (const unsigned char *)call->inputs[i] + clo_rpc_parcel_size(0), count);
            at += count;
        }
    return body;
}

int clo_rpc_here(const clo_call *call)
{
    const clo_rpc_method *m = call->argument;
    size_t bytes = 0;
    unsigned char *body = gather(m, call, &bytes);

    if (body == NULL)
        return clo_rpc_engine_fail_here(call, CLO_ERR_MEMORY, "");
    memset(clo_rpc_parcel_answer(call->output), 0, m->output_bytes);
    clo_rpc_request request = {.method = m->method,
                               .body = body,
                               .body_bytes = bytes,
                               .run = m->run,
                               .task = m->task,
                               .instance = call->instance,
                               .attempt = 1,
                               .key = clo_rpc_key(m->run, m->task, call->instance),
                               .effect = m->effect,
                               .left_ns = INT64_MAX,
                               .expected_ns = (int64_t)m->work_us * 1000};
    clo_rpc_answer answer = {.bytes = clo_rpc_parcel_answer(call->output), .room = m->output_bytes};
    clo_status status = m->here(m->here_argument, &request, &answer);
    clo_free(body);
    if (status == CLO_OK && answer.count > answer.room) {
        status = CLO_ERR_ARGUMENT;
        snprintf(answer.text, sizeof answer.text,
                 "the answer has %zu bytes, and there is room for %zu; give the call more", answer.count, answer.room);
    }
    if (status != CLO_OK) {
        answer.text[sizeof answer.text - 1] = '\0';
        return clo_rpc_engine_fail_here(call, status, answer.text);
    }
    clo_rpc_parcel_close(call->output, m->output_bytes, (uint32_t)answer.count);
    return 0;
}
