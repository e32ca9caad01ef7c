/* measure.c - the stop-watch part of calibration.
 *
 * A link is measured as a consumer sees it: the producer has just written a buffer and tells the consumer through
 * one cache line; the time counts until the consumer has copied the buffer, all on one thread's clock. That is what
 * the cost model calls latency + bytes / bandwidth. */
#define _GNU_SOURCE
#include "platform/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "sync/pingpong.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CPUS 65536
#define MEMORY_BYTES (16u << 20) /* streamed over; each unit takes the next piece */
#define MEMORY_PIECE 8192u
#define RALLY_ROUNDS 200u
#define SAMPLES_MAX 501
#define SAMPLES_MIN 3
#define SIZES 7 /* 1 KiB, 4 KiB ... 4 MiB */

struct clo_affinity {
    pthread_t thread;
    cpu_set_t set; /* the first of CPU_ALLOC_SIZE(CPUS) bytes */
};

clo_status clo_affinity_save(clo_affinity **out)
{
    clo_affinity *affinity = clo_allocate(1, sizeof *affinity + CPU_ALLOC_SIZE(CPUS));

    if (affinity == NULL)
        return clo_fail_memory("a CPU set");
    affinity->thread = pthread_self();
    int error = pthread_getaffinity_np(affinity->thread, CPU_ALLOC_SIZE(CPUS), &affinity->set);
    if (error != 0) {
        clo_free(affinity);
        return clo_fail(CLO_ERR_SYSTEM, "calibrate: the thread's CPUs cannot be read: %s", strerror(error));
    }
    *out = affinity;
    return CLO_OK;
}

void clo_affinity_restore(clo_affinity *affinity)
{
    if (affinity == NULL)
        return;
    pthread_setaffinity_np(affinity->thread, CPU_ALLOC_SIZE(CPUS), &affinity->set); /* was its own: cannot fail */
    clo_free(affinity);
}

/* A set of one CPU; release with clo_free. */
static cpu_set_t *one_cpu(uint32_t cpu)
{
    cpu_set_t *set = cpu < CPUS ? clo_allocate(1, CPU_ALLOC_SIZE(CPUS)) : NULL;

    if (set != NULL)
        CPU_SET_S(cpu, CPU_ALLOC_SIZE(CPUS), set);
    return set;
}

static clo_status cannot_pin(uint32_t cpu, int error)
{
    return clo_fail(CLO_ERR_SYSTEM, "cannot pin a thread to CPU %u: %s; run with permission to use it", cpu,
                    strerror(error));
}

clo_status clo_measure_pin(uint32_t cpu)
{
    cpu_set_t *set = one_cpu(cpu);

    if (set == NULL)
        return cpu < CPUS ? clo_fail_memory("a CPU set") : cannot_pin(cpu, EINVAL);
    int error = pthread_setaffinity_np(pthread_self(), CPU_ALLOC_SIZE(CPUS), set);
    clo_free(set);
    return error == 0 ? CLO_OK : cannot_pin(cpu, error);
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int64_t clo_measure_median(int64_t *values, size_t count)
{
    assert(count > 0);
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

struct clo_work {
    unsigned char *from, *to;
    size_t at;
    uint64_t hash;
    double lanes[4];
};

clo_status clo_work_create(clo_work **out)
{
    clo_work *work = clo_allocate(1, sizeof *work);

    if (work == NULL)
        return clo_fail_memory("calibration");
    work->from = clo_allocate_aligned(MEMORY_BYTES, 1);
    work->to = clo_allocate_aligned(MEMORY_BYTES, 1);
    if (work->from == NULL || work->to == NULL)
        return clo_work_destroy(work), clo_fail_memory("calibration");
    *out = work;
    return CLO_OK;
}

void clo_work_destroy(clo_work *work)
{
    if (work == NULL)
        return;
    clo_free(work->from);
    clo_free(work->to);
    clo_free(work);
}

static void run_integer(clo_work *work, uint64_t units)
{
    uint64_t hash = work->hash;

    for (uint64_t i = 0; i < units * 128; i++)
        hash = clo_mix64(hash + i);
    work->hash = hash;
}

static void run_float(clo_work *work, uint64_t units)
{
    double a = work->lanes[0], b = work->lanes[1], c = work->lanes[2], d = work->lanes[3];

    for (uint64_t i = 0; i < units * 256; i++) { /* converges to 2: never denormal, never infinite */
        a = a * 0.5 + 1.0;
        b = b * 0.5 + 1.0;
        c = c * 0.5 + 1.0;
        d = d * 0.5 + 1.0;
    }
    work->lanes[0] = a, work->lanes[1] = b, work->lanes[2] = c, work->lanes[3] = d;
}

static void run_memory(clo_work *work, uint64_t units)
{
    for (uint64_t i = 0; i < units; i++) {
        memcpy(work->to + work->at, work->from + work->at, MEMORY_PIECE);
        work->at = (work->at + MEMORY_PIECE) % MEMORY_BYTES;
    }
}

int64_t clo_measure_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* cannot fail with this clock */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void clo_work_run(clo_work *work, uint32_t which, uint64_t units)
{
    assert(which < CLO_WORKS);
    if (which == CLO_WORK_INTEGER)
        run_integer(work, units);
    else if (which == CLO_WORK_FLOAT)
        run_float(work, units);
    else
        run_memory(work, units);
}

void clo_measure_fit(const int64_t *bytes, const int64_t *ns, size_t count, int64_t line_ns, int way,
                     clo_measured_link *out)
{
    double w = 0, wx = 0, wxx = 0, wt = 0, wxt = 0, line = (double)line_ns;

    /* Weights 1/t^2: every size counts by its relative error, else the largest alone would decide. */
    for (size_t i = 0; i < count; i++) {
        double x = (double)bytes[i], t = ns[i] > 0 ? (double)ns[i] : 1, u = 1 / (t * t);
        w += u, wx += u * x, wxx += u * x * x, wt += u * t, wxt += u * x * t;
    }
    double determinant = w * wxx - wx * wx;
    double latency = determinant > 0 ? (wt * wxx - wx * wxt) / determinant : line;
    latency = latency > line ? latency : line;
    double slope = wxx > 0 ? (wxt - latency * wx) / wxx : 0;
    slope = slope > 0 ? slope : 0;

    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        double t = ns[i] > 0 ? (double)ns[i] : 1, error = (latency + slope * (double)bytes[i] - t) / t;
        worst = error > worst ? error : -error > worst ? -error : worst;
    }
    out->latency_ns[way] = (int64_t)(latency + 0.5);
    out->ns_per_mib[way] = (int64_t)(slope * (1 << 20) + 0.5);
    out->error_permille[way] = (uint32_t)(1000 * worst + 0.5);
}

enum { COMMAND_RALLY, COMMAND_WRITE, COMMAND_STOP };

/* What the two threads share; plain, handed over with the ball. The partner writes `shared`, the calling thread
 * copies it into `mine`. */
typedef struct pair {
    clo_pingpong *ball;
    uint32_t turn;
    int command;
    size_t bytes;
    unsigned char value;
    unsigned char *shared, *mine;
} pair;

static void *partner(void *argument)
{
    pair *p = argument;
    uint32_t turn = 0;

    for (;;) { /* ends with COMMAND_STOP, which measure_way always sends */
        clo_pingpong_wait(p->ball, ++turn);
        int command = p->command;
        if (command == COMMAND_WRITE)
            memset(p->shared, p->value, p->bytes);
        clo_pingpong_pass(p->ball, ++turn);
        if (command == COMMAND_RALLY)
            turn = clo_pingpong_return(p->ball, turn, RALLY_ROUNDS);
        else if (command == COMMAND_STOP)
            return NULL;
    }
}

static void command(pair *p, int what, size_t bytes)
{
    p->command = what;
    p->bytes = bytes;
    p->value++;
    clo_pingpong_pass(p->ball, p->turn + 1);
    clo_pingpong_wait(p->ball, p->turn + 2);
    p->turn += 2;
}

/* One way of a cache line, in ns. */
static int64_t sample_line(pair *p)
{
    command(p, COMMAND_RALLY, 0);
    int64_t start = clo_clock_ns();
    p->turn = clo_pingpong_serve(p->ball, p->turn, RALLY_ROUNDS);
    return (clo_clock_ns() - start + RALLY_ROUNDS) / (2 * RALLY_ROUNDS);
}

/* The partner writes; the calling thread copies as soon as it knows, and the way of the message is added. */
static int64_t sample_copy(pair *p, size_t bytes, int64_t line_ns)
{
    command(p, COMMAND_WRITE, bytes);
    int64_t start = clo_clock_ns();
    memcpy(p->mine, p->shared, bytes);
    return clo_clock_ns() - start + line_ns;
}

typedef struct samples {
    int64_t line[SAMPLES_MAX];
    int64_t copy[SIZES][SAMPLES_MAX];
    size_t count, sizes;
} samples;

static void measure(pair *p, int64_t budget_ns, samples *s)
{
    int64_t end = clo_clock_ns() + budget_ns;

    s->count = 0;
    s->sizes = budget_ns >= 15000000 ? SIZES : budget_ns >= 4000000 ? SIZES - 1 : SIZES - 2;
    sample_line(p); /* warm */
    while (s->count < SAMPLES_MAX && (s->count < SAMPLES_MIN || clo_clock_ns() < end)) {
        s->line[s->count] = sample_line(p);
        for (size_t i = 0; i < s->sizes; i++)
            s->copy[i][s->count] = sample_copy(p, (size_t)1024 << (2 * i), s->line[s->count]);
        s->count++;
    }
}

static void evaluate(samples *s, int way, clo_measured_link *out)
{
    int64_t bytes[SIZES], ns[SIZES], line = clo_measure_median(s->line, s->count);

    for (size_t i = 0; i < s->sizes; i++) {
        bytes[i] = (int64_t)1024 << (2 * i);
        ns[i] = clo_measure_median(s->copy[i], s->count);
    }
    clo_measure_fit(bytes, ns, s->sizes, line, way, out);
    out->line_ns = line;
}

static clo_status start_partner(pair *p, uint32_t cpu, pthread_t *thread)
{
    cpu_set_t *set = one_cpu(cpu);
    pthread_attr_t attributes;

    if (set == NULL)
        return cpu < CPUS ? clo_fail_memory("a CPU set") : cannot_pin(cpu, EINVAL);
    int error = pthread_attr_init(&attributes);
    if (error == 0) {
        error = pthread_attr_setaffinity_np(&attributes, CPU_ALLOC_SIZE(CPUS), set);
        if (error == 0)
            error = pthread_create(thread, &attributes, partner, p);
        pthread_attr_destroy(&attributes);
    }
    clo_free(set);
    return error == 0 ? CLO_OK : cannot_pin(cpu, error);
}

/* From the CPU of the partner to that of the calling thread. */
static clo_status measure_way(pair *p, uint32_t from, uint32_t to, int64_t budget_ns, samples *s)
{
    pthread_t thread = {0};
    clo_status status = clo_measure_pin(to);

    p->turn = 0;
    clo_pingpong_pass(p->ball, 0);
    if (status == CLO_OK)
        status = start_partner(p, from, &thread);
    if (status != CLO_OK)
        return status;
    measure(p, budget_ns, s);
    command(p, COMMAND_STOP, 0);
    pthread_join(thread, NULL);
    return CLO_OK;
}

clo_status clo_measure_link(uint32_t first, uint32_t second, int64_t budget_ns, clo_measured_link *out)
{
    pair p = {.ball = clo_pingpong_create(),
              .shared = clo_allocate_aligned(CLO_LINK_BYTES_MAX, 1),
              .mine = clo_allocate_aligned(CLO_LINK_BYTES_MAX, 1)};
    samples *s = clo_allocate(1, sizeof *s);
    bool complete = p.ball != NULL && p.shared != NULL && p.mine != NULL && s != NULL;
    clo_status status = complete ? CLO_OK : clo_fail_memory("calibration");

    for (int way = 0; way < 2 && status == CLO_OK; way++) {
        status = measure_way(&p, way == 0 ? first : second, way == 0 ? second : first, budget_ns / 2, s);
        if (status == CLO_OK)
            evaluate(s, way, out);
    }
    clo_free(s);
    clo_free(p.mine);
    clo_free(p.shared);
    clo_pingpong_destroy(p.ball);
    return status;
}
