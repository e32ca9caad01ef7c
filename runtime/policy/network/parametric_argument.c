/* parametric_argument.c - see parametric_argument.h. The argument is a set of numbers by its name, or the numbers. */
#include "policy/network/parametric_argument.h"

#include "policy/select/argument.h"

#include "base/status.h"

#include <string.h>

#define NUMBER_MOST_Q16 (1000 * 65536)
#define UNIT_DEFAULT_NS INT64_C(82773000000)
#define UNIT_MOST_NS (INT64_C(1) << 56)

/* 0.6: the best limits of 150 TPC-H jobs on 50 to 3000 executors, and of 20 on 4 to 25, lie within a tenth of it. */
#define SIZE_DEFAULT_Q16 39322

static const char *const names[CLO_PARAMETRIC_NUMBERS] = {"w_rem",   "w_own", "w_wait", "w_ex", "w_cp",
                                                          "l_scale", "l_rem", "l_jobs", "share"};

/* Tuned on TPC-H queries, 20 at once and as a Poisson stream; see docs/SCHEDULERS.md. */
const clo_parametric clo_parametric_default = {
    .q16 = {67201, 321880, 325216, 38306, 11593, 666370, 18770, 42428, -65536},
    .size_q16 = SIZE_DEFAULT_Q16,
    .unit_ns = UNIT_DEFAULT_NS,
};
static const clo_parametric stream = {
    .q16 = {119393, 147522, 509077, 10918, 30795, 398597, 27702, 40495, -42861},
    .size_q16 = SIZE_DEFAULT_Q16,
    .unit_ns = UNIT_DEFAULT_NS,
};

/* Tuned on both, and on 8 to 1000 executors. */
const clo_parametric clo_parametric_any = {
    .q16 = {121799, 179215, 532978, 7923, 31988, 483184, 24714, 34537, -40088},
    .size_q16 = 36104,
    .unit_ns = CLO_UNIT_LEARNT,
};

/* For the 95 % quantile of completion times, and for the number of jobs that end after their deadlines. */
static const clo_parametric p95 = {
    .q16 = {140601, 115887, 511135, 15296, 39931, 348422, 31942, 47900, -32014},
    .size_q16 = 40285,
    .goal = CLO_GOAL_P95,
    .unit_ns = CLO_UNIT_LEARNT,
};
const clo_parametric clo_parametric_late = {
    .q16 = {110376, 161880, 570825, -8369, 36248, 613967, 20251, 24025, -52042},
    .size_q16 = 37506,
    .goal = CLO_GOAL_LATE,
    .unit_ns = CLO_UNIT_LEARNT,
};

/* For the makespan of batches, on 16 to 200 executors. */
static const clo_parametric makespan = {
    .q16 = {95918, 266299, 420230, -54677, 33581, 265893, 26516, 55850, -71578},
    .size_q16 = 40488,
    .unit_ns = CLO_UNIT_LEARNT,
};

/* For mean tardiness, on 50 executors at a load of 75 %. */
static const clo_parametric deadlines = {
    .q16 = {124309, 105565, 519438, -7786, 30409, 482535, 26136, 44532, -55129},
    .size_q16 = 36104,
    .unit_ns = CLO_UNIT_LEARNT,
};

static const struct {
    const char *name;
    const clo_parametric *with;
} sets[] = {
    {"batch", &clo_parametric_default}, {"stream", &stream}, {"any", &clo_parametric_any},  {"makespan", &makespan},
    {"deadlines", &deadlines},          {"p95", &p95},       {"late", &clo_parametric_late}};

static clo_status read_unit(const char **text, int64_t *unit_ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    const char *at = *text;
    int64_t value = 0;

    for (; *at >= '0' && *at <= '9'; at++)
        value = value > UNIT_MOST_NS ? value : value * 10 + (*at - '0');
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].name);
        if (strncmp(at, units[i].name, length) != 0 || value < 1 || value > UNIT_MOST_NS / units[i].ns)
            continue;
        *unit_ns = value * units[i].ns;
        *text = at + length;
        return CLO_OK;
    }
    return clo_fail(CLO_ERR_ARGUMENT,
                    "policy 'parametric': '%.40s' is no unit of time; write one as 100s, up to 2 years", *text);
}

clo_status clo_parametric_parse(const char *text, void *argument)
{
    const clo_fixed_range range = {-NUMBER_MOST_Q16, NUMBER_MOST_Q16};
    clo_parametric with = {.unit_ns = UNIT_DEFAULT_NS};
    clo_status status = CLO_OK;

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(text, sets[i].name) == 0) {
            *(clo_parametric *)argument = *sets[i].with;
            return CLO_OK;
        }
    if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z'))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy 'parametric': '%.40s' is no set of numbers; write batch, stream, any, makespan, "
                        "deadlines, p95, late, or nine numbers with commas between",
                        text);
    for (int i = 0; i < CLO_PARAMETRIC_NUMBERS && status == CLO_OK; i++) {
        if (i > 0 && *text++ != ',')
            return clo_fail(CLO_ERR_ARGUMENT,
                            "policy 'parametric': %s is missing; write nine numbers with commas between: w_rem,w_own,"
                            "w_wait,w_ex,w_cp,l_scale,l_rem,l_jobs,share",
                            names[i]);
        status = clo_fixed_read(&text, "parametric", names[i], range, &with.q16[i]);
    }
    if (status == CLO_OK && with.q16[CLO_L_SCALE] <= 0)
        return clo_fail(CLO_ERR_ARGUMENT, "policy 'parametric': l_scale is not above 0; write one from 0.01 on");
    if (status == CLO_OK && strncmp(text, ",l_size=", 8) == 0) {
        text += 8;
        status = clo_fixed_read(&text, "parametric", "l_size", range, &with.size_q16);
    }
    if (status == CLO_OK && strncmp(text, ",fit=", 5) == 0) {
        text += 5;
        status = clo_fixed_read(&text, "parametric", "fit", (clo_fixed_range){0, NUMBER_MOST_Q16}, &with.fit_q16);
    }
    if (status == CLO_OK && strncmp(text, ",for=", 5) == 0) {
        const char *name = text + 5;
        size_t length = strcspn(name, ",");
        if (!clo_goal_find(name, length, &with.goal))
            return clo_fail(CLO_ERR_ARGUMENT, "policy 'parametric': for=%.40s; write for=mean, for=p95 or for=late",
                            name);
        text = name + length;
    }
    if (status == CLO_OK && strcmp(text, ",auto") == 0) {
        text += 5;
        with.unit_ns = CLO_UNIT_LEARNT;
    } else if (status == CLO_OK && *text == ',') {
        text++;
        status = read_unit(&text, &with.unit_ns);
    }
    if (status == CLO_OK)
        status = clo_argument_end(text, "parametric");
    if (status == CLO_OK)
        *(clo_parametric *)argument = with;
    return status;
}
