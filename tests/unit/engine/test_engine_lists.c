/* The scheduler's lists (engine/state/lists.c), on jobs that are made by hand. */
#include "support.h"

#include "engine/state/scheduler_state.h"

#include <string.h>

enum { JOBS = 3, STAGES = 4, NORMAL = 1, LOW = 2 };

typedef struct world {
    clo_scheduler scheduler;
    clo_scheduler_job *slots[JOBS];
    uint32_t free_slots[JOBS];
    clo_scheduler_job jobs[JOBS];
    clo_stage_row rows[JOBS][STAGES];
} world;

static world w;

/* Nothing lives. Job 2 has a lower band than the others. */
static void make(void)
{
    memset(&w, 0, sizeof w);
    w.scheduler.jobs = w.slots;
    w.scheduler.free_slots = w.free_slots;
    w.scheduler.free_count = JOBS;
    w.scheduler.first_job = w.scheduler.last_job = w.scheduler.showing.job = CLO_NONE;
    w.scheduler.showing.at = (clo_ready_stage){CLO_NONE, CLO_NONE};
    for (uint32_t b = 0; b < CLO_BANDS_MAX; b++)
        w.scheduler.first[b] = w.scheduler.last[b] = (clo_ready_stage){CLO_NONE, CLO_NONE};
    for (uint32_t j = 0; j < JOBS; j++) {
        w.free_slots[j] = JOBS - 1 - j; /* job j gets slot j */
        w.jobs[j].stages = w.rows[j];
        w.jobs[j].slot = CLO_NONE;
        w.jobs[j].live.band = j == 2 ? LOW : NORMAL;
        w.jobs[j].live.first_ready = w.jobs[j].live.last_ready = CLO_NONE;
        for (uint32_t s = 0; s < STAGES; s++)
            w.rows[j][s].live.unstarted = 10 + s;
    }
}

static void add_jobs(void)
{
    make();
    for (uint32_t j = 0; j < JOBS; j++)
        clo_lists_add_job(&w.scheduler, &w.jobs[j]);
}

static void add_stage(uint32_t job, uint32_t stage)
{
    clo_lists_add_stage(&w.scheduler, &w.jobs[job], stage);
}

static void remove_stage(uint32_t job, uint32_t stage)
{
    clo_lists_remove_stage(&w.scheduler, &w.jobs[job], stage);
}

/* The live jobs, forwards and backwards, as digits. */
static void jobs_are(const char *wanted)
{
    char ahead[JOBS + 1] = "", back[JOBS + 1] = "";
    size_t count = 0;

    for (uint32_t slot = w.scheduler.first_job; slot != CLO_NONE && count < JOBS; slot = w.slots[slot]->live.next)
        ahead[count++] = (char)('0' + (w.slots[slot] - w.jobs));
    ahead[count] = '\0';
    count = strlen(wanted);
    for (uint32_t slot = w.scheduler.last_job; slot != CLO_NONE && count > 0; slot = w.slots[slot]->live.previous)
        back[--count] = (char)('0' + (w.slots[slot] - w.jobs));
    assert_int_equal(count, 0);
    assert_string_equal(ahead, wanted);
    assert_string_equal(back, wanted);
}

/* The stages of a band as pairs of digits, job and stage, both ways. */
static void band_is(uint32_t band, const char *wanted)
{
    char ahead[2 * JOBS * STAGES + 1] = "", back[2 * JOBS * STAGES + 1] = "";
    size_t count = 0;

    for (clo_ready_stage at = w.scheduler.first[band]; at.job != CLO_NONE; at = w.rows[at.job][at.stage].next) {
        ahead[count++] = (char)('0' + at.job);
        ahead[count++] = (char)('0' + at.stage);
        assert_true(w.rows[at.job][at.stage].is_listed);
        assert_true(count <= strlen(wanted));
    }
    for (clo_ready_stage at = w.scheduler.last[band]; at.job != CLO_NONE; at = w.rows[at.job][at.stage].previous) {
        back[--count] = (char)('0' + at.stage);
        back[--count] = (char)('0' + at.job);
    }
    assert_string_equal(ahead, wanted);
    assert_string_equal(back, wanted);
    assert_int_equal(w.scheduler.listed_bands >> band & 1, wanted[0] != '\0');
}

/* The ready stages of one job as digits, both ways. */
static void ready_are(uint32_t job, const char *wanted)
{
    char ahead[STAGES + 1] = "", back[STAGES + 1] = "";
    size_t count = 0;

    for (uint32_t s = w.jobs[job].live.first_ready; s != CLO_NONE; s = w.rows[job][s].live.next_ready)
        ahead[count++] = (char)('0' + s);
    for (uint32_t s = w.jobs[job].live.last_ready; s != CLO_NONE; s = w.rows[job][s].live.previous_ready)
        back[--count] = (char)('0' + s);
    assert_string_equal(ahead, wanted);
    assert_string_equal(back, wanted);
}

static void jobs_stand_in_order_of_arrival_and_leave_from_anywhere(void **state)
{
    (void)state;
    add_jobs();
    jobs_are("012");
    clo_lists_remove_job(&w.scheduler, &w.jobs[1]);
    jobs_are("02");
    clo_lists_add_job(&w.scheduler, &w.jobs[1]);
    jobs_are("021");
    clo_lists_remove_job(&w.scheduler, &w.jobs[1]);
    clo_lists_remove_job(&w.scheduler, &w.jobs[0]);
    jobs_are("2");
    clo_lists_remove_job(&w.scheduler, &w.jobs[2]);
    jobs_are("");
    assert_int_equal(w.scheduler.free_count, JOBS);
}

static void a_slot_is_given_back_and_lives_and_bands_are_counted(void **state)
{
    (void)state;
    add_jobs();
    assert_int_equal(w.scheduler.live_count, JOBS);
    assert_int_equal(w.scheduler.live[NORMAL], 2);
    assert_int_equal(w.scheduler.live_bands, 1u << NORMAL | 1u << LOW);
    clo_lists_remove_job(&w.scheduler, &w.jobs[2]);
    assert_int_equal(w.scheduler.live_bands, 1u << NORMAL);
    assert_int_equal(w.jobs[2].slot, CLO_NONE);
    assert_null(w.slots[2]);
    clo_lists_remove_job(&w.scheduler, &w.jobs[0]);
    assert_int_equal(w.scheduler.live_bands, 1u << NORMAL); /* job 1 is of it */
    assert_int_equal(w.scheduler.live_count, 1);
    clo_lists_add_job(&w.scheduler, &w.jobs[2]);
    assert_int_equal(w.jobs[2].slot, 0); /* the slot that was freed last */
}

static void stages_stand_in_order_of_readiness_in_their_job_and_in_their_band(void **state)
{
    (void)state;
    add_jobs();
    w.scheduler.now_ns = 77;
    add_stage(0, 3);
    add_stage(1, 0);
    add_stage(2, 1);
    add_stage(0, 1);
    band_is(NORMAL, "031001");
    band_is(LOW, "21");
    ready_are(0, "31");
    ready_are(1, "0");
    assert_int_equal(w.jobs[0].live.startable, 13 + 11);
    assert_int_equal(w.rows[0][3].live.ready_ns, 77);
}

static void a_stage_leaves_from_anywhere(void **state)
{
    (void)state;
    add_jobs();
    for (uint32_t s = 0; s < STAGES; s++)
        add_stage(0, s);
    remove_stage(0, 2); /* the middle, the first, the last, the only one */
    band_is(NORMAL, "000103");
    ready_are(0, "013");
    remove_stage(0, 0);
    remove_stage(0, 3);
    band_is(NORMAL, "01");
    ready_are(0, "1");
    assert_int_equal(w.jobs[0].live.startable, 11);
    assert_false(w.rows[0][3].is_listed);
    remove_stage(0, 1);
    band_is(NORMAL, "");
    ready_are(0, "");
    assert_int_equal(w.jobs[0].live.startable, 0);
}

/* The view has none of them at once; the list of the band loses them one by one. */
static void a_cancelled_job_leaves_its_own_list_at_once_and_that_of_its_band_stage_by_stage(void **state)
{
    (void)state;
    add_jobs();
    add_stage(0, 1);
    add_stage(1, 0);
    add_stage(0, 2);
    clo_lists_close_job(&w.jobs[0]);
    ready_are(0, "");
    assert_int_equal(w.jobs[0].live.startable, 0);
    band_is(NORMAL, "011002");
    clo_lists_remove_leaving(&w.scheduler, &w.jobs[0]);
    band_is(NORMAL, "1002");
    clo_lists_remove_leaving(&w.scheduler, &w.jobs[0]);
    band_is(NORMAL, "10");
    assert_int_equal(w.jobs[0].leaving, CLO_NONE);
}

/* A new policy is being shown what lives: what leaves meanwhile, it goes past. */
static void what_is_shown_next_and_leaves_is_gone_past(void **state)
{
    (void)state;
    add_jobs();
    add_stage(0, 1);
    add_stage(0, 2);
    w.scheduler.showing.at = (clo_ready_stage){0, 1};
    w.scheduler.showing.job = w.jobs[1].slot;
    w.scheduler.showing.task = 5;
    remove_stage(0, 2);
    assert_int_equal(w.scheduler.showing.at.stage, 1);
    add_stage(0, 2);
    remove_stage(0, 1);
    assert_int_equal(w.scheduler.showing.at.stage, 2);
    clo_lists_remove_job(&w.scheduler, &w.jobs[0]);
    assert_int_equal(w.scheduler.showing.job, 1);
    assert_int_equal(w.scheduler.showing.task, 5);
    clo_lists_remove_job(&w.scheduler, &w.jobs[1]);
    assert_int_equal(w.scheduler.showing.job, 2);
    assert_int_equal(w.scheduler.showing.task, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_stand_in_order_of_arrival_and_leave_from_anywhere),
        cmocka_unit_test(a_slot_is_given_back_and_lives_and_bands_are_counted),
        cmocka_unit_test(stages_stand_in_order_of_readiness_in_their_job_and_in_their_band),
        cmocka_unit_test(a_stage_leaves_from_anywhere),
        cmocka_unit_test(a_cancelled_job_leaves_its_own_list_at_once_and_that_of_its_band_stage_by_stage),
        cmocka_unit_test(what_is_shown_next_and_leaves_is_gone_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
