/* fuzz_rpc_frame.c - frames of examples/rpc and their bodies: what is read lies within the bytes, and written again it
 * reads as the same. The bytes are taken as a stream of frames, and as the body of a request and of an answer. */
#include "frame.h"
#include "fuzz.h"
#include "parcel.h"

#include <string.h>

static bool lies_within(const void *at, size_t bytes, const frame *f)
{
    const unsigned char *begin = f->body, *inner = at;

    return bytes == 0 ||
           (inner >= begin && bytes <= f->body_bytes && inner - begin <= (ptrdiff_t)(f->body_bytes - bytes));
}

static void judge_ask(const frame *f)
{
    ask first, second;
    msgpack_sbuffer text;

    if (ask_read(f, &first) != 0)
        return;
    PROMISE(lies_within(first.input, first.input_bytes, f));
    PROMISE(first.hops <= HOPS_MAX && first.output_bytes <= PARCEL_MAX && first.effect <= ASK_ONCE);
    PROMISE(first.work_us <= INT64_MAX / 2 && first.rest_us <= INT64_MAX / 2);
    for (uint32_t i = 0; i < first.hops; i++)
        PROMISE(strlen(first.hop[i]) < ENDPOINT_MAX);
    msgpack_sbuffer_init(&text);
    ask_write(&text, &first);
    frame again = {.body = text.data, .body_bytes = text.size};
    PROMISE(ask_read(&again, &second) == 0);
    PROMISE(second.work_us == first.work_us && second.rest_us == first.rest_us && second.hops == first.hops);
    PROMISE(second.output_bytes == first.output_bytes && second.effect == first.effect);
    for (uint32_t i = 0; i < first.hops; i++)
        PROMISE(strcmp(first.hop[i], second.hop[i]) == 0);
    PROMISE(second.input_bytes == first.input_bytes &&
            (first.input_bytes == 0 || memcmp(first.input, second.input, first.input_bytes) == 0));
    msgpack_sbuffer_destroy(&text);
}

static void judge_reply(const frame *f)
{
    reply first = {.status = REPLY_OK}, second = {.status = REPLY_OK};
    msgpack_sbuffer text;

    if (reply_read(f, &first) != 0)
        return;
    PROMISE(lies_within(first.output, first.output_bytes, f));
    PROMISE(first.status < REPLY_STATUSES && strlen(first.text) < sizeof first.text);
    PROMISE(first.pushback_ms >= -1 && first.pushback_ms <= PUSHBACK_MAX_MS);
    msgpack_sbuffer_init(&text);
    reply_write(&text, &first);
    frame again = {.body = text.data, .body_bytes = text.size};
    PROMISE(reply_read(&again, &second) == 0);
    PROMISE(second.status == first.status && second.pushback_ms == first.pushback_ms);
    PROMISE(strcmp(first.text, second.text) == 0 && second.output_bytes == first.output_bytes);
    PROMISE(first.output_bytes == 0 || memcmp(first.output, second.output, first.output_bytes) == 0);
    msgpack_sbuffer_destroy(&text);
}

static void judge_frame(const unsigned char *bytes, int64_t length, const frame *f)
{
    unsigned char head[FRAME_HEADER];
    frame again;

    PROMISE(length >= FRAME_HEADER && length <= FRAME_MAX + 4);
    PROMISE(f->body == bytes + FRAME_HEADER && f->body_bytes == (size_t)length - FRAME_HEADER);
    PROMISE(f->left_us >= 0 && f->kind >= FRAME_REQUEST && f->kind <= FRAME_PONG);
    frame_write(head, f);
    if (f->left_us > 0) /* less than nothing is read as nothing */
        PROMISE(memcmp(head, bytes, FRAME_HEADER) == 0);
    for (size_t part = 0; part < (size_t)length; part += part < FRAME_HEADER ? 1 : 997)
        PROMISE(frame_read(bytes, part, &again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    frame f;
    int64_t length = 1;

    for (size_t at = 0; length > 0; at += (size_t)length) {
        length = frame_read(data + at, bytes - at, &f);
        if (length <= 0)
            break;
        judge_frame(data + at, length, &f);
        judge_ask(&f);
        judge_reply(&f);
    }
    f = (frame){.body = data, .body_bytes = bytes};
    judge_ask(&f);
    judge_reply(&f);
    return 0;
}
