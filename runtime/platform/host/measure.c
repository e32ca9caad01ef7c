/* measure.c - the stop-watch part of calibration.
 *
 * A link is measured as a consumer sees it: the producer has just written a buffer and tells the consumer through
 * one cache line; the consumer copies the buffer. The message is measured by a rally of that line (ping-pong), the
 * copy by the consumer's clock alone, for each size; the cost model adds the two. */
#define _GNU_SOURCE
#include "platform/host/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "sync/structure/pingpong.h"

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
#define VISITS 2        /* of each way, in turns: a busy moment of the machine does not spoil all of one */
#define ROUNDS_MIN 2    /* of each visit, however long they take                                   */
#define ROUNDS_WANTED 8 /* of each visit of PATIENT_NS or more: a busy machine gets 4 times as long for them */
#define PATIENT_NS 20000000
#define SHORT_COPY_BYTES 16384u /* costs next to nothing, and varies most: SHORT_REPEATS times a round */
#define SHORT_REPEATS 4
#define LONG_COPY_BYTES \
    65536u            /* takes so long that the thread may lose its CPU, and that a slow clock does not matter */
#define FITTED_MIN 10 /* sizes up to 256 KiB */

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

int64_t clo_measure_median(int64_t *values, size_t count)
{
    assert(count > 0);
    clo_sort_times(values, count);
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

uint64_t clo_link_size(uint32_t index)
{
    return index < CLO_LINK_FITTED ? 512ull << index : 768ull << 2 * (index - CLO_LINK_FITTED);
}

uint32_t clo_link_fitted(int64_t budget_ns)
{
    uint32_t count = CLO_LINK_FITTED;

    /* A round writes and copies about six times the largest size, at a few bytes a ns; and there should be some
     * rounds. */
    while (count > FITTED_MIN && (int64_t)clo_link_size(count - 1) * 16 > budget_ns)
        count--;
    return count;
}

enum { COMMAND_RALLY, COMMAND_WRITE, COMMAND_FLOW, COMMAND_STOP };

/* What the two threads share; plain, handed over with the ball. The partner writes `shared`, the calling thread copies
 * it into `mine`; a flow the other way goes from `other` to `theirs`. */
typedef struct pair {
    clo_pingpong *ball;
    uint32_t turn;
    int command;
    size_t bytes;
    unsigned char value;
    unsigned char *shared, *mine, *other, *theirs;
    int64_t clock_ns, cpu_clock_ns; /* of reading the clock twice with nothing in between */
} pair;

static void *partner(void *argument)
{
    pair *p = argument;
    uint32_t turn = 0;

    for (;;) { /* ends with COMMAND_STOP, which measure_way always sends */
        clo_pingpong_wait(p->ball, ++turn);
        int command = p->command;
        size_t bytes = p->bytes;
        if (command == COMMAND_WRITE || command == COMMAND_FLOW)
            memset(p->shared, p->value, bytes);
        clo_pingpong_pass(p->ball, ++turn);
        if (command == COMMAND_RALLY)
            turn = clo_pingpong_return(p->ball, turn, RALLY_ROUNDS);
        else if (command == COMMAND_FLOW)
            memcpy(p->theirs, p->other, bytes);
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

/* The partner writes; the calling thread copies as soon as it knows. The way of the message does not count. */
static int64_t sample_copy(pair *p, size_t bytes, int what)
{
    bool is_long = bytes >= LONG_COPY_BYTES;

    command(p, what, bytes);
    int64_t start = is_long ? clo_measure_cpu_ns() : clo_clock_ns();
    memcpy(p->mine, p->shared, bytes);
    int64_t ns = is_long ? clo_measure_cpu_ns() - start - p->cpu_clock_ns : clo_clock_ns() - start - p->clock_ns;
    return ns > 0 ? ns : 0;
}

/* A copy after a buffer for the other way was written here; with COMMAND_FLOW the partner copies that meanwhile. */
static int64_t sample_flow(pair *p, size_t bytes, int what)
{
    command(p, COMMAND_WRITE, 0);      /* answered once the partner has finished the copy of the flow before */
    memset(p->other, p->value, bytes); /* it waits for a command now, and does not look at this */
    return sample_copy(p, bytes, what);
}

typedef struct samples {
    int64_t line[SAMPLES_MAX];
    int64_t copy[CLO_LINK_SIZES][SHORT_REPEATS * SAMPLES_MAX];
    size_t copies[CLO_LINK_SIZES];
    int64_t alone[SAMPLES_MAX], together[SAMPLES_MAX];
    size_t count;
} samples;

/* Sizes in another order each round: what a large copy leaves in the caches must not meet always the same one. */
static void sample_copies(pair *p, uint32_t fitted, clo_rng *rng, samples *s)
{
    uint32_t order[SHORT_REPEATS * CLO_LINK_SIZES], count = 0;

    for (uint32_t i = 0; i < CLO_LINK_SIZES; i++)
        for (uint32_t n = clo_link_size(i) <= SHORT_COPY_BYTES ? SHORT_REPEATS : 1;
             n > 0 && clo_link_is_used(i, fitted); n--)
            order[count++] = i;
    for (; count > 0; count--) {
        uint32_t pick = (uint32_t)clo_rng_below(rng, count), i = order[pick];
        order[pick] = order[count - 1];
        s->copy[i][s->copies[i]++] = sample_copy(p, clo_link_size(i), COMMAND_WRITE);
    }
}

/* True if another round is wanted, `rounds` of this visit being done. */
static bool goes_on(size_t rounds, int64_t passed_ns, int64_t budget_ns)
{
    if (rounds < ROUNDS_MIN || passed_ns < budget_ns)
        return true;
    return budget_ns >= PATIENT_NS && rounds < ROUNDS_WANTED && passed_ns < 4 * budget_ns;
}

/* Rounds of all sizes, so that a drift of the machine hits all alike. */
static void measure(pair *p, uint32_t fitted, int64_t budget_ns, clo_rng *rng, samples *s)
{
    size_t flow = clo_link_size(fitted - 1) < CLO_FLOW_BYTES ? clo_link_size(fitted - 1) : CLO_FLOW_BYTES;

    size_t before = s->count;
    int64_t start = clo_clock_ns();

    sample_line(p); /* warm */
    while (s->count < SAMPLES_MAX && goes_on(s->count - before, clo_clock_ns() - start, budget_ns)) {
        s->line[s->count] = sample_line(p);
        sample_copies(p, fitted, rng, s);
        for (size_t turn = 0; turn < 2; turn++) {
            bool is_alone = (s->count + turn) % 2 == 0;
            sample_flow(p, flow, COMMAND_FLOW); /* the same before either */
            int64_t ns = sample_flow(p, flow, is_alone ? COMMAND_WRITE : COMMAND_FLOW);
            (is_alone ? s->alone : s->together)[s->count] = ns;
        }
        s->count++;
    }
}

/* Other programs only add time, so of what one CPU does alone the lower decile is taken; of two that disturb each
 * other, the median. */
static int64_t lower_decile(int64_t *values, size_t count)
{
    clo_sort_times(values, count);
    return values[count / 10];
}

static void evaluate(samples *s, uint32_t fitted, clo_measured_way *out)
{
    *out = (clo_measured_way){.fitted = fitted, .line_ns = lower_decile(s->line, s->count)};
    for (uint32_t i = 0; i < CLO_LINK_SIZES; i++)
        if (clo_link_is_used(i, fitted))
            out->ns[i] = out->line_ns + lower_decile(s->copy[i], s->copies[i]);
    out->alone_ns = clo_measure_median(s->alone, s->count);
    out->together_ns = clo_measure_median(s->together, s->count);
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

static void measure_clocks(pair *p)
{
    p->clock_ns = p->cpu_clock_ns = INT64_MAX;
    for (int i = 0; i < 200; i++) {
        int64_t start = clo_clock_ns(), ns = clo_clock_ns() - start;
        int64_t cpu_start = clo_measure_cpu_ns(), cpu_ns = clo_measure_cpu_ns() - cpu_start;
        p->clock_ns = ns < p->clock_ns ? ns : p->clock_ns;
        p->cpu_clock_ns = cpu_ns < p->cpu_clock_ns ? cpu_ns : p->cpu_clock_ns;
    }
}

/* From the CPU of the partner to that of the calling thread. */
static clo_status measure_way(pair *p, const uint32_t cpus[2], int64_t budget_ns, uint32_t fitted, samples *s)
{
    pthread_t thread = {0};
    clo_status status = clo_measure_pin(cpus[1]);

    p->turn = 0;
    clo_pingpong_pass(p->ball, 0);
    if (status == CLO_OK)
        status = start_partner(p, cpus[0], &thread);
    if (status != CLO_OK)
        return status;
    clo_rng rng = clo_rng_seed(cpus[0] + ((uint64_t)s->count << 32));
    measure_clocks(p);
    measure(p, fitted, budget_ns, &rng, s);
    command(p, COMMAND_STOP, 0);
    pthread_join(thread, NULL);
    return CLO_OK;
}

clo_status clo_measure_link(uint32_t first, uint32_t second, int64_t budget_ns, clo_measured_way out[2])
{
    uint32_t fitted = clo_link_fitted(budget_ns);
    size_t bytes = clo_link_size(fitted - 1);
    pair p = {.ball = clo_pingpong_create(),
              .shared = clo_allocate_aligned(bytes, 1),
              .mine = clo_allocate_aligned(bytes, 1),
              .other = clo_allocate_aligned(bytes, 1),
              .theirs = clo_allocate_aligned(bytes, 1)};
    samples *s = clo_allocate(2, sizeof *s);
    bool complete =
        p.ball != NULL && p.shared != NULL && p.mine != NULL && p.other != NULL && p.theirs != NULL && s != NULL;
    clo_status status = complete ? CLO_OK : clo_fail_memory("calibration");

    for (int visit = 0; visit < 2 * VISITS && status == CLO_OK; visit++) {
        uint32_t cpus[2] = {visit % 2 == 0 ? first : second, visit % 2 == 0 ? second : first};
        status = measure_way(&p, cpus, budget_ns / (2 * VISITS), fitted, &s[visit % 2]);
    }
    for (int way = 0; way < 2 && status == CLO_OK; way++)
        evaluate(&s[way], fitted, &out[way]);
    clo_free(s);
    clo_free(p.theirs);
    clo_free(p.other);
    clo_free(p.mine);
    clo_free(p.shared);
    clo_pingpong_destroy(p.ball);
    return status;
}
