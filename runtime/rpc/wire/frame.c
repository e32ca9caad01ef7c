#include "rpc/wire/frame.h"

#include <string.h>

static void put(unsigned char **at, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *(*at)++ = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char **at, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value = value << 8 | *(*at)++;
    return value;
}

void clo_rpc_frame_write(unsigned char out[CLO_RPC_FRAME_HEADER], const clo_rpc_frame *f)
{
    unsigned char *at = out;

    put(&at, CLO_RPC_FRAME_HEADER - 4 + f->body_bytes, 4);
    put(&at, f->kind, 1);
    put(&at, 0, 1);
    put(&at, f->attempt, 2);
    put(&at, f->call, 8);
    put(&at, f->run, 8);
    put(&at, f->task, 4);
    put(&at, f->instance, 4);
    put(&at, (uint64_t)f->left_us, 8);
    put(&at, f->key, 8);
}

int64_t clo_rpc_frame_read(const unsigned char *bytes, size_t count, clo_rpc_frame *out)
{
    const unsigned char *at = bytes;

    if (count < 4)
        return 0;
    uint64_t length = get(&at, 4);
    if (length < CLO_RPC_FRAME_HEADER - 4 || length > CLO_RPC_FRAME_MAX)
        return -1;
    if (count < length + 4)
        return 0;
    uint64_t kind = get(&at, 1), zero = get(&at, 1);
    if (kind < CLO_RPC_FRAME_REQUEST || kind > CLO_RPC_FRAME_PONG || zero != 0)
        return -1;
    out->kind = (clo_rpc_frame_kind)kind;
    out->attempt = (uint16_t)get(&at, 2);
    out->call = get(&at, 8);
    out->run = get(&at, 8);
    out->task = (uint32_t)get(&at, 4);
    out->instance = (uint32_t)get(&at, 4);
    uint64_t left = get(&at, 8);
    out->left_us = left > INT64_MAX ? 0 : (int64_t)left; /* negative: none is left */
    out->key = get(&at, 8);
    out->body = bytes + CLO_RPC_FRAME_HEADER;
    out->body_bytes = (size_t)length + 4 - CLO_RPC_FRAME_HEADER;
    return (int64_t)length + 4;
}

static void pack_text(msgpack_packer *pack, const char *text)
{
    size_t length = strlen(text);

    msgpack_pack_str(pack, length);
    msgpack_pack_str_body(pack, text, length);
}

static void pack_bytes(msgpack_packer *pack, const void *bytes, size_t count)
{
    msgpack_pack_bin(pack, count);
    if (count > 0)
        msgpack_pack_bin_body(pack, bytes, count);
}

void clo_rpc_ask_write(msgpack_sbuffer *out, const clo_rpc_ask *a)
{
    msgpack_packer pack;

    msgpack_packer_init(&pack, out, msgpack_sbuffer_write);
    msgpack_pack_array(&pack, a->method[0] != '\0' ? 7 : 6);
    msgpack_pack_uint64(&pack, a->work_us);
    msgpack_pack_uint64(&pack, a->rest_us);
    msgpack_pack_uint32(&pack, a->output_bytes);
    msgpack_pack_uint32(&pack, a->effect);
    msgpack_pack_array(&pack, a->hops);
    for (uint32_t i = 0; i < a->hops; i++)
        pack_text(&pack, a->hop[i]);
    pack_bytes(&pack, a->input, a->input_bytes);
    if (a->method[0] != '\0')
        pack_text(&pack, a->method);
}

/* Bytes after the first one of an object of type `first` that say how long it is (in *length_bytes) or are its value
 * (the result); -1: our bodies have none of that type. */
static int bytes_behind(unsigned char first, int *length_bytes)
{
    *length_bytes = 0;
    if (first < 0x80 || first >= 0xe0) /* a small number */
        return 0;
    if (first >= 0xa0 && first < 0xc0) /* a short text */
        return first - 0xa0;
    if (first >= 0xcc && first <= 0xd3) /* a number of 1, 2, 4, 8 bytes */
        return 1 << (first - 0xcc) % 4;
    if ((first >= 0xc4 && first <= 0xc6) || (first >= 0xd9 && first <= 0xdb)) {
        *length_bytes = 1 << (first - (first < 0xd9 ? 0xc4 : 0xd9));
        return 0;
    }
    return -1;
}

/* Numbers, texts, bytes, and arrays of at most 15 of them, whole: msgpack-c takes memory for as many elements as the
 * head of an array names, before it looks whether they are there. */
static int is_plain(const unsigned char *at, size_t count)
{
    const unsigned char *end = at + count;
    uint32_t objects = 1;

    while (objects > 0) {
        int length_bytes = 0;
        if (at == end)
            return 0;
        unsigned char first = *at++;
        objects--;
        if (first >= 0x90 && first < 0xa0) {
            objects += first - 0x90u;
            continue;
        }
        int64_t bytes = bytes_behind(first, &length_bytes);
        if (bytes < 0 || end - at < length_bytes)
            return 0;
        if (length_bytes > 0)
            bytes = (int64_t)get(&at, length_bytes);
        if (end - at < bytes)
            return 0;
        at += bytes;
    }
    return at == end;
}

/* The body as an array of `least` to `most` objects, in `zone`; NULL where it is none. */
static const msgpack_object *read_array(const clo_rpc_frame *f, msgpack_unpacked *zone, uint32_t least, uint32_t most)
{
    size_t offset = 0;

    msgpack_unpacked_init(zone);
    if (!is_plain(f->body, f->body_bytes))
        return NULL;
    if (msgpack_unpack_next(zone, f->body, f->body_bytes, &offset) != MSGPACK_UNPACK_SUCCESS ||
        offset != f->body_bytes || zone->data.type != MSGPACK_OBJECT_ARRAY || zone->data.via.array.size < least ||
        zone->data.via.array.size > most)
        return NULL;
    return zone->data.via.array.ptr;
}

static int read_number(const msgpack_object *object, uint64_t most, uint64_t *out)
{
    if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER || object->via.u64 > most)
        return -1;
    *out = object->via.u64;
    return 0;
}

static int read_text(const msgpack_object *object, char *out, size_t capacity)
{
    if (object->type != MSGPACK_OBJECT_STR || object->via.str.size >= capacity)
        return -1;
    if (object->via.str.size > 0)
        memcpy(out, object->via.str.ptr, object->via.str.size);
    out[object->via.str.size] = '\0';
    return 0;
}

static int read_hops(const msgpack_object *object, clo_rpc_ask *out)
{
    if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size > CLO_RPC_HOPS_MAX)
        return -1;
    out->hops = object->via.array.size;
    for (uint32_t i = 0; i < out->hops; i++)
        if (read_text(&object->via.array.ptr[i], out->hop[i], CLO_RPC_NAME_BYTES) != 0)
            return -1;
    return 0;
}

int clo_rpc_ask_read(const clo_rpc_frame *f, clo_rpc_ask *out)
{
    msgpack_unpacked zone;
    uint64_t output = 0, effect = 0;
    const msgpack_object *at = read_array(f, &zone, 6, 7);
    out->method[0] = '\0';
    int bad = at == NULL || read_number(&at[0], INT64_MAX / 2, &out->work_us) != 0 ||
              read_number(&at[1], INT64_MAX / 2, &out->rest_us) != 0 ||
              read_number(&at[2], CLO_RPC_BYTES_MAX, &output) != 0 || read_number(&at[3], CLO_RPC_ONCE, &effect) != 0 ||
              read_hops(&at[4], out) != 0 || at[5].type != MSGPACK_OBJECT_BIN ||
              (zone.data.via.array.size == 7 && read_text(&at[6], out->method, sizeof out->method) != 0);

    if (!bad) {
        out->output_bytes = (uint32_t)output;
        out->effect = (clo_rpc_effect)effect;
        out->input = at[5].via.bin.ptr;
        out->input_bytes = at[5].via.bin.size;
    }
    msgpack_unpacked_destroy(&zone);
    return bad ? -1 : 0;
}

void clo_rpc_reply_write(msgpack_sbuffer *out, const clo_rpc_reply *r)
{
    msgpack_packer pack;

    msgpack_packer_init(&pack, out, msgpack_sbuffer_write);
    msgpack_pack_array(&pack, 4);
    msgpack_pack_uint32(&pack, r->status);
    msgpack_pack_int64(&pack, r->pushback_ms);
    pack_text(&pack, r->text);
    pack_bytes(&pack, r->output, r->output_bytes);
}

/* A service says what it likes: later than any, or never. */
static int read_pushback(const msgpack_object *object, int64_t *out)
{
    if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        *out = -1;
    else if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        *out = object->via.u64 < CLO_RPC_PUSHBACK_MAX_MS ? (int64_t)object->via.u64 : CLO_RPC_PUSHBACK_MAX_MS;
    else
        return -1;
    return 0;
}

/* It becomes a part of messages of one line. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

int clo_rpc_reply_read(const clo_rpc_frame *f, clo_rpc_reply *out)
{
    msgpack_unpacked zone;
    uint64_t status = 0;
    const msgpack_object *at = read_array(f, &zone, 4, 4);
    int bad = at == NULL || read_number(&at[0], CLO_RPC_REPLY_STATUSES - 1, &status) != 0 ||
              read_pushback(&at[1], &out->pushback_ms) != 0 || read_text(&at[2], out->text, sizeof out->text) != 0 ||
              at[3].type != MSGPACK_OBJECT_BIN;

    if (!bad) {
        out->status = (clo_rpc_reply_status)status;
        make_printable(out->text);
        out->output = at[3].via.bin.ptr;
        out->output_bytes = at[3].via.bin.size;
    }
    msgpack_unpacked_destroy(&zone);
    return bad ? -1 : 0;
}

const char *clo_rpc_reply_name(clo_rpc_reply_status status)
{
    static const char *const names[CLO_RPC_REPLY_STATUSES] = {"ok", "invalid", "unavailable", "exhausted", "deadline"};

    return status < CLO_RPC_REPLY_STATUSES ? names[status] : "?";
}
