/* dump_memory.c - random plans of tasks with memory parts, and what the simulator makes of them, a JSON object a line:
 * for memory_fluid.py. */
#include "memory_scene.h"
#include "sample.h"

#include <stdio.h>

enum { CASES = 1500 };

static uint32_t draw(clo_rng *rng, memory_task *tasks)
{
    uint32_t count = 1 + clo_rng_below(rng, MEMORY_TASKS_MAX), executors = 1 + clo_rng_below(rng, MEMORY_EXECUTORS_MAX);

    for (uint32_t t = 0; t < count; t++) {
        static const uint32_t shares[] = {0, CLO_MEMORY_SHARE_ONE, CLO_MEMORY_SHARE_ONE / 2};
        uint32_t choice = clo_rng_below(rng, 6);
        tasks[t] = (memory_task){.executor = clo_rng_below(rng, executors),
                                 .length_ns = clo_rng_below(rng, 8) == 0 ? 0 : 1 + clo_rng_below(rng, 1000000),
                                 .part = {choice < 3 ? shares[choice] : 1 + clo_rng_below(rng, CLO_MEMORY_SHARE_ONE),
                                          1 + clo_rng_below(rng, 2000)},
                                 .after = t > 0 && clo_rng_below(rng, 3) == 0 ? 1 + clo_rng_below(rng, t) : 0};
    }
    return count;
}

static int64_t draw_capacity(clo_rng *rng)
{
    return clo_rng_below(rng, 3) == 0 ? -1 : 300 + (int64_t)clo_rng_below(rng, 4000);
}

static void play(uint64_t seed)
{
    clo_rng rng = sample_rng(seed);
    memory_task tasks[MEMORY_TASKS_MAX];
    uint32_t count = draw(&rng, tasks);
    int64_t capacities[3] = {draw_capacity(&rng), draw_capacity(&rng), draw_capacity(&rng)};
    memory_scene s = memory_open(memory_platform(capacities, 0), tasks, count);
    clo_trace_event spans[MEMORY_TASKS_MAX] = {0};

    memory_simulate(&s, NULL, s.parts, spans);
    printf("{\"seed\": %llu, \"capacities\": [%lld, %lld, %lld], \"tasks\": [", (unsigned long long)seed,
           (long long)capacities[0], (long long)capacities[1], (long long)capacities[2]);
    for (uint32_t t = 0; t < count; t++)
        printf("%s[%u, %lld, %u, %u, %u, %lld, %lld]", t > 0 ? ", " : "", tasks[t].executor,
               (long long)tasks[t].length_ns, tasks[t].part.share_q16, tasks[t].part.mbps, tasks[t].after,
               (long long)spans[t].start_ns, (long long)spans[t].finish_ns);
    puts("]}");
    memory_close(&s);
}

static void dump(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++)
        play(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dump)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
