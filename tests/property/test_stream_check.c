/* test_stream_check.c - the stream checker accepts random valid logs, and finds every kind of planted fault under its
 * right name. */
#include "sample.h"
#include "stream_plants.h"

#include "base/numbers/rng.h"
#include "trace/log_kinds.h"

#include <string.h>

enum { VALID = 1000, PLANTS = 30, SEEDS = 3000, FAULTS_SHOWN = 5 };

static clo_status check(const stream_run *run, clo_stream_report *report, clo_stream_fault *faults)
{
    clo_log *log = stream_run_log(run);
    clo_stream_case stream = CLO_STREAM_CASE_INIT;

    stream.platform = run->platform;
    stream.jobs = run->jobs;
    stream.jobs_count = run->jobs_count;
    stream.faults = faults;
    stream.faults_max = FAULTS_SHOWN;
    stream.overtakes_max = STREAM_OVERTAKES;
    clo_status status = clo_stream_check(&stream, log, report);
    clo_log_destroy(log);
    return status;
}

static void test_valid_logs_are_accepted(void **state)
{
    uint64_t replicas = 0, executions = 0, kept = 0;

    (void)state;
    for (uint64_t seed = 0; seed < VALID; seed++) {
        clo_stream_report report = CLO_STREAM_REPORT_INIT;
        stream_run run;
        stream_run_open(&run, seed, STREAM_KEEPS_ALL);
        if (check(&run, &report, NULL) != CLO_OK)
            fail_msg("seed %llu: %s", (unsigned long long)seed, clo_last_error());
        assert_true(report.mean_completion_ns >= report.mean_completion_bound_ns || run.header.clock == CLO_CLOCK_REAL);
        assert_int_equal(report.arrived, run.jobs_count);
        assert_int_equal(report.arrived, report.finished + report.cancelled + report.failed);
        for (size_t i = 0; i < run.count; i++)
            kept += run.records[i].what == CLO_LOG_KEEP && run.records[i].value > 0;
        replicas += report.replicas;
        executions += report.executions;
        stream_run_close(&run);
    }
    assert_true(replicas > 100 && executions > 10000 && kept > 100);
}

/* Plants one fault; returns false where this seed offers no place. */
static bool try_plant(const stream_plant *plant, uint64_t seed)
{
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_stream_fault faults[FAULTS_SHOWN];
    clo_rng rng = sample_rng(seed ^ 0xfa017);
    stream_run run;

    stream_run_open(&run, seed, plant->breaks);
    bool is_planted = plant->plant != NULL ? plant->plant(&run, &rng) : run.broken > 0;
    if (is_planted) {
        clo_status status = check(&run, &report, faults);
        if (status != CLO_ERR_INVALID || report.by_kind[plant->kind] == 0)
            fail_msg("%s, seed %llu: not found; %s", plant->name, (unsigned long long)seed,
                     status != CLO_OK ? clo_last_error() : "valid");
        for (uint32_t k = 0; k < CLO_STREAM_FAULTS_COUNT; k++)
            if (report.by_kind[k] > 0 && k != plant->kind && (plant->beside >> k & 1) == 0)
                fail_msg("%s, seed %llu: also %s; %s", plant->name, (unsigned long long)seed, clo_stream_fault_name(k),
                         faults[0].text);
    }
    stream_run_close(&run);
    return is_planted;
}

static void test_every_kind_of_planted_fault_is_found(void **state)
{
    uint64_t covered = 0;

    (void)state;
    for (size_t p = 0; stream_plants[p].name != NULL; p++) {
        uint32_t planted = 0;
        for (uint64_t seed = 0; seed < SEEDS && planted < PLANTS; seed++)
            planted += try_plant(&stream_plants[p], seed * 41 + p);
        print_message("%-40s %-18s %u of %u found\n", stream_plants[p].name,
                      clo_stream_fault_name(stream_plants[p].kind), planted, planted);
        if (planted < PLANTS)
            fail_msg("%s: only %u could be planted", stream_plants[p].name, planted);
        covered |= UINT64_C(1) << stream_plants[p].kind;
    }
    for (uint32_t k = 0; k < CLO_STREAM_FAULTS_COUNT; k++)
        /* Others: test_branch_streams, test_stream_said. */
        if ((covered >> k & 1) == 0 && k != CLO_STREAM_ARM && k != CLO_STREAM_SKIPPED && k < CLO_STREAM_WRONG_JOB)
            fail_msg("nothing plants %s", clo_stream_fault_name(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_valid_logs_are_accepted),
                                       cmocka_unit_test(test_every_kind_of_planted_fault_is_found)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
