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
#ifndef RPC_FRAME_H
#define RPC_FRAME_H

#include <msgpack.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_NO_DEADLINE INT64_MAX

enum { FRAME_HEADER = 48, FRAME_MAX = 16 << 20, HOPS_MAX = 8, ENDPOINT_MAX = 128, PUSHBACK_MAX_MS = 3600000 };

typedef enum frame_kind {
    FRAME_REQUEST = 1,
    FRAME_ANSWER = 2,
    FRAME_CANCEL = 3,

    /* Heartbeat: whoever gets a ping answers with a pong at once. Both have no body. */
    FRAME_PING = 4,
    FRAME_PONG = 5
} frame_kind;

/* How a call ended. */
typedef enum reply_status {
    REPLY_OK = 0,

    /* The request is wrong: no other attempt can help. */
    REPLY_INVALID = 1,

    /* No connection, or it broke. */
    REPLY_UNAVAILABLE = 2,

    /* The service sheds load. */
    REPLY_EXHAUSTED = 3,

    /* No time is left, or too little. */
    REPLY_DEADLINE = 4,
    REPLY_STATUSES
} reply_status;

typedef struct frame {
    frame_kind kind;
    uint16_t attempt;
    uint64_t call, run;
    uint32_t task, instance;
    int64_t left_us;
    uint64_t key;
    const void *body;
    size_t body_bytes;
} frame;

typedef enum ask_effect {
    ASK_PURE = 0,

    /* It has an effect, which is applied once for each key. */
    ASK_KEYED = 1,

    /* It has an effect, each time. */
    ASK_ONCE = 2
} ask_effect;

/* The body of a request. */
typedef struct ask {
    /* Expected for this call alone, and from here to the end of the workflow (rank_u). */
    uint64_t work_us, rest_us;

    uint32_t output_bytes;

    ask_effect effect;

    /* Services that are called on the way, each by the one before. */
    uint32_t hops;
    char hop[HOPS_MAX][ENDPOINT_MAX];

    /* Outputs of the predecessors, one behind the other. */
    const void *input;
    size_t input_bytes;
} ask;

/* The body of an answer. */
typedef struct reply {
    reply_status status;

    /* Of UNAVAILABLE: 1: the request has not left. Not sent. */
    uint32_t is_unsent;

    /* Of EXHAUSTED: when to come again, at most PUSHBACK_MAX_MS; -1: never. */
    int64_t pushback_ms;

    /* One line. */
    char text[160];
    const void *output;
    size_t output_bytes;
} reply;

/* Writes the header of `f`, whose body has f->body_bytes. */
void frame_write(unsigned char out[FRAME_HEADER], const frame *f);

/* Reads the frame at the start of `bytes`. Returns its length; 0: it is not whole yet; -1: it is none. */
int64_t frame_read(const unsigned char *bytes, size_t count, frame *out);

/* Bodies. Reading returns 0, or -1 where the body is malformed; what is read points into it. */
void ask_write(msgpack_sbuffer *out, const ask *a);
int ask_read(const frame *f, ask *out);
void reply_write(msgpack_sbuffer *out, const reply *r);
int reply_read(const frame *f, reply *out);

const char *reply_name(reply_status status);

#endif
