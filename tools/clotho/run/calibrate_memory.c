/* calibrate_memory.c - `clotho calibrate --contention`: tasks one at a time on one executor of each kind, in turns alone
 * and beside streams on all other CPUs of its memory. What they lose there says how much of their time is memory traffic
 * (clo_memory_part_of). Turns follow each other closely, so that a machine that changes its speed hits both alike. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/run/calibrate_memory.h"

#include "clotho/common/commands.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 20000000 };

/* Of one kind. */
typedef struct pair {
    calibration *c;
    clo_job *job;
    const char *kind;
    uint32_t executor, own_mbps, beside_mbps;
    int64_t capacity_mbps;
    uint32_t *cpus; /* [count] of the streams */
    uint32_t count;
    clo_profile *alone, *beside;
} pair;

/* Streams that have begun to read. */
static clo_status start_streams(const uint32_t *cpus, uint32_t count, clo_streams **streams)
{
    clo_status status = clo_streams_start(cpus, count, streams);

    if (status == CLO_OK)
        (void)clo_streams_mbps(*streams, LOOK_NS / 10); /* waits for them */
    return status;
}

/* What a stream on that CPU moves alone. */
static clo_status measure_stream(uint32_t cpu, uint32_t *mbps)
{
    clo_streams *streams;
    clo_status status = clo_streams_start(&cpu, 1, &streams);

    if (status != CLO_OK)
        return status;
    *mbps = clo_streams_mbps(streams, LOOK_NS);
    clo_streams_stop(streams);
    return CLO_OK;
}

/* The first CPU of each kind, alone; [kinds], 0: the kind has none. */
static clo_status measure_kinds(const clo_platform *platform, uint32_t *mbps)
{
    clo_status status = CLO_OK;

    for (uint32_t e = 0; e < clo_platform_executors(platform) && status == CLO_OK; e++) {
        const clo_executor *executor = clo_platform_executor(platform, e);
        if (executor->os_index >= 0 && mbps[executor->kind] == 0)
            status = measure_stream((uint32_t)executor->os_index, &mbps[executor->kind]);
    }
    return status;
}

/* The CPUs beside the executor, and what streams on them move if each is alone. */
static void find_others(pair *p, const uint32_t *mbps)
{
    const clo_platform *platform = p->c->in->platform;
    uint64_t sum = 0;
    uint32_t memory;

    p->capacity_mbps = clo_memory_capacity_mbps(platform, p->executor, &memory);
    for (uint32_t e = 0; e < clo_platform_executors(platform); e++) {
        const clo_executor *other = clo_platform_executor(platform, e);
        uint32_t its;
        (void)clo_memory_capacity_mbps(platform, e, &its);
        if (e == p->executor || other->os_index < 0 || its != memory)
            continue;
        p->cpus[p->count++] = (uint32_t)other->os_index;
        sum += mbps[other->kind];
    }
    p->own_mbps = mbps[clo_platform_executor(platform, p->executor)->kind];
    p->beside_mbps = sum > CLO_MEMORY_MBPS_MAX ? CLO_MEMORY_MBPS_MAX : (uint32_t)sum;
}

static int check(const pair *p)
{
    const input *in = p->c->in;

    if (p->capacity_mbps <= 0)
        return complain(in->place,
                        "platform '%s' does not state what its memory moves (clotho.capacity.%s); measure it: clotho "
                        "platform calibrate -o F.xml, and add --platform F.xml",
                        clo_platform_name(in->platform), CLO_MEMORY_RESOURCE);
    if (p->count == 0)
        return complain(
            in->place, "--contention needs another CPU beside '%s', on which something else reads memory; leave it out",
            clo_platform_executor_name(in->platform, p->executor));
    if ((int64_t)p->own_mbps + p->beside_mbps <= p->capacity_mbps)
        note("%s: the CPUs, each alone, read %u MB/s, and the memory moves %lld MB/s: no task slows another one down",
             in->place, p->own_mbps + p->beside_mbps, (long long)p->capacity_mbps);
    return EXIT_GOOD;
}

/* How many entries of the kind have too few samples, also beside. */
static clo_status count_open(const pair *p, uint32_t *open)
{
    clo_profile_entry entry;
    clo_profile *const both[] = {p->alone, p->beside};
    clo_status status = CLO_OK;

    *open = 0;
    for (int b = 0; b < 2 && status == CLO_OK; b++) {
        status = clo_profile_publish(both[b]);
        for (uint32_t i = 0; clo_profile_entry_at(both[b], i, &entry) == CLO_OK; i++)
            *open += strcmp(entry.kind, p->kind) == 0 && entry.samples < CLO_PROFILE_TRUSTED;
    }
    return status;
}

static int run_pair(pair *p)
{
    clo_streams *streams;

    p->c->learned = p->alone;
    int code = p->c->run_round(p->c, p->job);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = start_streams(p->cpus, p->count, &streams);
    if (status != CLO_OK)
        return complain_status(p->c->in->path, status);
    p->c->learned = p->beside;
    code = p->c->run_round(p->c, p->job);
    clo_streams_stop(streams);
    return code;
}

static bool same_key(const clo_profile_entry *a, const clo_profile_entry *b)
{
    return a->version == b->version && a->footprint == b->footprint && strcmp(a->codelet, b->codelet) == 0 &&
           strcmp(a->kind, b->kind) == 0;
}

/* Into `learned`: the times alone of this kind, with their parts. */
static clo_status take(pair *p, clo_profile *learned)
{
    clo_profile_entry alone, beside;
    clo_status status = CLO_OK;

    for (uint32_t i = 0; status == CLO_OK && clo_profile_entry_at(p->alone, i, &alone) == CLO_OK; i++) {
        if (strcmp(alone.kind, p->kind) != 0)
            continue;
        status = clo_profile_add(learned, &alone);
        for (uint32_t k = 0; status == CLO_OK && clo_profile_entry_at(p->beside, k, &beside) == CLO_OK; k++) {
            if (!same_key(&alone, &beside))
                continue;
            clo_memory_part part = clo_memory_part_of(alone.location_ns, beside.location_ns, p->own_mbps,
                                                      p->beside_mbps, p->capacity_mbps);
            status = clo_profile_add_memory_part(learned, &alone, &part);
            p->c->with_part += part.share_q16 > 0;
        }
    }
    const clo_run_spread runs = clo_profile_run_spread(p->alone);
    return status == CLO_OK && runs.runs > 0 ? clo_profile_add_run_spread(learned, &runs) : status;
}

static int calibrate_kind(pair *p, const uint32_t *mbps, uint32_t *rounds)
{
    clo_profile *learned = p->c->learned;
    uint32_t open = 1, ran = 0;

    find_others(p, mbps);
    int code = check(p);
    clo_status status = clo_profile_create(CLO_PROFILE_ENTRIES_MAX, &p->alone);
    if (status == CLO_OK)
        status = clo_profile_create(CLO_PROFILE_ENTRIES_MAX, &p->beside);
    p->c->only = p->executor;
    for (; code == EXIT_GOOD && status == CLO_OK && open > 0 && ran < p->c->options->rounds; ran++) {
        code = run_pair(p);
        if (code == EXIT_GOOD)
            status = count_open(p, &open);
    }
    p->c->learned = learned;
    if (code == EXIT_GOOD && status == CLO_OK)
        status = take(p, learned);
    clo_profile_destroy(p->alone);
    clo_profile_destroy(p->beside);
    *rounds = ran > *rounds ? ran : *rounds;
    return code == EXIT_GOOD && status != CLO_OK ? complain_status(p->c->in->path, status) : code;
}

int calibrate_memory(calibration *c, clo_job *job, uint32_t *rounds)
{
    const clo_platform *platform = c->in->platform;
    uint32_t executors = clo_platform_executors(platform), kinds = clo_platform_kinds(platform);
    uint32_t *mbps = calloc(kinds, sizeof *mbps), *cpus = calloc(executors, sizeof *cpus);

    if (mbps == NULL || cpus == NULL)
        return free(mbps), free(cpus), complain_status(c->in->path, CLO_ERR_MEMORY);
    clo_status status = measure_kinds(platform, mbps);
    int code = status == CLO_OK ? EXIT_GOOD : complain_status(c->in->path, status);

    for (uint32_t k = 0; k < kinds && code == EXIT_GOOD; k++) {
        pair p = {.c = c, .job = job, .kind = clo_platform_kind_name(platform, k), .cpus = cpus};
        while (p.executor < executors && (clo_platform_executor(platform, p.executor)->kind != k ||
                                          clo_platform_executor(platform, p.executor)->os_index < 0))
            p.executor++;
        if (p.executor < executors)
            code = calibrate_kind(&p, mbps, rounds);
        else
            code = complain(c->in->place, "--contention is of CPUs, and kind '%s' has none; leave it out", p.kind);
    }
    free(mbps);
    free(cpus);
    return code;
}
