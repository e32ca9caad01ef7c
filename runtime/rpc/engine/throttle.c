#include "rpc/engine/throttle.h"

#include <string.h>

#define HEALTH_MAX 10.0
#define RETRIES_MAX 10.0
#define HEDGES_MAX 10.0
#define HEDGES_STORED 3.0
#define RELEARN_US 30000000
#define SAMPLES_MAX 16384

void clo_rpc_throttle_init(clo_rpc_throttle *t)
{
    memset(t, 0, sizeof *t);
    t->health = HEALTH_MAX;
    t->retries = RETRIES_MAX;
}

void clo_rpc_throttle_expect(clo_rpc_throttle *t, int64_t usual_us)
{
    t->usual_us = usual_us;
    t->hedges = usual_us > 0 ? HEDGES_STORED : 0;
}

static void add(double *budget, double more, double most)
{
    *budget = *budget + more < most ? *budget + more : most;
}

static bool is_open(const clo_rpc_throttle *t)
{
    return t->health > HEALTH_MAX / 2;
}

void clo_rpc_throttle_request(clo_rpc_throttle *t)
{
    add(&t->retries, 0.1, RETRIES_MAX);
    add(&t->hedges, 0.05, HEDGES_MAX);
}

void clo_rpc_throttle_success(clo_rpc_throttle *t)
{
    add(&t->health, 0.1, HEALTH_MAX);
    if (is_open(t))
        t->closed_us = 0;
}

void clo_rpc_throttle_failure(clo_rpc_throttle *t, int64_t now_us)
{
    t->health = t->health > 1 ? t->health - 1 : 0;
    if (!is_open(t) && t->closed_us == 0)
        t->closed_us = now_us;
}

static bool take(const clo_rpc_throttle *t, double *budget)
{
    if (!is_open(t) || *budget < 1)
        return false;
    *budget -= 1;
    return true;
}

bool clo_rpc_throttle_take_retry(clo_rpc_throttle *t)
{
    return take(t, &t->retries);
}

bool clo_rpc_throttle_take_hedge(clo_rpc_throttle *t)
{
    return take(t, &t->hedges);
}

static uint32_t bucket_of(int64_t us)
{
    uint64_t x = us > 0 ? (uint64_t)us : 1;
    int octave = 63 - __builtin_clzll(x);

    if (octave >= CLO_RPC_DELAY_OCTAVES)
        return CLO_RPC_DELAY_FINE * CLO_RPC_DELAY_OCTAVES - 1;
    uint64_t part = (x - (UINT64_C(1) << octave)) * CLO_RPC_DELAY_FINE >> octave;
    return (uint32_t)octave * CLO_RPC_DELAY_FINE + (uint32_t)part;
}

/* The upper edge of a bucket. */
static int64_t edge_of(uint32_t bucket)
{
    uint64_t low = UINT64_C(1) << bucket / CLO_RPC_DELAY_FINE;

    return (int64_t)(low + (low * (bucket % CLO_RPC_DELAY_FINE + 1)) / CLO_RPC_DELAY_FINE);
}

static void find_p95(clo_rpc_throttle *t)
{
    uint64_t seen = 0;

    for (uint32_t i = 0; i < CLO_RPC_DELAY_FINE * CLO_RPC_DELAY_OCTAVES; i++) {
        seen += t->buckets[i];
        if (seen * 20 >= (uint64_t)t->samples * 19) {
            t->p95_us = edge_of(i);
            return;
        }
    }
}

static void halve(clo_rpc_throttle *t)
{
    t->samples = 0;
    for (uint32_t i = 0; i < CLO_RPC_DELAY_FINE * CLO_RPC_DELAY_OCTAVES; i++)
        t->samples += t->buckets[i] /= 2;
}

void clo_rpc_throttle_learn(clo_rpc_throttle *t, int64_t took_us, int64_t now_us)
{
    if (t->closed_us != 0 && now_us - t->closed_us > RELEARN_US) {
        memset(t->buckets, 0, sizeof t->buckets);
        t->samples = t->until_next = 0;
        t->p95_us = t->closed_us = 0;
        t->health = HEALTH_MAX;
    }
    if (!is_open(t))
        return;
    t->buckets[bucket_of(took_us)]++;
    if (++t->samples >= SAMPLES_MAX)
        halve(t);
    if (t->samples < CLO_RPC_DELAY_SAMPLES_MIN || t->until_next-- > 0)
        return;
    t->until_next = 15;
    find_p95(t);
}

int64_t clo_rpc_throttle_delay_us(const clo_rpc_throttle *t)
{
    return t->p95_us > 0 ? t->p95_us : t->usual_us;
}

int64_t clo_rpc_throttle_next_copy_us(int64_t now_us, int64_t pushback_ms)
{
    return pushback_ms < 0 ? 0 : now_us + pushback_ms * 1000;
}

int64_t clo_rpc_throttle_backoff_us(uint32_t next, int64_t initial_us, int64_t most_us, double chance)
{
    int64_t most = initial_us;

    for (uint32_t i = 2; i < next && most < most_us; i++)
        most *= 2;
    return (int64_t)((double)(most < most_us ? most : most_us) * chance);
}
