/* Links by groups: what is kept of matrices equals the matrices, whatever executors share a memory, and what sums up over
 * pairs of executors is what a walk over all pairs finds. */
#include "fault.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "platform/model/platform.h"

#include <string.h>

#define EXECUTORS 24u
#define CUTS 2u
#define CASES 600

/* Matrices over executors, and the same by groups. */
typedef struct links_case {
    clo_executor executors[EXECUTORS];
    uint32_t count, groups, group_of[EXECUTORS], cuts_count;
    uint64_t cuts[CUTS];
    int64_t latency_ns[EXECUTORS * EXECUTORS], group_latency_ns[EXECUTORS * EXECUTORS];
    double bandwidth[(1 + CUTS) * EXECUTORS * EXECUTORS], group_bandwidth[(1 + CUTS) * EXECUTORS * EXECUTORS];
} links_case;

/* A bandwidth of few, so that links are often equal; 0: infinite. */
static double draw_bandwidth(clo_rng *rng)
{
    static const double some[] = {0, 0.5, 3, 10};
    return some[clo_rng_below(rng, 4)];
}

/* Groups are within a memory, or, in each third case, across memories. */
static links_case draw(uint64_t seed)
{
    clo_rng rng = clo_rng_seed(seed);
    links_case c = {.count = 1 + clo_rng_below(&rng, EXECUTORS)};
    uint32_t memories = 1 + clo_rng_below(&rng, c.count), n = c.count;
    bool is_across = seed % 3 == 0;

    c.groups = 1 + clo_rng_below(&rng, c.count < 6 ? c.count : 6);
    c.cuts_count = clo_rng_below(&rng, CUTS + 1);
    for (uint32_t k = 0; k < c.cuts_count; k++)
        c.cuts[k] = 1000 * (k + 1);
    for (uint32_t e = 0; e < n; e++) {
        uint32_t memory = clo_rng_below(&rng, memories);
        c.executors[e] = (clo_executor){0, 0, memory, -1, {65536, 65536, 65536, 65536}};
        c.group_of[e] = is_across ? clo_rng_below(&rng, c.groups) : memory % c.groups;
    }
    for (uint32_t i = 0; i < c.groups * c.groups; i++) {
        c.group_latency_ns[i] = 100 * (int64_t)clo_rng_below(&rng, 3);
        for (uint32_t k = 0; k <= c.cuts_count; k++)
            c.group_bandwidth[k * c.groups * c.groups + i] = draw_bandwidth(&rng);
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            uint32_t cell = c.group_of[a] * c.groups + c.group_of[b];
            c.latency_ns[a * n + b] = c.group_latency_ns[cell];
            for (uint32_t k = 0; k <= c.cuts_count; k++)
                c.bandwidth[k * n * n + a * n + b] = c.group_bandwidth[k * c.groups * c.groups + cell];
        }
    return c;
}

static clo_platform *create(const links_case *c, bool by_groups)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    uint32_t rows = by_groups ? c->groups : c->count;
    const double *bandwidth = by_groups ? c->group_bandwidth : c->bandwidth;
    clo_platform *p;

    desc.executors_count = c->count;
    desc.executors = c->executors;
    desc.kinds_count = 1;
    desc.latency_ns = by_groups ? c->group_latency_ns : c->latency_ns;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.cuts_count = c->cuts_count;
    desc.cut_bytes = c->cuts;
    desc.bandwidth_beyond = bandwidth + (size_t)rows * rows;
    desc.groups_count = by_groups ? c->groups : 0;
    desc.group_of = by_groups ? c->group_of : NULL;
    ok(clo_platform_create(&desc, &p));
    return p;
}

/* What a transfer takes by the matrices, from the words of platform.h alone. */
static int64_t transfer_ns(const links_case *c, uint32_t from, uint32_t to, uint64_t bytes)
{
    size_t n = c->count, cell = from * n + to;
    int64_t ns = c->latency_ns[cell];
    uint64_t begin = 0;

    if (from == to || c->executors[from].memory == c->executors[to].memory)
        return 0;
    for (uint32_t k = 0; k <= c->cuts_count; k++) {
        double bandwidth = c->bandwidth[k * n * n + cell];
        uint64_t end = k < c->cuts_count && c->cuts[k] < bytes ? c->cuts[k] : bytes;
        uint64_t q32 = bandwidth > 0 ? (uint64_t)(0x1p32 / bandwidth + 0.5) : 0;
        ns = clo_link_ns(ns, q32, end - begin);
        begin = end;
        if (end == bytes)
            break;
    }
    return ns;
}

static bool is_same_source(const links_case *c, uint32_t a, uint32_t b)
{
    if (c->executors[a].memory != c->executors[b].memory)
        return false;
    for (uint32_t to = 0; to < c->count; to++)
        if (c->executors[to].memory != c->executors[a].memory)
            for (uint64_t bytes = 0; bytes <= 4000; bytes += 500)
                if (transfer_ns(c, a, to, bytes) != transfer_ns(c, b, to, bytes))
                    return false;
    return true;
}

static void check_transfers(const links_case *c, const clo_platform *p, uint64_t seed)
{
    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = 0; b < c->count; b++) {
            for (uint64_t bytes = 0; bytes <= 4000; bytes += 500)
                if (clo_platform_transfer_ns(p, bytes, a, b) != transfer_ns(c, a, b, bytes))
                    fail_msg("seed %llu: %llu bytes from %u to %u", (unsigned long long)seed, (unsigned long long)bytes,
                             a, b);
            if ((p->source_of[a] == p->source_of[b]) != is_same_source(c, a, b))
                fail_msg("seed %llu: sources of %u and %u", (unsigned long long)seed, a, b);
        }
    for (uint32_t e = 0, seen = 0; e < c->count; e++) { /* numbered as they first come up */
        assert_true(p->source_of[e] <= seen);
        if (p->source_of[e] == seen)
            assert_int_equal(p->source_first[seen++], e);
        if (e + 1 == c->count)
            assert_int_equal(p->sources_count, seen);
    }
}

static void check_spans(const links_case *c, const clo_platform *p, uint64_t seed)
{
    uint32_t width = 0;

    for (uint32_t k = 0; k < p->pieces_count; k++) {
        clo_link_span found = {.latency_least_ns = INT64_MAX, .ns_per_byte_least_q32 = UINT64_MAX};
        for (uint32_t a = 0; a < c->count; a++)
            for (uint32_t b = 0; b < c->count; b++) {
                size_t cell = clo_platform_cell(p, k, a, b);
                int64_t ns = p->latency_ns[cell];
                uint64_t slope = p->ns_per_byte_q32[cell];
                if (c->executors[a].memory == c->executors[b].memory)
                    continue;
                found.pairs++;
                found.finite += slope > 0;
                found.latency_sum_ns += (uint64_t)ns;
                found.ns_per_byte_sum_q32 += slope;
                found.inverse_sum += slope > 0 ? ((clo_u128)1 << 95) / slope : 0;
                found.latency_least_ns = ns < found.latency_least_ns ? ns : found.latency_least_ns;
                found.latency_most_ns = ns > found.latency_most_ns ? ns : found.latency_most_ns;
                found.ns_per_byte_least_q32 = slope < found.ns_per_byte_least_q32 ? slope : found.ns_per_byte_least_q32;
                found.ns_per_byte_most_q32 = slope > found.ns_per_byte_most_q32 ? slope : found.ns_per_byte_most_q32;
            }
        const clo_link_span *span = &p->spans[k];
        if (found.pairs == 0)
            found = (clo_link_span){0};
        if (found.pairs != span->pairs || found.finite != span->finite ||
            found.latency_sum_ns != span->latency_sum_ns || found.ns_per_byte_sum_q32 != span->ns_per_byte_sum_q32 ||
            found.inverse_sum != span->inverse_sum || found.latency_least_ns != span->latency_least_ns ||
            found.latency_most_ns != span->latency_most_ns ||
            found.ns_per_byte_least_q32 != span->ns_per_byte_least_q32 ||
            found.ns_per_byte_most_q32 != span->ns_per_byte_most_q32)
            fail_msg("seed %llu: the sums of piece %u", (unsigned long long)seed, k);
    }
    for (uint32_t a = 0; a < c->count; a++) {
        uint32_t together = 0;
        for (uint32_t b = 0; b < c->count; b++)
            together += c->executors[a].memory == c->executors[b].memory;
        width = together > width ? together : width;
    }
    assert_int_equal(p->memory_width, width);
}

static void matrices_and_groups_give_the_links_and_the_sums_over_all_pairs(void **state)
{
    uint32_t fewer = 0;

    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        links_case c = draw(seed);
        for (int by_groups = 0; by_groups < 2; by_groups++) {
            clo_platform *p = create(&c, by_groups);
            check_transfers(&c, p, seed);
            check_spans(&c, p, seed);
            fewer += !by_groups && p->groups_count < c.count;
            clo_platform_destroy(p);
        }
    }
    assert_true(fewer > CASES / 4);
}

/* What only few links tell apart is told apart, and the rest is not. */
static void executors_of_a_memory_whose_links_differ_one_way_are_of_two_groups(void **state)
{
    clo_executor executors[4];
    int64_t latency[16];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *p;

    (void)state;
    for (uint32_t e = 0; e < 4; e++)
        executors[e] = (clo_executor){0, 0, e == 3, -1, {1, 1, 1, 1}};
    for (uint32_t i = 0; i < 16; i++)
        latency[i] = 5;
    latency[1] = 77;        /* 0 -> 1, inside a memory: no link */
    latency[3 * 4 + 2] = 9; /* 3 -> 2 */
    desc.executors_count = 4;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(p->groups_count, 3); /* 0 and 1, 2, 3 */
    assert_int_equal(p->sources_count, 2);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 3, 2), 9);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 3, 1), 5);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 0, 1), 0);
    clo_platform_destroy(p);
    latency[3 * 4 + 2] = 5;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(p->groups_count, 1); /* all links are alike */
    clo_platform_destroy(p);
}

static void groups_that_make_no_sense_are_refused(void **state)
{
    clo_executor executors[3];
    int64_t latency[4] = {1, 2, 3, 4};
    uint32_t group_of[3] = {0, 1, 1};
    clo_platform_desc good = CLO_PLATFORM_DESC_INIT, desc;
    clo_platform *p;

    (void)state;
    for (uint32_t e = 0; e < 3; e++)
        executors[e] = (clo_executor){0, 0, e, -1, {1, 1, 1, 1}};
    good.executors_count = 3;
    good.executors = executors;
    good.kinds_count = 1;
    good.latency_ns = latency;
    good.groups_count = 2;
    good.group_of = group_of;
    ok(clo_platform_create(&good, &p));
    assert_int_equal(clo_platform_transfer_ns(p, 0, 1, 2), 4); /* within a group: its diagonal */
    clo_platform_destroy(p);
    desc = good, desc.groups_count = 0;
    fails(CLO_ERR_ARGUMENT, "group_of without groups", clo_platform_create(&desc, &p));
    desc = good, desc.group_of = NULL;
    fails(CLO_ERR_ARGUMENT, "2 groups of links without group_of", clo_platform_create(&desc, &p));
    desc = good, desc.groups_count = 4;
    fails(CLO_ERR_ARGUMENT, "4 groups of links for 3 executors", clo_platform_create(&desc, &p));
    group_of[2] = 2;
    fails(CLO_ERR_ARGUMENT, "executor 2: group 2 of 2 groups", clo_platform_create(&good, &p));
    group_of[2] = 1;
    latency[2] = -1;
    fails(CLO_ERR_ARGUMENT, "link of groups 1 -> 0: latency -1", clo_platform_create(&good, &p));
}

/* As many executors as there may be, in many memories: a few groups each. */
static void the_largest_platforms_take_little(void **state)
{
    enum { MEMORIES = 1024 };
    static clo_executor executors[CLO_EXECUTORS_MAX];
    static uint32_t group_of[CLO_EXECUTORS_MAX];
    static int64_t latency[MEMORIES * MEMORIES];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *p;

    (void)state;
    for (uint32_t e = 0; e < CLO_EXECUTORS_MAX; e++) {
        group_of[e] = e % MEMORIES;
        executors[e] = (clo_executor){0, 0, e % MEMORIES, -1, {1, 1, 1, 1}};
    }
    for (uint32_t i = 0; i < MEMORIES * MEMORIES; i++)
        latency[i] = 1 + i % 1000;
    desc.executors_count = CLO_EXECUTORS_MAX;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.latency_ns = latency;
    desc.groups_count = MEMORIES;
    desc.group_of = group_of;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(p->sources_count, MEMORIES);
    assert_int_equal(clo_platform_transfer_ns(p, 1, 3, MEMORIES + 5), 1 + (3 * MEMORIES + 5) % 1000);
    clo_platform_destroy(p);
    desc.latency_ns = NULL;
    desc.groups_count = 0;
    desc.group_of = NULL;
    for (uint32_t e = 0; e < CLO_EXECUTORS_MAX; e++) /* each has its own, and no link takes time */
        executors[e].memory = e;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(p->groups_count, 1);
    assert_int_equal(p->sources_count, CLO_EXECUTORS_MAX);
    assert_true(p->spans[0].pairs == (uint64_t)CLO_EXECUTORS_MAX * (CLO_EXECUTORS_MAX - 1));
    clo_platform_destroy(p);
}

static clo_status attempt(void *context)
{
    clo_platform *p;
    links_case c = draw(*(const uint64_t *)context);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.executors_count = c.count;
    desc.executors = c.executors;
    desc.kinds_count = 1;
    desc.latency_ns = c.group_latency_ns;
    desc.groups_count = c.groups;
    desc.group_of = c.group_of;
    clo_status status = clo_platform_create(&desc, &p);
    if (status == CLO_OK)
        clo_platform_destroy(p);
    return status;
}

static void every_failing_allocation_is_reported(void **state)
{
    uint64_t seed = 7;

    (void)state;
    assert_true(fault_each(attempt, &seed) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_and_groups_give_the_links_and_the_sums_over_all_pairs),
        cmocka_unit_test(executors_of_a_memory_whose_links_differ_one_way_are_of_two_groups),
        cmocka_unit_test(groups_that_make_no_sense_are_refused),
        cmocka_unit_test(the_largest_platforms_take_little),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
