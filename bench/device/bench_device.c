/* bench_device.c - what does a device cost beside its driver, and what do its lanes gain?
 *
 * empty     kernels without data that do nothing, through a job (slots, the device's thread) and by hand: one thread that
 *           launches and polls the same driver with the same depth. In turns; ns a kernel.
 * overlap   put and kernel take the same time: depth 2 over depth 1, and over the longer lane.
 * chain     kernels that change 2 MiB one after the other: what the device has is moved there again, or not. In turns.
 * beside    the share of one CPU that the process uses while a kernel of 20 ms runs.
 * camera    12 tasks a frame on two CPUs and an NPU, three frames in flight: interval over its lower bound.
 *
 * Driver "null", whose times are those of a clock, so no CPU is used for a kernel; "empty" also with "opencl" where it
 * can be used. */
#define _POSIX_C_SOURCE 200809L
#include "common/platform.h"
#include "device/camera.h"
#include "device/chain.h"
#include "device/flood.h"

#include <clotho/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 2, ROUNDS_MAX = 64 };

static const char program[] = "__kernel void nothing(void) { }\n";

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Medians over the turns of what a kernel takes in both ways. */
static bool measure_empty(const bench_options *o, const char *driver, double *through_ns, double *by_hand_ns)
{
    const flood_config config = {.driver = driver,
                                 .selector = strcmp(driver, "null") == 0 ? "depth=2" : "",
                                 .program = program,
                                 .depth = DEPTH,
                                 .kernels = o->quick ? 200 : 5000};
    double through[ROUNDS_MAX], hand[ROUNDS_MAX];
    bench_turns turns = {.wanted = smaller(o->rounds, ROUNDS_MAX)};

    while (bench_turn_begin(&turns)) {
        if (!flood_through(&config, &through[turns.kept]) || !flood_by_hand(&config, &hand[turns.kept]))
            return false;
        (void)bench_turn_end(&turns);
    }
    *through_ns = bench_summarise(through, turns.kept).median;
    *by_hand_ns = bench_summarise(hand, turns.kept).median;
    return true;
}

static bool is_here(const char *name)
{
    const clo_driver *driver = clo_driver_find(name);

    return driver != NULL && (driver->is_usable == NULL || driver->is_usable());
}

static bool print_chain(const bench_options *o)
{
    static const char *const drivers[] = {"null", "opencl"};

    for (int d = 0; d < 2; d++) {
        double ns[2][ROUNDS_MAX], median[2];
        chain_result r[2] = {{0}};
        bench_turns turns = {.wanted = smaller(o->rounds, ROUNDS_MAX)};

        while (is_here(drivers[d]) && bench_turn_begin(&turns)) {
            for (int keeps = 0; keeps < 2; keeps++) {
                if (!chain_run(drivers[d], keeps, o->quick ? 20 : 200, &r[keeps]))
                    return false;
                ns[keeps][turns.kept] = r[keeps].ns;
            }
            (void)bench_turn_end(&turns);
        }
        if (!is_here(drivers[d]))
            continue;
        for (int keeps = 0; keeps < 2; keeps++)
            median[keeps] = bench_summarise(ns[keeps], turns.kept).median;
        double bytes = (double)r[1].moved_bytes / (double)r[0].moved_bytes;
        if (o->json)
            printf(", {\"measure\": \"chain\", \"driver\": \"%s\", \"moved_ns\": %.0f, \"kept_ns\": %.0f, \"ratio\": "
                   "%.3f, "
                   "\"bytes_ratio\": %.3f}",
                   drivers[d], median[0], median[1], median[1] / median[0], bytes);
        else
            printf("chain    %-7s %8.2f us a kernel, %8.2f us if data stay: %.2f; bytes moved: %.2f\n", drivers[d],
                   median[0] / 1e3, median[1] / 1e3, median[1] / median[0], bytes);
    }
    return true;
}

static bool print_empty(const bench_options *o)
{
    static const char *const drivers[] = {"null", "opencl"};
    const char *comma = "";

    for (int d = 0; d < 2; d++) {
        double through, hand;
        if (!is_here(drivers[d])) {
            if (!o->json)
                printf("empty    %-7s not here: install pocl-opencl-icd\n", drivers[d]);
            continue;
        }
        if (!measure_empty(o, drivers[d], &through, &hand))
            return false;
        if (o->json)
            printf("%s{\"measure\": \"empty\", \"driver\": \"%s\", \"through_ns\": %.0f, \"by_hand_ns\": %.0f, "
                   "\"ratio\": %.3f}",
                   comma, drivers[d], through, hand, through / hand);
        else
            printf("empty    %-7s %8.2f us a kernel, by hand %8.2f us: %.2f\n", drivers[d], through / 1e3, hand / 1e3,
                   through / hand);
        comma = ", ";
    }
    return true;
}

static bool print_overlap(const bench_options *o)
{
    double ns[2];

    for (uint32_t depth = 1; depth <= 2; depth++) {
        const flood_config config = {.driver = "null",
                                     .selector = "copy_ns=500000,launch_ns=500000",
                                     .depth = depth,
                                     .kernels = o->quick ? 10 : 200,
                                     .put_bytes = 64};
        if (!flood_through(&config, &ns[depth - 1]))
            return false;
    }
    if (o->json)
        printf(", {\"measure\": \"overlap\", \"depth_1_ns\": %.0f, \"depth_2_ns\": %.0f, \"ratio\": %.3f}", ns[0],
               ns[1], ns[1] / ns[0]);
    else
        printf("overlap  put 0.5 ms, kernel 0.5 ms: depth 1 %.3f ms a kernel, depth 2 %.3f ms: %.2f\n", ns[0] / 1e6,
               ns[1] / 1e6, ns[1] / ns[0]);
    return true;
}

/* How late a sleep of 20 ms ends here, median of nine: a device of the driver null is no more punctual. */
static double timer_late_ns(void)
{
    const struct timespec sleep = {.tv_nsec = 20000000};
    double late[9];

    for (int i = 0; i < 9; i++) {
        int64_t begin_ns = bench_now_ns();
        nanosleep(&sleep, NULL);
        late[i] = (double)(bench_now_ns() - begin_ns - sleep.tv_nsec);
    }
    return bench_summarise(late, 9).median;
}

static bool print_beside(const bench_options *o)
{
    const flood_config config = {
        .driver = "null", .selector = "launch_ns=20000000", .depth = 1, .kernels = o->quick ? 2 : 50};
    int64_t cpu_ns = flood_cpu_ns(), begin_ns = bench_now_ns();
    double ns;

    if (!flood_through(&config, &ns))
        return false;
    double share = (double)(flood_cpu_ns() - cpu_ns) / (double)(bench_now_ns() - begin_ns);
    if (o->json)
        printf(", {\"measure\": \"beside\", \"kernel_ns\": %.0f, \"cpu_share\": %.4f, \"timer_late_ns\": %.0f}", ns,
               share, timer_late_ns());
    else
        printf("beside   a kernel of 20 ms takes %.3f ms (a sleep of 20 ms ends %.3f ms late here); the whole process "
               "uses "
               "%.2f %% of a CPU meanwhile\n",
               ns / 1e6, timer_late_ns() / 1e6, 100 * share);
    return true;
}

static bool print_camera(const bench_options *o)
{
    camera_result r;

    if (!camera_run(o->quick ? 10 : 300, &r))
        return false;
    if (o->json)
        printf(", {\"measure\": \"camera\", \"bound_ns\": %lld, \"planned_ns\": %lld, \"interval_ns\": %.0f, "
               "\"ratio\": %.4f}",
               (long long)r.bound_ns, (long long)r.planned_ns, r.interval_ns, r.interval_ns / (double)r.bound_ns);
    else
        printf("camera   three frames in flight: interval %.3f ms, planned %.3f, bound %.3f: %.3f\n",
               r.interval_ns / 1e6, (double)r.planned_ns / 1e6, (double)r.bound_ns / 1e6,
               r.interval_ns / (double)r.bound_ns);
    return true;
}

int main(int argc, char **argv)
{
    const bench_about about = {.name = "device",
                               .question = "what does a device cost beside its driver, and what do its lanes gain?",
                               .rounds = 9,
                               .quick_rounds = 1};
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);

    if (exit_status >= 0)
        return exit_status;
    if (o.json)
        printf("{\"bench\": \"device\", \"rows\": [");
    bool is_good = print_empty(&o) && print_overlap(&o) && print_chain(&o) && print_beside(&o) && print_camera(&o);
    if (o.json)
        printf("]}\n");
    return is_good ? 0 : 1;
}
