/* frame.h - what travels over TCP: a header of fixed size, then a body in msgpack.
 *
 *   length    4 bytes: of all that follows
 *   kind      1 byte, and one that is 0
 *   attempt   2 bytes, from 1
 *   call      8 bytes: the caller's number for the call; answers and cancels repeat it
 *   run       8 bytes
 *   task      4 bytes
 *   instance  4 bytes
 *   left      8 bytes: microseconds until the deadline; FRAME_NO_DEADLINE: none
 *   key       8 bytes: idempotency key, the same for all attempts; 0: none
 *   body
 *
 * All numbers are big-endian. A deadline travels as time left, so hosts need no common clock. */
#ifndef CLO_RPC_WIRE_FRAME_H
#define CLO_RPC_WIRE_FRAME_H

#include <clotho/rpc.h>
#include <msgpack.h>
#include <stddef.h>
#include <stdint.h>

#define CLO_RPC_FRAME_NO_DEADLINE INT64_MAX

enum { CLO_RPC_FRAME_HEADER = 48, CLO_RPC_FRAME_MAX = 16 << 20, CLO_RPC_PUSHBACK_MAX_MS = 3600000 };

typedef enum clo_rpc_frame_kind {
    CLO_RPC_FRAME_REQUEST = 1,
    CLO_RPC_FRAME_ANSWER = 2,
    CLO_RPC_FRAME_CANCEL = 3,

    /* Heartbeat: whoever gets a ping answers with a pong at once. Both have no body. */
    CLO_RPC_FRAME_PING = 4,
    CLO_RPC_FRAME_PONG = 5
} clo_rpc_frame_kind;

/* How a call ended. */
typedef enum clo_rpc_reply_status {
    CLO_RPC_REPLY_OK = 0,

    /* The request is wrong: no other attempt can help. */
    CLO_RPC_REPLY_INVALID = 1,

    /* No connection, or it broke. */
    CLO_RPC_REPLY_UNAVAILABLE = 2,

    /* The service sheds load. */
    CLO_RPC_REPLY_EXHAUSTED = 3,

    /* No time is left, or too little. */
    CLO_RPC_REPLY_DEADLINE = 4,
    CLO_RPC_REPLY_STATUSES
} clo_rpc_reply_status;

typedef struct clo_rpc_frame {
    clo_rpc_frame_kind kind;
    uint16_t attempt;
    uint64_t call, run;
    uint32_t task, instance;
    int64_t left_us;
    uint64_t key;
    const void *body;
    size_t body_bytes;
} clo_rpc_frame;

/* The body of a request. */
typedef struct clo_rpc_ask {
    /* Expected for this call alone, and from here to the end of the workflow (rank_u). */
    uint64_t work_us, rest_us;

    uint32_t output_bytes;

    clo_rpc_effect effect;

    /* Services that are called on the way, each by the one before. */
    uint32_t hops;
    char hop[CLO_RPC_HOPS_MAX][CLO_RPC_NAME_BYTES];

    /* "": none is named. */
    char method[CLO_RPC_NAME_BYTES];

    /* The body: bytes of the call's own, and outputs of the predecessors, one behind the other. */
    const void *input;
    size_t input_bytes;
} clo_rpc_ask;

/* The body of an answer. */
typedef struct clo_rpc_reply {
    clo_rpc_reply_status status;

    /* Of UNAVAILABLE: 1: the request has not left. Not sent. */
    uint32_t is_unsent;

    /* Of EXHAUSTED: when to come again, at most PUSHBACK_MAX_MS; -1: never. */
    int64_t pushback_ms;

    /* One line. */
    char text[160];
    const void *output;
    size_t output_bytes;
} clo_rpc_reply;

/* Writes the header of `f`, whose body has f->body_bytes. */
void clo_rpc_frame_write(unsigned char out[CLO_RPC_FRAME_HEADER], const clo_rpc_frame *f);

/* Reads the frame at the start of `bytes`. Returns its length; 0: it is not whole yet; -1: it is none. */
int64_t clo_rpc_frame_read(const unsigned char *bytes, size_t count, clo_rpc_frame *out);

/* Bodies. Reading returns 0, or -1 where the body is malformed; what is read points into it. */
void clo_rpc_ask_write(msgpack_sbuffer *out, const clo_rpc_ask *a);
int clo_rpc_ask_read(const clo_rpc_frame *f, clo_rpc_ask *out);
void clo_rpc_reply_write(msgpack_sbuffer *out, const clo_rpc_reply *r);
int clo_rpc_reply_read(const clo_rpc_frame *f, clo_rpc_reply *out);

const char *clo_rpc_reply_name(clo_rpc_reply_status status);

#endif
