/* links.c - the links of calibration: every pair of CPUs, both ways, fitted by pieces.
 *
 * The time is bounded: with many CPUs each pair gets less of it, down to four rounds of sizes up to 256 KiB. The pieces
 * begin at the same sizes on all links, chosen from SAMPLE_MAX of them. The sizes that were held aside, which no fit
 * has seen, tell how well a transfer of any size is predicted; the error of a piece is the worst over all links. */
#include "platform/host/links.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "platform/host/measure.h"
#include "platform/host/pieces.h"
#include "platform/model/figures.h"

#include <assert.h>
#include <stdio.h>

#define SAMPLE_MAX 16 /* links that the cuts are chosen from */
#define PROMISED_FIT 150
#define PROMISED_HELD 200 /* permille */

struct clo_links {
    const clo_calibration *c;
    clo_measured_way *ways; /* [count^2] from * count + to; the diagonal is not used */
    clo_line *lines;        /* [count^2]                                             */
    clo_cuts cuts;
    uint32_t fitted;                          /* sizes                               */
    uint32_t error[CLO_LINK_PIECES_MAX];      /* worst of each piece, permille       */
    uint32_t held[CLO_LINK_HELD], held_worst; /* of each held-aside size             */
    int64_t error_median, error_worst;
    int64_t flows_median, flows_worst; /* bandwidth of each of two flows at once, permille of one alone */
};

void clo_links_free(clo_links *links)
{
    if (links == NULL)
        return;
    clo_free(links->ways);
    clo_free(links->lines);
    clo_free(links);
}

static uint64_t mbps_of(uint64_t bytes, int64_t ns)
{
    return ns > 0 ? bytes * 1000 / (uint64_t)ns : 0;
}

static int64_t flows_permille(const clo_measured_way *way)
{
    int64_t permille = way->together_ns > 0 ? way->alone_ns * 1000 / way->together_ns : 1000;

    return permille > 1000000 ? 1000000 : permille; /* as the file's key */
}

static void say_pair(const clo_links *links, uint32_t a, uint32_t b)
{
    const clo_measured_way *way = &links->ways[(size_t)a * links->c->count + b];
    uint64_t largest = clo_link_size(way->fitted - 1),
             flow = largest < CLO_FLOW_BYTES ? largest : CLO_FLOW_BYTES;
    int64_t part = flows_permille(way);

    clo_calibration_say(links->c,
                        "cpu%u - cpu%u: one way of a cache line %lld ns; %llu KiB at %llu MB/s, two flows at once at "
                        "%lld.%02lld of that each",
                        links->c->cpus[a], links->c->cpus[b], (long long)way->line_ns, (unsigned long long)(flow >> 10),
                        (unsigned long long)mbps_of(flow, way->alone_ns), (long long)part / 1000,
                        (long long)part % 1000 / 10);
}

static clo_status measure_pairs(clo_links *links, int64_t each_ns)
{
    const clo_calibration *c = links->c;
    uint64_t pairs = (uint64_t)c->count * (c->count - 1) / 2, done = 0;

    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = a + 1; b < c->count; b++) {
            clo_measured_way way[2];
            clo_status status = clo_measure_link(c->cpus[a], c->cpus[b], each_ns, way);
            if (status != CLO_OK)
                return status;
            links->ways[(size_t)a * c->count + b] = way[0];
            links->ways[(size_t)b * c->count + a] = way[1];
            if (pairs <= 32 || ++done % (pairs / 16) == 0)
                say_pair(links, a, b);
        }
    links->fitted = links->ways[1].fitted;
    return CLO_OK;
}

static void choose_cuts(clo_links *links)
{
    const clo_measured_way *sample[SAMPLE_MAX];
    size_t n = links->c->count, pairs = n * (n - 1), count = pairs < SAMPLE_MAX ? pairs : SAMPLE_MAX;

    assert(n >= 2);
    for (size_t i = 0; i < count; i++) {
        size_t pair = i * pairs / count, from = pair / (n - 1), to = pair % (n - 1);
        sample[i] = &links->ways[from * n + to + (to >= from)];
    }
    clo_pieces_choose(sample, (uint32_t)count, &links->cuts);
}

/* Fits one link and takes its errors into the worst ones; returns its own worst. */
static uint32_t fit_link(clo_links *links, size_t cell)
{
    const clo_measured_way *way = &links->ways[cell];
    clo_line *line = &links->lines[cell];
    uint32_t worst = 0;

    clo_pieces_fit(way, &links->cuts, line);
    for (uint32_t i = 0; i < CLO_LINK_SIZES; i++) {
        if (!clo_link_is_used(i, links->fitted))
            continue;
        uint32_t error = clo_line_error(line, &links->cuts, way, i);
        uint32_t *of = i < CLO_LINK_FITTED ? &links->error[clo_cuts_piece(&links->cuts, clo_link_size(i))]
                                           : &links->held[i - CLO_LINK_FITTED];
        *of = error > *of ? error : *of;
        if (i < CLO_LINK_FITTED)
            worst = error > worst ? error : worst;
        else
            links->held_worst = error > links->held_worst ? error : links->held_worst;
    }
    return worst;
}

static clo_status fit_links(clo_links *links)
{
    size_t n = links->c->count, count = 0;
    int64_t *errors = clo_allocate(n * n, sizeof *errors), *flows = clo_allocate(n * n, sizeof *flows);

    if (errors == NULL || flows == NULL) {
        clo_free(errors);
        clo_free(flows);
        return clo_fail_memory("calibration");
    }
    choose_cuts(links);
    for (size_t cell = 1; cell < n * n; cell++) {
        if (cell % (n + 1) == 0)
            continue;
        errors[count] = fit_link(links, cell);
        flows[count++] = flows_permille(&links->ways[cell]);
    }
    links->error_median = clo_measure_median(errors, count);
    links->error_worst = errors[count - 1]; /* sorted */
    links->flows_median = clo_measure_median(flows, count);
    links->flows_worst = flows[0];
    clo_free(errors);
    clo_free(flows);
    return CLO_OK;
}

/* "0 .. 2K 1.9 %, 2K .. 64K 3.1 %, from 64K 2.0 %" */
static void put_pieces(const clo_links *links, char *out, size_t bytes)
{
    size_t used = 0;

    for (uint32_t k = 0; k <= links->cuts.count && used < bytes; k++) {
        char begin[CLO_FIGURE_BYTES], end[CLO_FIGURE_BYTES];
        clo_figure_bytes(k == 0 ? 0 : links->cuts.bytes[k - 1], begin);
        clo_figure_bytes(k < links->cuts.count ? links->cuts.bytes[k] : 0, end);
        const char *format = k < links->cuts.count ? "%s%s .. %s %u.%u %%" : "%sfrom %s%s %u.%u %%";
        used += (size_t)clo_print(out + used, bytes - used, format, k == 0 ? "" : ", ", begin,
                                  k < links->cuts.count ? end : "", links->error[k] / 10, links->error[k] % 10);
    }
}

/* "768B 1.2 %, 3K 0.8 %" */
static void put_held(const clo_links *links, char *out, size_t bytes)
{
    size_t used = 0;

    for (uint32_t h = 0; h < CLO_LINK_HELD && used < bytes; h++) {
        char size[CLO_FIGURE_BYTES];
        if (!clo_link_is_used(CLO_LINK_FITTED + h, links->fitted))
            break;
        clo_figure_bytes(clo_link_size(CLO_LINK_FITTED + h), size);
        used += (size_t)clo_print(out + used, bytes - used, "%s%s %u.%u %%", h == 0 ? "" : ", ", size,
                                  links->held[h] / 10, links->held[h] % 10);
    }
}

static void say_result(const clo_links *links)
{
    char text[400];
    bool is_kept = links->error_worst <= PROMISED_FIT && links->held_worst <= PROMISED_HELD;

    put_pieces(links, text, sizeof text);
    clo_calibration_say(links->c, "links in pieces, with the worst error of each: %s", text);
    put_held(links, text, sizeof text);
    clo_calibration_say(links->c, "sizes that no fit has seen are predicted within: %s", text);
    if (!is_kept)
        clo_calibration_say(links->c,
                            "the links are not predicted well: %lld.%lld %% at fitted sizes (wanted: %d %%), %u.%u %% "
                            "at others (%d %%); stop other programs and measure again",
                            (long long)links->error_worst / 10, (long long)links->error_worst % 10, PROMISED_FIT / 10,
                            links->held_worst / 10, links->held_worst % 10, PROMISED_HELD / 10);
}

clo_status clo_links_measure(const clo_calibration *c, int64_t budget_ns, clo_links **out)
{
    size_t cells = (size_t)c->count * c->count;
    int64_t pairs = (int64_t)c->count * (c->count - 1) / 2, each_ns = budget_ns / pairs;
    clo_links *links = clo_allocate(1, sizeof *links);

    if (links == NULL)
        return clo_fail_memory("calibration");
    each_ns = each_ns < 1000000 ? 1000000 : each_ns;
    links->c = c;
    links->ways = clo_allocate(cells, sizeof *links->ways);
    links->lines = clo_allocate(cells, sizeof *links->lines);
    if (links->ways == NULL || links->lines == NULL) {
        clo_links_free(links);
        return clo_fail_memory("calibration");
    }
    clo_calibration_say(c, "links of %lld pair%s of CPUs: about %lld ms", (long long)pairs, pairs == 1 ? "" : "s",
                        (long long)(each_ns * pairs / 1000000));
    clo_status status = measure_pairs(links, each_ns);
    if (status == CLO_OK)
        status = fit_links(links);
    if (status != CLO_OK)
        return clo_links_free(links), status;
    say_result(links);
    *out = links;
    return CLO_OK;
}

/* "0.000 0.031": the fit's relative error to every CPU, in their order. */
static clo_status add_errors_of(const clo_links *links, uint32_t from)
{
    const clo_calibration *c = links->c;
    clo_text text = {0};
    char *row;

    for (uint32_t to = 0; to < c->count; to++) {
        size_t cell = (size_t)from * c->count + to;
        uint32_t worst = 0;
        for (uint32_t i = 0; i < links->fitted && from != to; i++) {
            uint32_t error = clo_line_error(&links->lines[cell], &links->cuts, &links->ways[cell], i);
            worst = error > worst ? error : worst;
        }
        clo_text_add(&text, "%s%u.%03u", to > 0 ? " " : "", worst / 1000, worst % 1000);
    }
    if (clo_text_take(&text, &row) != CLO_OK)
        return clo_fail_memory("calibration");
    clo_status status = clo_native_add_info(c->native, (int32_t)c->cpus[from], "clotho.fit_error.c2c", row);
    clo_free(row);
    return status;
}

static clo_status add_ratio(const clo_links *links, const char *name, int64_t permille)
{
    return clo_calibration_add(links->c, -1, name, "%lld.%03lld", (long long)permille / 1000,
                               (long long)permille % 1000);
}

static clo_status add_errors(const clo_links *links)
{
    clo_status status = add_ratio(links, "clotho.fit_error.c2c_median", links->error_median);

    if (status == CLO_OK)
        status = add_ratio(links, "clotho.fit_error.c2c_worst", links->error_worst);
    if (status == CLO_OK)
        status = add_ratio(links, "clotho.fit_error.c2c_held_aside", links->held_worst);
    for (uint32_t k = 0; k <= links->cuts.count && status == CLO_OK; k++) {
        char name[80];
        clo_print(name, sizeof name, "clotho.fit_error.c2c_from.%llu",
                  k == 0 ? 0ull : (unsigned long long)links->cuts.bytes[k - 1]);
        status = add_ratio(links, name, links->error[k]);
    }
    for (uint32_t from = 0; from < links->c->count && status == CLO_OK; from++)
        status = add_errors_of(links, from);
    if (status == CLO_OK)
        status = clo_calibration_add(links->c, -1, "clotho.two_flows_permille.median", "%lld",
                                     (long long)links->flows_median);
    if (status == CLO_OK)
        status =
            clo_calibration_add(links->c, -1, "clotho.two_flows_permille.worst", "%lld", (long long)links->flows_worst);
    return status;
}

static clo_status add_fact(const clo_links *links, const char *fact, const char *text)
{
    char name[80];

    clo_print(name, sizeof name, "clotho.status.%s", fact);
    clo_status status = clo_calibration_add(links->c, -1, name, "measured");
    clo_print(name, sizeof name, "clotho.source.%s", fact);
    return status == CLO_OK ? clo_calibration_add(links->c, -1, name, "%s", text) : status;
}

static clo_status add_facts(const clo_links *links)
{
    char text[560], list[400];
    long long median = links->error_median, worst = links->error_worst;

    clo_print(
        text, sizeof text,
        "clotho platform calibrate %s: latency by ping-pong of one cache line, bandwidth by copies of 512 bytes to "
        "%llu KiB that the other CPU has just written (lower deciles); error of the fit: median %lld.%lld %%, "
        "worst %lld.%lld %%",
        clo_version(), (unsigned long long)(clo_link_size(links->fitted - 1) >> 10), median / 10, median % 10,
        worst / 10, worst % 10);
    clo_status status = add_fact(links, "c2c", text);
    put_pieces(links, list, sizeof list);
    clo_print(text, sizeof text, "worst error of the fit in each piece: %s", list);
    if (status == CLO_OK)
        status = add_fact(links, "c2c.pieces", text);
    put_held(links, list, sizeof list);
    clo_print(text, sizeof text, "worst error at sizes that no fit has seen: %s", list);
    if (status == CLO_OK)
        status = add_fact(links, "c2c.held_aside", text);
    clo_print(text, sizeof text,
              "each of two flows at once, one each way, has %lld.%02lld of the bandwidth of one alone (median of all "
              "pairs; worst %lld.%02lld); costs do not use it",
              (long long)links->flows_median / 1000, (long long)links->flows_median % 1000 / 10,
              (long long)links->flows_worst / 1000, (long long)links->flows_worst % 1000 / 10);
    return status == CLO_OK ? add_fact(links, "c2c.two_flows", text) : status;
}

static clo_status add_matrices(const clo_links *links)
{
    const clo_calibration *c = links->c;
    size_t cells = (size_t)c->count * c->count;
    uint64_t *values = clo_allocate(cells, sizeof *values);
    clo_status status = CLO_OK;

    if (values == NULL)
        return clo_fail_memory("calibration");
    for (size_t i = 0; i < cells; i++)
        values[i] = links->lines[i].latency_ns;
    status = clo_native_add_matrix(c->native, "clotho.c2c_latency_ns", false, c->cpus, c->count, values);
    for (uint32_t k = 0; k <= links->cuts.count && status == CLO_OK; k++) {
        char name[80] = "clotho.c2c_bandwidth_MBps";
        if (k > 0)
            clo_print(name, sizeof name, "clotho.c2c_bandwidth_MBps.%llu",
                      (unsigned long long)links->cuts.bytes[k - 1]);
        for (size_t i = 0; i < cells; i++)
            values[i] = links->lines[i].mbps[k];
        status = clo_native_add_matrix(c->native, name, true, c->cpus, c->count, values);
    }
    clo_free(values);
    return status;
}

clo_status clo_links_add(const clo_links *links)
{
    clo_status status = add_facts(links);

    if (status == CLO_OK)
        status = add_errors(links);
    return status == CLO_OK ? add_matrices(links) : status;
}
