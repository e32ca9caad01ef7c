/* pending.c - bodies that finish later: a thread of its own completes their tokens, in any order.
 *
 * A token with a cancel function keeps its runtime, so its one completion needs no leave, and must succeed. One without
 * may be stale: the runtime must be there, and nobody may end it meanwhile. Each is completed a second time as well. */
#define _GNU_SOURCE
#include "fuzz_api.h"

#include <pthread.h>
#include <unistd.h>

enum { HELD_MAX = 1 << 14 };

typedef struct held {
    clo_token token;
    int code;
    bool keeps; /* it has a cancel function */
} held;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static held table[HELD_MAX];
static uint32_t count, begun; /* begun: places that are kept for others */
static _Atomic bool stops;
static pthread_t driver;
static thread own = {.index = UINT32_MAX};

static void ignore(void *argument)
{
    (void)argument;
}

bool pending_begin(const clo_call *call, uint32_t pends, int code)
{
    held h = {.code = code, .keeps = pends > 1};

    pthread_mutex_lock(&lock);
    bool has_room = count + begun < HELD_MAX;
    begun += has_room;
    pthread_mutex_unlock(&lock);
    if (!has_room)
        return false;
    clo_status status = expect(clo_token_take(call, h.keeps ? ignore : NULL, NULL, &h.token), CLO_OK);
    if (clo_token_take(call, NULL, NULL, &(clo_token){0}) != CLO_ERR_STATE)
        broken("a body has taken two tokens");
    pthread_mutex_lock(&lock);
    begun--;
    if (status == CLO_OK)
        table[count++] = h;
    pthread_mutex_unlock(&lock);
    return status == CLO_OK;
}

/* False: its runtime is there, but somebody else has it alone just now. */
static bool complete_guarded(const held *h)
{
    clo_runtime *runtime;

    for (uint32_t r = 0; r < RUNTIMES; r++) {
        if (atomic_load_explicit(&w.runtimes[r].runtime, memory_order_relaxed) != h->token.runtime)
            continue;
        if (!runtime_use(r, &runtime))
            return false;
        if (runtime == h->token.runtime) {
            (void)expect(clo_token_complete(h->token, h->code), CLO_OK, CLO_ERR_STATE);
            (void)expect(clo_token_complete(h->token, 0), CLO_ERR_STATE);
        }
        use_end(&w.runtimes[r].object, USE_RUNTIME);
    }
    return true;
}

static void put_back(const held *h)
{
    pthread_mutex_lock(&lock);
    begun--;
    table[count++] = *h;
    pthread_mutex_unlock(&lock);
}

static void leave_out(void)
{
    pthread_mutex_lock(&lock);
    begun--;
    pthread_mutex_unlock(&lock);
}

static bool take_any(held *out)
{
    pthread_mutex_lock(&lock);
    bool is_any = count > 0;
    if (is_any) {
        uint32_t at = below(&own, count);
        *out = table[at];
        table[at] = table[--count];
        begun++; /* its place is kept */
    }
    pthread_mutex_unlock(&lock);
    return is_any;
}

static void *drive(void *unused)
{
    held h;

    own.rng = clo_rng_seed(1); /* any, in any order: a token may have to wait for another one's completion */
    for (;;) {
        if (!take_any(&h)) {
            if (atomic_load(&stops))
                return unused;
            (void)usleep(50);
            continue;
        }
        bool is_done = true;
        if (h.keeps)
            (void)expect(clo_token_complete(h.token, h.code), CLO_OK);
        else
            is_done = complete_guarded(&h);
        if (is_done)
            leave_out();
        else
            put_back(&h);
        if (chance(&own, 2))
            (void)usleep(below(&own, 500));
    }
}

void pending_start(void)
{
    atomic_store(&stops, false);
    if (pthread_create(&driver, NULL, drive, NULL) != 0)
        broken("no thread");
}

void pending_stop(void)
{
    atomic_store(&stops, true);
    pthread_join(driver, NULL);
}
