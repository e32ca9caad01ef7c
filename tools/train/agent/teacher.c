/* teacher.c - see teacher.h. The value of a job falls with its remaining work and its longest path, and rises for the
 * executors' own job; its limit rises with its work and falls with the number of jobs. The stage of the longest path
 * behind it comes first. Where all jobs are at their limits the own job goes on, and other executors go one by one. */
#include "train/agent/teacher.h"

#include <math.h>
#include <stdbool.h>

enum { JOB_RAW = 3, CAP = 0, OWN, EXECUTORS, STAGE_RAW = 5, TASKS = 3, WORK };

teacher teacher_for(double mean_work_ns, uint32_t executors)
{
    return (teacher){1.8585,   2.7346, 0.1209, 0.4881, 7.3728, 0.3771, 0.5270, 0.5509, mean_work_ns * 141 / 1024,
                     executors};
}

/* ranks[stages]: the longest path from each stage on, in ns. A child has a greater index. */
static void rank_stages(const clo_learned_decision *seen, double *ranks)
{
    const clo_model_case *shape = &seen->input;

    for (uint32_t s = shape->stages; s-- > 0;) {
        const int64_t *raw = &seen->stage_raw[STAGE_RAW * (size_t)s];
        double behind = 0;
        for (uint32_t k = shape->child_begin[s]; k < shape->child_begin[s + 1]; k++)
            behind = fmax(behind, ranks[shape->children[k]]);
        ranks[s] = behind + (raw[TASKS] > 0 ? (double)raw[WORK] / (double)raw[TASKS] : 0);
    }
}

/* Of a job with this work and path, `used` executors. */
static double value_of(const teacher *t, double work_ns, double path_ns, bool is_own, int64_t used)
{
    return (is_own ? t->own : 0) - t->rem * log(work_ns / t->unit_ns + 0.02) -
           t->cp * log(path_ns / t->unit_ns + 0.01) + t->ex * log((double)(used + 1) / t->executors);
}

static int64_t limit_of(const teacher *t, double work_ns, uint32_t jobs)
{
    return (int64_t)ceil(t->scale * pow(work_ns / t->unit_ns + 0.05, t->l_rem) * pow(8.0 / jobs, t->l_jobs) *
                         pow(t->executors / 50.0, t->l_size));
}

/* How sharply the teacher tells values apart, and the paths of a job's stages; what a job at its limit lacks. */
#define SHARPNESS 3.0
#define PATH_POWER 4.0
#define AT_LIMIT 6.0

typedef struct best {
    double value;
    uint32_t candidate;
    int64_t room;
} best;

static double work_of(const clo_learned_decision *seen, uint32_t job, uint32_t *next)
{
    double work_ns = 0;

    for (; *next < seen->input.stages && seen->input.job_of_stage[*next] == job; (*next)++)
        work_ns += (double)seen->stage_raw[STAGE_RAW * (size_t)*next + WORK];
    return work_ns;
}

static int64_t asked_of(const clo_learned_decision *seen)
{
    int64_t asked = 0;

    for (uint32_t j = 0; j < seen->input.jobs; j++)
        asked = seen->job_raw[JOB_RAW * (size_t)j + CAP] > asked ? seen->job_raw[JOB_RAW * (size_t)j + CAP] : asked;
    return asked;
}

/* A job, and its candidates first .. end - 1. */
typedef struct candidate_job {
    uint32_t job, first, end;
    double work_ns;
} candidate_job;

/* found: the best of those below their limits, and of the others. */
static void look_at_job(const teacher *t, const clo_learned_decision *seen, const candidate_job *j, const double *ranks,
                        double *keys, best found[2])
{
    const int64_t *raw = &seen->job_raw[JOB_RAW * (size_t)j->job], asked = asked_of(seen);
    bool is_own = raw[OWN] > 0;
    int64_t used = raw[EXECUTORS] - (is_own ? asked : 0), room = limit_of(t, j->work_ns, seen->input.jobs) - used;
    uint32_t longest = j->first;
    double shares = 0;

    for (uint32_t k = j->first; k < j->end; k++)
        longest = ranks[seen->candidates[k]] > ranks[seen->candidates[longest]] ? k : longest;
    double path_ns = ranks[seen->candidates[longest]];
    double value = value_of(t, j->work_ns, path_ns, is_own, used > 0 ? used : 0);
    for (uint32_t k = j->first; k < j->end; k++)
        shares += keys[k] = pow((ranks[seen->candidates[k]] + 1) / (path_ns + 1), PATH_POWER);
    for (uint32_t k = j->first; k < j->end; k++)
        keys[k] = SHARPNESS * (value - (room > 0 ? 0 : AT_LIMIT)) + log(fmax(keys[k] / shares, 1e-30));
    best *to = &found[room <= 0];
    value += room <= 0 && is_own ? 1e6 : 0;
    if (value > to->value)
        *to = (best){value, longest, room > 0 ? room : is_own ? asked : 1};
}

void teacher_choose(const teacher *t, const clo_learned_decision *seen, double *ranks, double *keys,
                    uint32_t *candidate, uint32_t *limit)
{
    best found[2] = {{-INFINITY, 0, 0}, {-INFINITY, 0, 0}};
    uint32_t k = 0, next = 0;

    rank_stages(seen, ranks);
    for (uint32_t j = 0; j < seen->input.jobs; j++) {
        candidate_job one = {.job = j, .first = k, .work_ns = work_of(seen, j, &next)};
        while (k < seen->candidates_count && seen->input.job_of_stage[seen->candidates[k]] == j)
            k++;
        one.end = k;
        if (one.end > one.first)
            look_at_job(t, seen, &one, ranks, keys, found);
    }
    const best *chosen = &found[!(found[0].value > -INFINITY)];
    const uint32_t job = seen->input.job_of_stage[seen->candidates[chosen->candidate]];
    int64_t cap = seen->job_raw[JOB_RAW * (size_t)job + CAP];
    *candidate = chosen->candidate;
    *limit = (uint32_t)((chosen->room < cap ? chosen->room : cap) - 1);
}

void teacher_limits(uint32_t limit, uint32_t count, double *keys)
{
    double width = 0.7 + limit / 10.0;

    for (uint32_t l = 0; l < count; l++) {
        double away = ((double)l - limit) / width;
        keys[l] = -away * away / 2;
    }
}
