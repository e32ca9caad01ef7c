/* links.c - the links of a platform: from matrices of the caller to one cell for each pair of groups.
 *
 * Executors of a group have equal links, both ways, to whatever does not share their memory; links inside a memory are
 * never used. So a machine of 65 536 executors in a few memories takes a few cells, and one whose links are all equal
 * takes one. What sums up over pairs of executors is weighted with the pairs that a cell stands for, in integers: the
 * sums are those over all pairs, exactly. */
#include "platform/model/links.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the caller gives: matrices over `count` rows, which are executors or groups of them. */
typedef struct given {
    const clo_platform_desc *desc;
    size_t count;
    const char *row; /* what a row is, for messages */
} given;

/* 2^32 / bandwidth; 0 stands for infinite, which is also where bandwidths above 2^33 GB/s round to. */
static clo_status read_bandwidth(double bandwidth, uint64_t *ns_per_byte_q32)
{
    if (isnan(bandwidth))
        return clo_fail(CLO_ERR_ARGUMENT, "bandwidth is not a number; use 0 for infinite");
    if (bandwidth <= 0) {
        *ns_per_byte_q32 = 0;
        return CLO_OK;
    }
    double q32 = 0x1p32 / bandwidth;
    if (q32 >= 0x1p62)
        return clo_fail(CLO_ERR_ARGUMENT, "bandwidth %g bytes/ns is below 2^-30; scale the units", bandwidth);
    *ns_per_byte_q32 = (uint64_t)(q32 + 0.5);
    return CLO_OK;
}

/* A link as it is kept, in pieces. */
typedef struct link_pieces {
    int64_t latency_ns[CLO_LINK_PIECES_MAX];
    uint64_t ns_per_byte_q32[CLO_LINK_PIECES_MAX];
} link_pieces;

static clo_status read_link(const clo_platform *platform, const given *in, size_t from, size_t to, link_pieces *out)
{
    const clo_platform_desc *desc = in->desc;
    const uint64_t *cuts = platform->cut_bytes;
    size_t cells = in->count * in->count, cell = from * in->count + to;

    for (uint32_t k = 0; k < platform->pieces_count; k++) {
        const double *bandwidth = k == 0 ? desc->bandwidth_bytes_per_ns : desc->bandwidth_beyond + (k - 1) * cells;
        if (k == 0)
            out->latency_ns[k] = desc->latency_ns == NULL ? 0 : desc->latency_ns[cell];
        else
            out->latency_ns[k] =
                clo_link_ns(out->latency_ns[k - 1], out->ns_per_byte_q32[k - 1], cuts[k] - cuts[k - 1]);
        if (k == 0 && (out->latency_ns[k] < 0 || out->latency_ns[k] > CLO_LATENCY_NS_MAX))
            return clo_fail(CLO_ERR_ARGUMENT, "%s %zu -> %zu: latency %lld ns; use 0 .. 2^61 ns", in->row, from, to,
                            (long long)out->latency_ns[k]);
        if (k > 0 && out->latency_ns[k] >= CLO_LATENCY_NS_MAX) /* or saturated there */
            return clo_fail(CLO_ERR_ARGUMENT, "%s %zu -> %zu: %llu bytes, where a piece begins, take 2^61 ns or more",
                            in->row, from, to, (unsigned long long)cuts[k]);
        if (read_bandwidth(bandwidth == NULL ? 0 : bandwidth[cell], &out->ns_per_byte_q32[k]) != CLO_OK) {
            char begin[48] = "", place[128];
            if (k > 0)
                snprintf(begin, sizeof begin, " from %llu bytes on", (unsigned long long)cuts[k]);
            snprintf(place, sizeof place, "%s %zu -> %zu%s: ", in->row, from, to, begin);
            return clo_fail_prefix(CLO_ERR_ARGUMENT, place);
        }
    }
    return CLO_OK;
}

static clo_status copy_cuts(clo_platform *platform, const clo_platform_desc *desc)
{
    platform->pieces_count = 1;
    if (desc->cuts_count == 0)
        return CLO_OK;
    if (desc->cuts_count >= CLO_LINK_PIECES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "%u cuts of the links; at most %d", desc->cuts_count, CLO_LINK_PIECES_MAX - 1);
    if (desc->cut_bytes == NULL || desc->bandwidth_beyond == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "%u cuts of the links, but cut_bytes or bandwidth_beyond is NULL",
                        desc->cuts_count);
    for (uint32_t c = 0; c < desc->cuts_count; c++) {
        uint64_t bytes = desc->cut_bytes[c];
        if (bytes <= platform->cut_bytes[c] || bytes > CLO_CUT_BYTES_MAX)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "cut %u of the links is at %llu bytes; use rising numbers from 1 to 2^63 - 1", c,
                            (unsigned long long)bytes);
        platform->cut_bytes[c + 1] = bytes;
    }
    platform->pieces_count = desc->cuts_count + 1;
    return CLO_OK;
}

static bool share_memory(const clo_platform *platform, size_t a, size_t b)
{
    return platform->executors[a].memory == platform->executors[b].memory;
}

static bool cells_equal(const clo_platform_desc *desc, size_t a, size_t b)
{
    size_t n = desc->executors_count;
    bool are_equal =
        (desc->latency_ns == NULL || desc->latency_ns[a] == desc->latency_ns[b]) &&
        (desc->bandwidth_bytes_per_ns == NULL || desc->bandwidth_bytes_per_ns[a] == desc->bandwidth_bytes_per_ns[b]);

    for (size_t k = 0; k < desc->cuts_count && are_equal; k++)
        are_equal = desc->bandwidth_beyond[k * n * n + a] == desc->bandwidth_beyond[k * n * n + b];
    return are_equal;
}

/* True if all links between memories are alike. */
static bool is_uniform(const clo_platform *platform, const clo_platform_desc *desc)
{
    size_t n = desc->executors_count, first = 0;
    bool has_first = false;

    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            size_t cell = from * n + to;
            if (share_memory(platform, from, to))
                continue;
            if (has_first && !cells_equal(desc, first, cell))
                return false;
            first = has_first ? first : cell;
            has_first = true;
        }
    return true;
}

/* True if the two, which share a memory, have equal links to and from all others. */
static bool are_alike(const clo_platform *platform, const clo_platform_desc *desc, size_t a, size_t b)
{
    size_t n = desc->executors_count;

    for (size_t c = 0; c < n; c++)
        if (!share_memory(platform, a, c) &&
            (!cells_equal(desc, a * n + c, b * n + c) || !cells_equal(desc, c * n + a, c * n + b)))
            return false;
    return true;
}

/* The groups of links that are given for each pair of executors. next: [executors + memories] scratch. */
static void find_groups(clo_platform *platform, const clo_platform_desc *desc, uint32_t *next)
{
    uint32_t *first_in = next + platform->executors_count; /* the first of a group of each memory */

    memset(first_in, 0xff, platform->memories_count * sizeof *first_in);
    for (uint32_t e = 0; e < platform->executors_count; e++) {
        uint32_t *at = &first_in[platform->executors[e].memory];
        while (*at != CLO_NONE && !are_alike(platform, desc, *at, e))
            at = &next[*at];
        if (*at != CLO_NONE) {
            platform->group_of[e] = platform->group_of[*at];
            continue;
        }
        *at = e;
        next[e] = CLO_NONE;
        platform->group_of[e] = platform->groups_count++;
    }
}

static void put_cell(clo_platform *platform, size_t from, size_t to, const link_pieces *read)
{
    size_t groups = platform->groups_count, cell = from * groups + to;

    for (uint32_t k = 0; k < platform->pieces_count; k++, cell += groups * groups) {
        platform->latency_ns[cell] = read->latency_ns[k];
        platform->ns_per_byte_q32[cell] = read->ns_per_byte_q32[k];
    }
}

/* Every link is looked at, those inside a memory too: nonsense there is nonsense. */
static clo_status copy_cells(clo_platform *platform, const given *in)
{
    size_t cells = (size_t)platform->groups_count * platform->groups_count;
    bool is_by_pairs = in->desc->group_of == NULL;
    link_pieces read = {{0}, {0}};
    clo_status status = CLO_OK;

    platform->latency_ns = clo_allocate(cells, platform->pieces_count * sizeof(int64_t));
    platform->ns_per_byte_q32 = clo_allocate(cells, platform->pieces_count * sizeof(uint64_t));
    if (platform->latency_ns == NULL || platform->ns_per_byte_q32 == NULL)
        return clo_fail_memory("a platform's links");
    for (size_t from = 0; from < in->count && status == CLO_OK; from++)
        for (size_t to = 0; to < in->count && status == CLO_OK; to++) {
            if (is_by_pairs && from == to)
                continue;
            status = read_link(platform, in, from, to, &read);
            if (status == CLO_OK && !is_by_pairs)
                put_cell(platform, from, to, &read);
            else if (status == CLO_OK && !share_memory(platform, from, to))
                put_cell(platform, platform->group_of[from], platform->group_of[to], &read);
        }
    return status;
}

/* What is given for each pair of executors. */
static clo_status copy_pairs(clo_platform *platform, const clo_platform_desc *desc)
{
    uint32_t *next = clo_allocate((size_t)platform->executors_count + platform->memories_count, sizeof *next);

    if (next == NULL)
        return clo_fail_memory("a platform's links");
    if (is_uniform(platform, desc))
        platform->groups_count = 1;
    else
        find_groups(platform, desc, next);
    clo_free(next);
    return copy_cells(platform, &(given){desc, desc->executors_count, "link"});
}

/* The caller's own groups. */
static clo_status copy_groups(clo_platform *platform, const clo_platform_desc *desc)
{
    if (desc->groups_count == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "group_of without groups; set groups_count to at least 1");
    if (desc->groups_count > desc->executors_count)
        return clo_fail(CLO_ERR_ARGUMENT, "%u groups of links for %u executors; leave out those of none",
                        desc->groups_count, desc->executors_count);
    for (uint32_t e = 0; e < desc->executors_count; e++) {
        if (desc->group_of[e] >= desc->groups_count)
            return clo_fail(CLO_ERR_ARGUMENT, "executor %u: group %u of %u groups of links; count groups from 0", e,
                            desc->group_of[e], desc->groups_count);
        platform->group_of[e] = desc->group_of[e];
    }
    platform->groups_count = desc->groups_count;
    return copy_cells(platform, &(given){desc, desc->groups_count, "link of groups"});
}

clo_status clo_links_copy(clo_platform *platform, const clo_platform_desc *desc)
{
    clo_status status = copy_cuts(platform, desc);

    if (status != CLO_OK)
        return status;
    platform->group_of = clo_allocate(platform->executors_count, sizeof *platform->group_of);
    if (platform->group_of == NULL)
        return clo_fail_memory("a platform's links");
    if (desc->group_of != NULL)
        return copy_groups(platform, desc);
    if (desc->groups_count > 0)
        return clo_fail(CLO_ERR_ARGUMENT, "%u groups of links without group_of; say which executor is of which",
                        desc->groups_count);
    if (desc->latency_ns != NULL || desc->bandwidth_bytes_per_ns != NULL || platform->pieces_count > 1)
        return copy_pairs(platform, desc);
    platform->groups_count = 1;
    return copy_cells(platform, &(given){desc, 0, ""});
}

/* Executors of one group in one memory; those of a memory form a list. */
typedef struct part {
    uint32_t group, count, next;
} part;

typedef struct survey {
    clo_platform *platform;
    part *parts;         /* [executors] as many as there are, or fewer */
    uint32_t *first_in;  /* [memories] */
    uint32_t *memory_of; /* [groups] CLO_NONE: more than one */
    uint32_t *size;      /* [groups] executors */
    uint32_t parts_count;
} survey;

static void count_parts(survey *s)
{
    const clo_platform *p = s->platform;

    memset(s->first_in, 0xff, p->memories_count * sizeof *s->first_in);
    for (uint32_t e = 0; e < p->executors_count; e++) {
        uint32_t group = p->group_of[e], memory = p->executors[e].memory, *at = &s->first_in[memory];
        while (*at != CLO_NONE && s->parts[*at].group != group)
            at = &s->parts[*at].next;
        if (*at == CLO_NONE) {
            s->parts[s->parts_count] = (part){group, 0, CLO_NONE};
            *at = s->parts_count++;
        }
        s->parts[*at].count++;
        s->memory_of[group] = s->size[group] == 0 || s->memory_of[group] == memory ? memory : CLO_NONE;
        s->size[group]++;
    }
}

/* True if the cell stands for no link at all. */
static bool is_unused(const survey *s, uint32_t from, uint32_t to)
{
    return s->size[from] == 0 || s->size[to] == 0 ||
           (s->memory_of[from] != CLO_NONE && s->memory_of[from] == s->memory_of[to]);
}

/* Adds the link `times` times to the sums; with is_less takes it off them. */
static void add_link(clo_link_span *span, int64_t latency_ns, uint64_t slope_q32, uint64_t times, bool is_less)
{
    clo_u128 inverse = slope_q32 > 0 ? ((clo_u128)1 << 95) / slope_q32 : 0;
    clo_u128 sign = is_less ? ~(clo_u128)0 : 1; /* -1, modulo 2^128 */

    span->pairs += (uint64_t)sign * times;
    span->finite += slope_q32 > 0 ? (uint64_t)sign * times : 0;
    span->latency_sum_ns += sign * ((clo_u128)(uint64_t)latency_ns * times);
    span->ns_per_byte_sum_q32 += sign * ((clo_u128)slope_q32 * times);
    span->inverse_sum += sign * (inverse * times);
}

static void widen(clo_link_span *span, int64_t latency_ns, uint64_t slope_q32)
{
    span->latency_least_ns = latency_ns < span->latency_least_ns ? latency_ns : span->latency_least_ns;
    span->latency_most_ns = latency_ns > span->latency_most_ns ? latency_ns : span->latency_most_ns;
    span->ns_per_byte_least_q32 = slope_q32 < span->ns_per_byte_least_q32 ? slope_q32 : span->ns_per_byte_least_q32;
    span->ns_per_byte_most_q32 = slope_q32 > span->ns_per_byte_most_q32 ? slope_q32 : span->ns_per_byte_most_q32;
}

/* All pairs of executors of two groups, less those that share a memory. */
static void survey_piece(const survey *s, uint32_t piece)
{
    const clo_platform *p = s->platform;
    clo_link_span *span = &s->platform->spans[piece];
    size_t groups = p->groups_count, first = piece * groups * groups;

    *span = (clo_link_span){.latency_least_ns = INT64_MAX, .ns_per_byte_least_q32 = UINT64_MAX};
    for (uint32_t a = 0; a < groups; a++)
        for (uint32_t b = 0; b < groups; b++) {
            size_t cell = first + a * groups + b;
            if (is_unused(s, a, b))
                continue;
            widen(span, p->latency_ns[cell], p->ns_per_byte_q32[cell]);
            add_link(span, p->latency_ns[cell], p->ns_per_byte_q32[cell], (uint64_t)s->size[a] * s->size[b], false);
        }
    for (uint32_t m = 0; m < p->memories_count; m++)
        for (uint32_t a = s->first_in[m]; a != CLO_NONE; a = s->parts[a].next)
            for (uint32_t b = s->first_in[m]; b != CLO_NONE; b = s->parts[b].next) {
                uint32_t from = s->parts[a].group, to = s->parts[b].group;
                size_t cell = first + from * groups + to;
                if (!is_unused(s, from, to))
                    add_link(span, p->latency_ns[cell], p->ns_per_byte_q32[cell],
                             (uint64_t)s->parts[a].count * s->parts[b].count, true);
            }
    if (span->pairs == 0)
        *span = (clo_link_span){0};
}

/* The mean begins a piece where it ends the one before, so that it never falls with the bytes. */
static void fill_mean(clo_platform *platform, uint32_t piece)
{
    uint64_t count = platform->executors_count;
    uint64_t pairs = platform->mean_includes_self ? count * (count + 1) : count * (count - 1);
    clo_link_span *span = &platform->spans[piece];
    const uint64_t *cuts = platform->cut_bytes;

    if (pairs == 0)
        return;
    span->mean_latency_q32 = ((span->latency_sum_ns << 32) + pairs / 2) / pairs;
    span->mean_ns_per_byte_q32 = (uint64_t)((span->ns_per_byte_sum_q32 + pairs / 2) / pairs);
    if (piece > 0)
        span->mean_latency_q32 =
            span[-1].mean_latency_q32 + (clo_u128)(cuts[piece] - cuts[piece - 1]) * span[-1].mean_ns_per_byte_q32;
}

/* True if data of the two, which share a memory, are everywhere at the same time. */
static bool is_same_source(const survey *s, uint32_t a, uint32_t b)
{
    const clo_platform *p = s->platform;
    uint32_t from = p->group_of[a], other = p->group_of[b], memory = p->executors[a].memory;

    for (uint32_t to = 0; to < p->groups_count && from != other; to++)
        if (s->size[to] > 0 && s->memory_of[to] != memory && !clo_platform_cells_equal(p, from, to, other, to))
            return false;
    return true;
}

/* first_in becomes the first executor of a source of each memory. next: [executors] */
static void find_sources(const survey *s, uint32_t *next)
{
    clo_platform *p = s->platform;

    p->sources_count = 0;
    memset(s->first_in, 0xff, p->memories_count * sizeof *s->first_in);
    for (uint32_t e = 0; e < p->executors_count; e++) {
        uint32_t *at = &s->first_in[p->executors[e].memory];
        while (*at != CLO_NONE && !is_same_source(s, *at, e))
            at = &next[*at];
        if (*at == CLO_NONE) {
            *at = e;
            next[e] = CLO_NONE;
            p->source_first[p->sources_count] = e;
            p->source_of[e] = p->sources_count++;
        } else {
            p->source_of[e] = p->source_of[*at];
        }
    }
}

static void find_width(const survey *s)
{
    for (uint32_t m = 0; m < s->platform->memories_count; m++) {
        uint32_t width = 0;
        for (uint32_t at = s->first_in[m]; at != CLO_NONE; at = s->parts[at].next)
            width += s->parts[at].count;
        if (width > s->platform->memory_width)
            s->platform->memory_width = width;
    }
}

clo_status clo_links_survey(clo_platform *platform)
{
    size_t executors = platform->executors_count, groups = platform->groups_count;
    survey s = {.platform = platform, .parts = clo_allocate(executors, sizeof *s.parts)};
    uint32_t *numbers = clo_allocate(executors + platform->memories_count + 2 * groups, sizeof *numbers);

    platform->source_of = clo_allocate(2 * executors, sizeof *platform->source_of);
    if (s.parts == NULL || numbers == NULL || platform->source_of == NULL) {
        clo_free(s.parts);
        clo_free(numbers);
        return clo_fail_memory("a platform's links");
    }
    s.first_in = numbers + executors;
    s.memory_of = s.first_in + platform->memories_count;
    s.size = s.memory_of + groups;
    platform->source_first = platform->source_of + executors;
    platform->memory_width = 0;
    platform->is_group_each = groups == executors;
    for (size_t e = 0; e < executors && platform->is_group_each; e++)
        platform->is_group_each = platform->group_of[e] == e;
    count_parts(&s);
    for (uint32_t k = 0; k < platform->pieces_count; k++) {
        survey_piece(&s, k);
        fill_mean(platform, k);
    }
    find_width(&s);
    find_sources(&s, numbers);
    clo_free(s.parts);
    clo_free(numbers);
    return CLO_OK;
}

bool clo_platform_cells_equal(const clo_platform *platform, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    size_t groups = platform->groups_count, cell = a * groups + b, other = c * groups + d;

    for (uint32_t k = 0; k < platform->pieces_count; k++, cell += groups * groups, other += groups * groups)
        if (platform->latency_ns[cell] != platform->latency_ns[other] ||
            platform->ns_per_byte_q32[cell] != platform->ns_per_byte_q32[other])
            return false;
    return true;
}

bool clo_platform_links_equal(const clo_platform *platform, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const clo_executor *executors = platform->executors;
    bool is_inside = executors[a].memory == executors[b].memory;

    if (is_inside != (executors[c].memory == executors[d].memory))
        return false;
    return is_inside || clo_platform_cells_equal(platform, platform->group_of[a], platform->group_of[b],
                                                 platform->group_of[c], platform->group_of[d]);
}
