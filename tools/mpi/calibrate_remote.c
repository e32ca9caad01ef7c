/* calibrate_remote.c - see calibrate_remote.h. */
#include "calibrate_remote.h"

#include "clotho/common/json.h"
#include "clotho/common/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const command cmd = {
    "platform calibrate",
    "",
    0,
    0,
    "Measures the links between the machines of a cluster file by ping-pong, one after the other, as a run uses\n"
    "them, and writes them into the file: latency and bandwidth up to the size that the MPI sends at once, and\n"
    "beyond it; from three machines on also what each moves to and from several at once. Start it with mpirun,\n"
    "mpiexec or srun, one rank for each machine.",
    "Other verbs read the file with --platform, 'clotho run' with --hosts. See docs/REMOTE.md.\n"
    "Example: mpirun -np 3 --bind-to none clotho platform calibrate --hosts cluster.json -o measured.json"};

int calibrate_read_options(calibrate_options *o, int argc, char **argv)
{
    const option_spec options[] = {
        {"hosts", 0, "F.json", OPTION_TEXT, &o->hosts, "the machines (clotho.cluster/1)"},
        {"output", 'o', "F.json", OPTION_TEXT, &o->output,
         "write the cluster file with its links there; may be the same"},
        {"quick", 0, NULL, OPTION_FLAG, &o->quick, "take a quarter of the time; less exact"},
        {"silence", 0, "TIME", OPTION_TIME, &o->run.silence_ns, "a rank silent for so long is lost (1s)"},
        {"start", 0, "TIME", OPTION_TIME, &o->run.start_ns, "ranks may begin so far apart (120s)"},
        {"json", 0, NULL, OPTION_FLAG, &o->as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    if (o->hosts == NULL)
        return misuse("no cluster file; write --hosts F.json");
    if (strcmp(o->hosts, "-") == 0 || (o->output != NULL && strcmp(o->output, "-") == 0))
        return misuse("--hosts or -o is '-'; name a file, each rank reads it");
    return OPTIONS_GO_ON;
}

static int print_json(const clo_cluster *cluster, const clo_remote_links *links)
{
    json out;

    json_begin(&out);
    json_text(&out, "engine", clo_remote_engine());
    json_count(&out, "machines", clo_remote_links_ranks(links));
    json_count(&out, "limit_bytes", clo_remote_links_limit(links));
    json_open(&out, "links", '[');
    for (uint32_t a = 0; a < clo_remote_links_ranks(links); a++)
        for (uint32_t b = 0; b < clo_remote_links_ranks(links); b++) {
            clo_remote_link link = CLO_REMOTE_LINK_INIT;
            if (a == b || clo_remote_links_get(links, a, b, &link) != CLO_OK)
                continue;
            json_open(&out, NULL, '{');
            json_text(&out, "from", clo_cluster_machine_name(cluster, a));
            json_text(&out, "to", clo_cluster_machine_name(cluster, b));
            json_integer(&out, "latency_ns", link.latency_ns);
            json_real(&out, "bandwidth_bytes_per_ns", link.bandwidth_bytes_per_ns);
            json_integer(&out, "step_ns", link.step_ns);
            json_real(&out, "bandwidth_beyond", link.bandwidth_beyond);
            json_count(&out, "error_permille", link.error_permille);
            json_count(&out, "held_permille", link.held_permille);
            json_count(&out, "flows2_permille", link.flows2_permille);
            json_count(&out, "flows4_permille", link.flows4_permille);
            json_count(&out, "largest_bytes", link.largest_bytes);
            json_close(&out, '}');
        }
    json_close(&out, ']');
    json_open(&out, "ports", '[');
    for (uint32_t m = 0; m < clo_remote_links_ranks(links); m++) {
        clo_remote_port port = CLO_REMOTE_PORT_INIT;
        if (clo_remote_links_port(links, m, &port) != CLO_OK || port.messages == 0)
            continue;
        json_open(&out, NULL, '{');
        json_text(&out, "machine", clo_cluster_machine_name(cluster, m));
        json_real(&out, "out_bytes_per_ns", port.out_bytes_per_ns);
        json_real(&out, "in_bytes_per_ns", port.in_bytes_per_ns);
        json_count(&out, "messages", port.messages);
        json_count(&out, "bytes", port.bytes);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    return json_print(&out);
}

/* "118 MB/s"; 0: unlimited. */
static const char *show_rate(double bytes_per_ns, char text[32])
{
    if (bytes_per_ns > 0)
        snprintf(text, 32, bytes_per_ns < 10 ? "%.1f MB/s" : "%.0f MB/s", bytes_per_ns * 1e3);
    else
        snprintf(text, 32, "unlimited");
    return text;
}

static void print_ports(const clo_cluster *cluster, const clo_remote_links *links)
{
    for (uint32_t m = 0; m < clo_remote_links_ranks(links); m++) {
        clo_remote_port port = CLO_REMOTE_PORT_INIT;
        char out[32], in[32];
        if (clo_remote_links_port(links, m, &port) != CLO_OK || port.messages == 0)
            continue;
        printf("port of %-16s %" PRIu32 " messages at once: out %s, in %s\n",
               show_name(clo_cluster_machine_name(cluster, m)), port.messages,
               port.out_bytes_per_ns > 0 ? show_rate(port.out_bytes_per_ns, out) : "none shows",
               port.in_bytes_per_ns > 0 ? show_rate(port.in_bytes_per_ns, in) : "none shows");
    }
}

static int print_text(const clo_cluster *cluster, const clo_remote_links *links)
{
    uint64_t limit = clo_remote_links_limit(links);

    printf("cluster      %s: %u machines, %s\n", show_name(clo_platform_name(clo_cluster_platform(cluster))),
           clo_remote_links_ranks(links), clo_remote_engine());
    if (limit > 0)
        printf("at once      messages up to %" PRIu64 " bytes\n\n", limit);
    else
        printf("at once      no limit shows\n\n");
    printf("%-24s %10s %12s %10s %12s %7s %7s %6s %6s\n", "link", "latency", "bandwidth", "step", "beyond", "fit",
           "others", "flows2", "flows4");
    for (uint32_t a = 0; a < clo_remote_links_ranks(links); a++)
        for (uint32_t b = 0; b < clo_remote_links_ranks(links); b++) {
            clo_remote_link link = CLO_REMOTE_LINK_INIT;
            char name[64], rate[32], beyond[32];
            if (a == b || clo_remote_links_get(links, a, b, &link) != CLO_OK)
                continue;
            snprintf(name, sizeof name, "%.30s - %.30s", show_name(clo_cluster_machine_name(cluster, a)),
                     show_name(clo_cluster_machine_name(cluster, b)));
            printf("%-24s %10s %12s %10s %12s %7s %7s %6.2f %6.2f\n", name, show_ns(link.latency_ns),
                   show_rate(link.bandwidth_bytes_per_ns, rate), show_ns(link.step_ns),
                   show_rate(link.bandwidth_beyond, beyond), show_percent((double)link.error_permille / 1e3),
                   show_percent((double)link.held_permille / 1e3), (double)link.flows2_permille / 1e3,
                   (double)link.flows4_permille / 1e3);
        }
    print_ports(cluster, links);
    return EXIT_GOOD;
}

static int tell(const clo_cluster *cluster, const clo_remote_links *links, const calibrate_options *o)
{
    clo_status status = o->output != NULL ? clo_remote_links_save(links, o->hosts, o->output) : CLO_OK;

    if (status != CLO_OK)
        return complain_status(o->output, status);
    int code = o->as_json ? print_json(cluster, links) : print_text(cluster, links);
    if (code == EXIT_GOOD && o->output != NULL && !o->as_json)
        printf("\nwritten to %s\n", show_name(o->output));
    return code;
}

int calibrate_remote(clo_remote *remote, const calibrate_options *o)
{
    clo_cluster *cluster;
    clo_remote_links *links = NULL;
    clo_status status = clo_cluster_load(o->hosts, &cluster);

    if (status != CLO_OK)
        return complain_status(o->hosts, status);
    if (clo_cluster_machines(cluster) != clo_remote_ranks(remote))
        return complain(o->hosts, "has %u machines, and there are %u ranks; start one for each",
                        clo_cluster_machines(cluster), clo_remote_ranks(remote));
    status = clo_remote_measure(remote, o->quick, &o->run, progress, NULL, &links);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    int code = clo_remote_rank(remote) == 0 ? tell(cluster, links, o) : EXIT_GOOD;
    clo_remote_links_destroy(links);
    clo_cluster_destroy(cluster);
    return code;
}
