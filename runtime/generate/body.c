/* body.c - the bodies "spin" and "memory", and the names of all bodies. What they write is output.c's.
 *
 * Neither body allocates: the private block of "memory" is on the stack. */
#include "generate/body.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "generate/output.h"

#include <string.h>

#define NO_CALL (-1)
#define BLOCK_STEPS 64u  /* hash steps between two looks at the clock near the end: about 0.1 us */
#define LONG_STEPS 2048u /* the same while the end is far away: fewer looks disturb others less  */
#define FAR_NS 50000
#define PRIVATE_WORDS (64u * 1024 / 8) /* larger than an L1 cache, small enough for any stack */

static uint64_t rotate(uint64_t x, unsigned by)
{
    return (x << by) | (x >> (64 - by));
}

int clo_body_spin(const clo_call *call)
{
    if (call == NULL)
        return NO_CALL;
    int64_t end_ns = clo_time_add(clo_clock_ns(), call->expected_ns);
    volatile uint64_t sink; /* keeps the computation alive */
    uint64_t chain = call->task;

    clo_body_fill(call);
    for (int64_t left_ns = end_ns - clo_clock_ns(); call->expected_ns > 0 && left_ns > 0;
         left_ns = end_ns - clo_clock_ns()) { /* ends: time passes */
        uint32_t steps = left_ns > FAR_NS ? LONG_STEPS : BLOCK_STEPS;
        for (uint32_t i = 0; i < steps; i++)
            chain = rotate(chain ^ i, 23) * 0x9e3779b185ebca87u;
    }
    sink = chain;
    (void)sink;
    return 0;
}

/* One pass over the private block: reads and writes every word. */
static uint64_t stream_block(uint64_t *block, uint64_t value)
{
    for (size_t i = 0; i < PRIVATE_WORDS; i++) {
        block[i] += value;
        value ^= block[i];
    }
    return value;
}

int clo_body_memory(const clo_call *call)
{
    if (call == NULL)
        return NO_CALL;
    int64_t end_ns = clo_time_add(clo_clock_ns(), call->expected_ns);
    volatile uint64_t sink;
    uint64_t value = call->task;

    clo_body_fill(call); /* streams over the inputs and the output */
    if (call->expected_ns > 0 && clo_clock_ns() < end_ns) {
        uint64_t block[PRIVATE_WORDS];
        memset(block, 0, sizeof block);
        while (clo_clock_ns() < end_ns) /* ends: time passes */
            value = stream_block(block, value);
    }
    sink = value;
    (void)sink;
    return 0;
}

const char *clo_body_name(clo_task_fn body)
{
    static const struct {
        clo_task_fn body;
        const char *name;
    } rows[] = {{clo_body_spin, "spin"}, {clo_body_memory, "memory"}, {clo_body_command, "command"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].body == body)
            return rows[i].name;
    return NULL;
}
