/* fuzz_rpc_frame.c - frames of libclotho-rpc and their bodies: what is read lies within the bytes, and written again it
 * reads as the same. The bytes are taken as a stream of frames, and as the body of a request and of an answer. */
#include "rpc/wire/frame.h"
#include "fuzz.h"
#include "rpc/wire/parcel.h"

#include <string.h>

static bool lies_within(const void *at, size_t bytes, const clo_rpc_frame *f)
{
    const unsigned char *begin = f->body, *inner = at;

    return bytes == 0 ||
           (inner >= begin && bytes <= f->body_bytes && inner - begin <= (ptrdiff_t)(f->body_bytes - bytes));
}

static void judge_ask(const clo_rpc_frame *f)
{
    clo_rpc_ask first, second;
    msgpack_sbuffer text;

    if (clo_rpc_ask_read(f, &first) != 0)
        return;
    PROMISE(lies_within(first.input, first.input_bytes, f));
    PROMISE(first.hops <= CLO_RPC_HOPS_MAX && first.output_bytes <= CLO_RPC_BYTES_MAX && first.effect <= CLO_RPC_ONCE);
    PROMISE(first.work_us <= INT64_MAX / 2 && first.rest_us <= INT64_MAX / 2);
    for (uint32_t i = 0; i < first.hops; i++)
        PROMISE(strlen(first.hop[i]) < CLO_RPC_NAME_BYTES);
    msgpack_sbuffer_init(&text);
    clo_rpc_ask_write(&text, &first);
    clo_rpc_frame again = {.body = text.data, .body_bytes = text.size};
    PROMISE(clo_rpc_ask_read(&again, &second) == 0);
    PROMISE(second.work_us == first.work_us && second.rest_us == first.rest_us && second.hops == first.hops);
    PROMISE(second.output_bytes == first.output_bytes && second.effect == first.effect);
    for (uint32_t i = 0; i < first.hops; i++)
        PROMISE(strcmp(first.hop[i], second.hop[i]) == 0);
    PROMISE(strlen(first.method) < sizeof first.method && strcmp(first.method, second.method) == 0);
    PROMISE(second.input_bytes == first.input_bytes &&
            (first.input_bytes == 0 || memcmp(first.input, second.input, first.input_bytes) == 0));
    msgpack_sbuffer_destroy(&text);
}

static void judge_reply(const clo_rpc_frame *f)
{
    clo_rpc_reply first = {.status = CLO_RPC_REPLY_OK}, second = {.status = CLO_RPC_REPLY_OK};
    msgpack_sbuffer text;

    if (clo_rpc_reply_read(f, &first) != 0)
        return;
    PROMISE(lies_within(first.output, first.output_bytes, f));
    PROMISE(first.status < CLO_RPC_REPLY_STATUSES && strlen(first.text) < sizeof first.text);
    PROMISE(first.pushback_ms >= -1 && first.pushback_ms <= CLO_RPC_PUSHBACK_MAX_MS);
    msgpack_sbuffer_init(&text);
    clo_rpc_reply_write(&text, &first);
    clo_rpc_frame again = {.body = text.data, .body_bytes = text.size};
    PROMISE(clo_rpc_reply_read(&again, &second) == 0);
    PROMISE(second.status == first.status && second.pushback_ms == first.pushback_ms);
    PROMISE(strcmp(first.text, second.text) == 0 && second.output_bytes == first.output_bytes);
    PROMISE(first.output_bytes == 0 || memcmp(first.output, second.output, first.output_bytes) == 0);
    msgpack_sbuffer_destroy(&text);
}

static void judge_frame(const unsigned char *bytes, int64_t length, const clo_rpc_frame *f)
{
    unsigned char head[CLO_RPC_FRAME_HEADER];
    clo_rpc_frame again;

    PROMISE(length >= CLO_RPC_FRAME_HEADER && length <= CLO_RPC_FRAME_MAX + 4);
    PROMISE(f->body == bytes + CLO_RPC_FRAME_HEADER && f->body_bytes == (size_t)length - CLO_RPC_FRAME_HEADER);
    PROMISE(f->left_us >= 0 && f->kind >= CLO_RPC_FRAME_REQUEST && f->kind <= CLO_RPC_FRAME_PONG);
    clo_rpc_frame_write(head, f);
    if (f->left_us > 0) /* less than nothing is read as nothing */
        PROMISE(memcmp(head, bytes, CLO_RPC_FRAME_HEADER) == 0);
    for (size_t part = 0; part < (size_t)length; part += part < CLO_RPC_FRAME_HEADER ? 1 : 997)
        PROMISE(clo_rpc_frame_read(bytes, part, &again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_rpc_frame f;
    int64_t length = 1;

    for (size_t at = 0; length > 0; at += (size_t)length) {
        length = clo_rpc_frame_read(data + at, bytes - at, &f);
        if (length <= 0)
            break;
        judge_frame(data + at, length, &f);
        judge_ask(&f);
        judge_reply(&f);
    }
    f = (clo_rpc_frame){.body = data, .body_bytes = bytes};
    judge_ask(&f);
    judge_reply(&f);
    return 0;
}
