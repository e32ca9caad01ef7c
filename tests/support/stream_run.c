/* stream_run.c - see stream_run.h. One loop over inputs in order of time; after each, decisions until nothing may start
 * or a coin says to wait. */
#include "stream_run.h"

#include "base/numbers/rng.h"
#include "sample.h"
#include "stream_draw.h"

#include <string.h>

enum { DELAY_MAX = 2 }; /* between a START and its body, under the real clock */

typedef struct instance_state {
    bool is_started, is_finished, has_replica;
    int64_t finish_ns[STREAM_EXECUTORS_MAX]; /* known finishes; < 0: none */
} instance_state;

typedef struct job_state {
    bool has_arrived, is_closed, is_done, is_cancelled, has_failed;
    uint32_t running, limit;
    uint32_t stages, instances[STREAM_TASKS_MAX];
    clo_task task[STREAM_TASKS_MAX];
    clo_edge edges[STREAM_TASKS_MAX * STREAM_TASKS_MAX];
    uint32_t edges_count;
    instance_state state[STREAM_TASKS_MAX][STREAM_INSTANCES_MAX];
} job_state;

/* Something that runs or is committed; heard_ns: when the scheduler hears of its end. */
typedef struct execution {
    uint32_t job, stage, instance, executor;
    bool is_replica, is_open;
    int64_t held_from_ns, start_ns, finish_ns, heard_ns;
} execution;

/* Who waits for capacity of a machine; job CLO_NONE: nobody. */
typedef struct waiter {
    uint32_t job, stage, passed;
} waiter;

typedef struct simulation {
    stream_run *run;
    clo_rng rng;
    int breaks;
    int64_t now_ns;
    job_state jobs[STREAM_JOBS_MAX];
    int64_t cancel_ns[STREAM_JOBS_MAX]; /* < 0: never */
    execution *executions;
    size_t count, capacity;
    uint32_t executors, machines;
    uint32_t given[STREAM_EXECUTORS_MAX]; /* open executions */
    waiter waiters[2];
} simulation;

static uint32_t below(simulation *s, uint32_t n)
{
    return clo_rng_below(&s->rng, n);
}

static void append(stream_run *run, clo_log_record record)
{
    if (run->count == run->capacity) {
        run->capacity = run->capacity * 2 + 64;
        run->records = realloc(run->records, run->capacity * sizeof run->records[0]);
        assert_non_null(run->records);
    }
    run->records[run->count++] = record;
}

static void tell(simulation *s, uint32_t what, uint32_t job, int64_t value)
{
    append(s->run, (clo_log_record){.now_ns = s->now_ns,
                                    .job = job == CLO_NONE ? CLO_LOG_NO_JOB : s->run->jobs[job].job,
                                    .what = what,
                                    .stage = CLO_NONE,
                                    .instance = CLO_NONE,
                                    .executor = CLO_NONE,
                                    .value = value});
}

static void make_job(simulation *s, uint32_t j, bool has_bands)
{
    job_state *job = &s->jobs[j];
    const clo_stream_job *what = &s->run->jobs[j];

    stream_draw_job(s->run, &s->rng, j, has_bands);
    job->limit = what->limit;
    job->stages = clo_graph_tasks(s->run->graphs[j]);
    job->edges_count = clo_graph_edges(s->run->graphs[j]);
    for (uint32_t t = 0; t < job->stages; t++) {
        ok(clo_graph_task(s->run->graphs[j], t, &job->task[t]));
        job->instances[t] = job->task[t].instances;
        for (uint32_t i = 0; i < job->instances[t]; i++)
            for (uint32_t e = 0; e < STREAM_EXECUTORS_MAX; e++)
                job->state[t][i].finish_ns[e] = -1;
    }
    for (uint32_t e = 0; e < job->edges_count; e++)
        ok(clo_graph_edge(s->run->graphs[j], e, &job->edges[e]));
    s->cancel_ns[j] = below(s, 8) == 0 ? what->arrival_ns + below(s, 200) : -1;
}

/* What may be started. */

static bool is_ready(const job_state *job, uint32_t stage)
{
    for (uint32_t e = 0; e < job->edges_count; e++)
        for (uint32_t i = 0; job->edges[e].to == stage && i < job->instances[job->edges[e].from]; i++)
            if (!job->state[job->edges[e].from][i].is_finished)
                return false;
    return true;
}

/* kept: what is to be left of each resource; NULL: nothing. */
static bool fits_beside(const simulation *s, const clo_task *task, uint32_t executor, const int64_t *kept)
{
    uint32_t machine = executor % s->machines;

    for (uint32_t r = 0; r < 2; r++) {
        int64_t used = kept != NULL ? kept[r] : 0;
        for (size_t i = 0; i < s->count; i++)
            if (s->executions[i].is_open && s->executions[i].executor % s->machines == machine)
                used += s->jobs[s->executions[i].job].task[s->executions[i].stage].demand[r];
        if (task->demand[r] > 0 && used + task->demand[r] > clo_platform_capacity(s->run->platform, machine, r))
            return false;
    }
    return true;
}

static bool fits(const simulation *s, const clo_task *task, uint32_t executor)
{
    return fits_beside(s, task, executor, NULL);
}

/* What is kept from a stage on the executor's machine; NULL: nothing. */
static const int64_t *kept_from(const simulation *s, uint32_t j, uint32_t stage, uint32_t executor)
{
    const waiter *w = &s->waiters[executor % s->machines];
    bool is_kept = w->job != CLO_NONE && w->passed >= STREAM_OVERTAKES && (w->job != j || w->stage != stage);

    return is_kept && s->run->jobs[j].band >= s->run->jobs[w->job].band ? s->jobs[w->job].task[w->stage].demand : NULL;
}

static void tell_waiter(simulation *s, uint32_t machine)
{
    const waiter *w = &s->waiters[machine];
    bool is_there = w->job != CLO_NONE;

    append(s->run, (clo_log_record){s->now_ns, is_there ? s->run->jobs[w->job].job : CLO_LOG_NO_JOB, CLO_LOG_KEEP,
                                    is_there ? w->stage : CLO_NONE, CLO_NONE, machine, is_there ? w->passed : 0});
}

/* A stage starts on the machine: it waits no more, or passes who does. */
static void pass_waiter(simulation *s, uint32_t machine, uint32_t j, uint32_t stage)
{
    const clo_task *task = &s->jobs[j].task[stage];
    waiter *w = &s->waiters[machine];

    if (w->job == CLO_NONE || task->demand[0] + task->demand[1] == 0)
        return;
    if (w->job == j && w->stage == stage) {
        w->job = CLO_NONE;
        tell_waiter(s, machine);
    } else if (w->passed < STREAM_OVERTAKES && ++w->passed == STREAM_OVERTAKES) {
        tell_waiter(s, machine);
    }
}

typedef struct choice {
    uint32_t job, stage, instance, executor;
    bool is_replica;
} choice;

static bool is_below_limit(const job_state *job)
{
    return job->limit == 0 || job->running < job->limit;
}

static int64_t cost_of(const simulation *s, const choice *c)
{
    return clo_cost_execution_ns(s->run->costs[c->job], c->stage, c->executor);
}

/* True if an instance of a higher band could go to the executor. */
static bool is_outranked(const simulation *s, const choice *c)
{
    for (uint32_t j = 0; j < s->run->jobs_count; j++) {
        const job_state *job = &s->jobs[j];
        if (s->run->jobs[j].band >= s->run->jobs[c->job].band || !job->has_arrived || job->is_closed ||
            !is_below_limit(job))
            continue;
        for (uint32_t t = 0; t < job->stages; t++)
            for (uint32_t i = 0; i < job->instances[t]; i++)
                if (!job->state[t][i].is_started && is_ready(job, t) &&
                    fits_beside(s, &job->task[t], c->executor, kept_from(s, j, t, c->executor)) &&
                    clo_cost_execution_ns(s->run->costs[j], t, c->executor) != CLO_TIME_NEVER)
                    return true;
    }
    return false;
}

/* The rules that a choice breaks, as bits of STREAM_BREAKS_. */
static unsigned broken_rules(const simulation *s, const choice *c)
{
    const job_state *job = &s->jobs[c->job];
    unsigned broken = 0;

    const int64_t *kept = kept_from(s, c->job, c->stage, c->executor);

    broken |= !fits(s, &job->task[c->stage], c->executor) ? 1u << STREAM_BREAKS_CAPACITY : 0;
    broken |= !fits_beside(s, &job->task[c->stage], c->executor, kept) && fits(s, &job->task[c->stage], c->executor)
                  ? 1u << STREAM_BREAKS_KEPT
                  : 0;
    broken |= !is_below_limit(job) ? 1u << STREAM_BREAKS_LIMIT : 0;
    broken |= is_outranked(s, c) ? 1u << STREAM_BREAKS_BAND : 0;
    broken |= !is_ready(job, c->stage) ? 1u << STREAM_BREAKS_PRECEDENCE : 0;
    broken |= cost_of(s, c) == CLO_TIME_NEVER ? 1u << STREAM_BREAKS_PLACEMENT : 0;
    broken |= s->given[c->executor] > 0 ? 1u << STREAM_BREAKS_BUSY : 0;
    return broken;
}

static int64_t input_ns(const simulation *s, const choice *c)
{
    const job_state *job = &s->jobs[c->job];
    int64_t latest_ns = s->now_ns;

    for (uint32_t k = 0; k < job->edges_count && s->run->header.clock == CLO_CLOCK_VIRTUAL; k++) {
        const clo_edge *edge = &job->edges[k];
        if (edge->to != c->stage)
            continue;
        uint64_t pairs = job->instances[edge->from] * job->instances[edge->to];
        for (uint32_t i = 0; i < job->instances[edge->from]; i++) {
            int64_t first_ns = INT64_MAX;
            for (uint32_t e = 0; e < s->executors; e++) {
                int64_t finish_ns = job->state[edge->from][i].finish_ns[e];
                int64_t there_ns = finish_ns + clo_platform_transfer_ns(
                                                   s->run->platform, (edge->bytes + pairs - 1) / pairs, e, c->executor);
                if (finish_ns >= 0 && there_ns < first_ns)
                    first_ns = there_ns;
            }
            if (first_ns != INT64_MAX && first_ns > latest_ns)
                latest_ns = first_ns;
        }
    }
    return latest_ns;
}

/* A predecessor that is not finished ends after now: it runs already (`shows` looks how long), or takes time. */
static bool has_late_predecessor(const simulation *s, const choice *c)
{
    const job_state *job = &s->jobs[c->job];

    for (uint32_t k = 0; k < job->edges_count; k++) {
        uint32_t from = job->edges[k].from;
        bool takes_time = s->run->header.clock == CLO_CLOCK_VIRTUAL && job->task[from].work_ns > 0;
        for (uint32_t i = 0; job->edges[k].to == c->stage && i < job->instances[from]; i++)
            if (!job->state[from][i].is_finished && (job->state[from][i].is_started || takes_time))
                return true;
    }
    return false;
}

/* A fault that times can show: what is in the way really runs beyond now. */
static bool shows(const simulation *s, const choice *c)
{
    if (cost_of(s, c) < 2 /* of which the real clock may take half */ || input_ns(s, c) != s->now_ns)
        return false;
    if (s->breaks == STREAM_BREAKS_PRECEDENCE && !has_late_predecessor(s, c))
        return false;
    for (size_t i = 0; i < s->count; i++) {
        const execution *x = &s->executions[i];
        if (x->is_open &&
            (x->finish_ns <= s->now_ns + DELAY_MAX || x->held_from_ns > s->now_ns || x->start_ns > s->now_ns))
            return false;
    }
    return true;
}

/* Doing it. */

static void start(simulation *s, const choice *c, bool is_commit)
{
    job_state *job = &s->jobs[c->job];
    bool is_real = s->run->header.clock == CLO_CLOCK_REAL;
    int64_t cost_ns = cost_of(s, c) == CLO_TIME_NEVER ? 5 : cost_of(s, c), start_ns = input_ns(s, c);

    for (size_t i = 0; i < s->count && is_commit; i++)
        if (s->executions[i].is_open && s->executions[i].executor == c->executor &&
            s->executions[i].finish_ns > start_ns)
            start_ns = s->executions[i].finish_ns;
    start_ns += is_real ? below(s, DELAY_MAX + 1) : 0;
    int64_t finish_ns = start_ns + (is_real ? cost_ns / 2 + below(s, 50) : cost_ns);
    execution x = {.job = c->job,
                   .stage = c->stage,
                   .instance = c->instance,
                   .executor = c->executor,
                   .is_replica = c->is_replica,
                   .is_open = true,
                   .held_from_ns = is_commit ? start_ns : s->now_ns,
                   .start_ns = start_ns,
                   .finish_ns = finish_ns,
                   .heard_ns = finish_ns + (is_real ? below(s, 4) : 0)};
    if (s->count == s->capacity) {
        s->capacity = s->capacity * 2 + 64;
        s->executions = realloc(s->executions, s->capacity * sizeof s->executions[0]);
        assert_non_null(s->executions);
    }
    s->executions[s->count++] = x;
    s->given[c->executor]++;
    job->running++;
    job->state[c->stage][c->instance].has_replica |= c->is_replica;
    job->state[c->stage][c->instance].is_started |= !c->is_replica;
    append(s->run, (clo_log_record){s->now_ns, s->run->jobs[c->job].job, is_commit ? CLO_LOG_COMMIT : CLO_LOG_START,
                                    c->stage, c->instance, c->executor, c->is_replica});
    if (!is_commit)
        pass_waiter(s, c->executor % s->machines, c->job, c->stage);
}

/* All choices whose broken rules are exactly `wanted`; one of them at random. */
static bool find_choice(simulation *s, unsigned wanted, choice *out)
{
    uint32_t found = 0;

    for (uint32_t j = 0; j < s->run->jobs_count; j++) {
        const job_state *job = &s->jobs[j];
        if (!job->has_arrived || job->is_closed)
            continue;
        for (uint32_t t = 0; t < job->stages; t++)
            for (uint32_t i = 0; i < job->instances[t]; i++)
                for (uint32_t e = 0; e < s->executors && !job->state[t][i].is_started; e++) {
                    choice c = {j, t, i, e, false};
                    bool is_good = broken_rules(s, &c) == wanted && (wanted == 0 || shows(s, &c));
                    if (is_good && below(s, ++found) == 0)
                        *out = c;
                }
    }
    return found > 0;
}

/* A replica of something that runs, on another executor that is free. */
static void maybe_replicate(simulation *s, const choice *c)
{
    const job_state *job = &s->jobs[c->job];
    choice replica = {c->job, c->stage, c->instance, below(s, s->executors), true};

    if (job->task[c->stage].duplicable && replica.executor != c->executor && broken_rules(s, &replica) == 0 &&
        !job->state[c->stage][c->instance].has_replica)
        start(s, &replica, false);
}

/* Behind a busy executor, where no rule but that one is touched: no demands, no limit. */
static void maybe_commit(simulation *s)
{
    choice c;

    if (s->run->header.clock == CLO_CLOCK_REAL && below(s, 2) == 0)
        return;
    if (!find_choice(s, 1u << STREAM_BREAKS_BUSY, &c))
        return;
    const job_state *job = &s->jobs[c.job];
    if (job->limit == 0 && job->task[c.stage].demand[0] == 0 && job->task[c.stage].demand[1] == 0)
        start(s, &c, true);
}

/* The stage has something to start there, but for the capacity. */
static bool may_wait(const simulation *s, uint32_t j, uint32_t stage, uint32_t machine)
{
    const job_state *job = &s->jobs[j];
    bool has_more = false;

    for (uint32_t i = 0; i < job->instances[stage]; i++)
        has_more |= !job->state[stage][i].is_started;
    if (!has_more || !job->has_arrived || job->is_closed || !is_ready(job, stage) ||
        fits(s, &job->task[stage], machine)) /* executor e is on machine e % machines */
        return false;
    for (uint32_t e = machine; e < s->executors; e += s->machines)
        if (clo_cost_execution_ns(s->run->costs[j], stage, e) != CLO_TIME_NEVER)
            return true;
    return false;
}

/* Those who have nothing more to start wait no longer; a machine for which nobody waits may get somebody. */
static void change_waiters(simulation *s)
{
    for (uint32_t m = 0; m < s->machines; m++) {
        waiter *w = &s->waiters[m];
        bool has_more = false;
        for (uint32_t i = 0; w->job != CLO_NONE && i < s->jobs[w->job].instances[w->stage]; i++)
            has_more |= !s->jobs[w->job].state[w->stage][i].is_started;
        if (w->job != CLO_NONE && (!has_more || s->jobs[w->job].is_closed)) {
            w->job = CLO_NONE;
            tell_waiter(s, m);
        }
        for (uint32_t j = 0; j < s->run->jobs_count; j++)
            for (uint32_t t = 0; t < s->jobs[j].stages && w->job == CLO_NONE; t++)
                if (may_wait(s, j, t, m) && below(s, 3) == 0) {
                    *w = (waiter){j, t, 0};
                    tell_waiter(s, m);
                }
    }
}

static void decide(simulation *s)
{
    choice c;

    change_waiters(s);
    if (s->breaks != STREAM_KEEPS_ALL && s->run->broken == 0 && find_choice(s, 1u << s->breaks, &c)) {
        start(s, &c, false);
        s->run->broken++;
    }
    while (find_choice(s, 0, &c) && below(s, 20) > 0) {
        start(s, &c, false);
        if (below(s, 2) == 0 && s->breaks != STREAM_BREAKS_PRECEDENCE) /* a replica would do in its place */
            maybe_replicate(s, &c);
        change_waiters(s);
    }
    if (below(s, 6) == 0)
        maybe_commit(s);
    if (below(s, 20) == 0)
        tell(s, CLO_LOG_WAKE, CLO_NONE, s->now_ns + 10);
    if (below(s, 20) == 0)
        append(s->run, (clo_log_record){s->now_ns, 1u << 30, CLO_LOG_REFUSED, 77, 77, 77, 0});
}

static void end_jobs(simulation *s)
{
    for (uint32_t j = 0; j < s->run->jobs_count; j++) {
        job_state *job = &s->jobs[j];
        bool is_complete = true;
        for (uint32_t t = 0; t < job->stages; t++)
            for (uint32_t i = 0; i < job->instances[t]; i++)
                is_complete &= job->state[t][i].is_finished;
        if (!job->has_arrived || job->is_done || job->running > 0 || !(job->is_closed || is_complete))
            continue;
        job->is_done = job->is_closed = true;
        tell(s, CLO_LOG_DONE, j,
             job->has_failed     ? CLO_LOG_DONE_FAILED
             : job->is_cancelled ? CLO_LOG_DONE_CANCELLED
                                 : CLO_LOG_DONE_OK);
    }
}

static void finish(simulation *s, execution *x)
{
    job_state *job = &s->jobs[x->job];
    instance_state *state = &job->state[x->stage][x->instance];

    /* Of a job that fails the log cannot say since when it does not wait. */
    bool fails = s->breaks != STREAM_BREAKS_BAND && below(s, 150) == 0;
    if (fails && !job->is_closed) {
        job->is_closed = job->has_failed = true;
        tell(s, CLO_LOG_CANCEL, x->job, 1);
    }
    append(s->run, (clo_log_record){x->finish_ns, s->run->jobs[x->job].job, CLO_LOG_FINISH, x->stage, x->instance,
                                    x->executor, x->start_ns});
    x->is_open = false;
    s->given[x->executor]--;
    job->running--;
    state->finish_ns[x->executor] = x->finish_ns;
    state->is_finished |= !x->is_replica;
}

/* When the next input comes: an arrival (kind 0), the end of an execution (1), a cancellation (2). */
static int64_t next_input(const simulation *s, int *kind, size_t *which)
{
    int64_t first_ns = INT64_MAX;

    for (uint32_t j = 0; j < s->run->jobs_count; j++) {
        if (!s->jobs[j].has_arrived && s->run->jobs[j].arrival_ns < first_ns) {
            first_ns = s->run->jobs[j].arrival_ns;
            *kind = 0;
            *which = j;
        }
        if (s->cancel_ns[j] >= 0 && s->jobs[j].has_arrived && !s->jobs[j].is_cancelled && s->cancel_ns[j] < first_ns) {
            first_ns = s->cancel_ns[j];
            *kind = 2;
            *which = j;
        }
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->executions[i].is_open && s->executions[i].heard_ns < first_ns) {
            first_ns = s->executions[i].heard_ns;
            *kind = 1;
            *which = i;
        }
    return first_ns;
}

static void take_input(simulation *s, int kind, size_t which)
{
    if (kind == 1) {
        finish(s, &s->executions[which]);
    } else if (kind == 0) {
        s->jobs[which].has_arrived = true;
        tell(s, CLO_LOG_ARRIVE, (uint32_t)which, (int64_t)which);
    } else {
        s->jobs[which].is_cancelled = true;
        s->jobs[which].is_closed |= true;
        tell(s, CLO_LOG_CANCEL, (uint32_t)which, 0);
    }
    uint32_t j = below(s, s->run->jobs_count);
    if (below(s, 8) == 0 && s->jobs[j].has_arrived && !s->jobs[j].is_done && s->jobs[j].running == 0 &&
        !s->jobs[j].is_closed) {
        s->jobs[j].limit = below(s, 4);
        tell(s, CLO_LOG_LIMIT, j, s->jobs[j].limit);
    }
    if (below(s, 20) == 0)
        tell(s, CLO_LOG_SWAP, CLO_NONE, below(s, 2));
}

/* True while some job has arrived that nobody will wake: the coin said to wait and nothing runs. */
static bool is_stuck(const simulation *s)
{
    for (uint32_t j = 0; j < s->run->jobs_count; j++)
        if (!s->jobs[j].is_done)
            return true;
    return false;
}

static void simulate(simulation *s)
{
    int kind = 0;
    size_t which = 0;

    s->now_ns = 0;
    tell(s, CLO_LOG_BEGIN, CLO_NONE, 0);
    for (int rounds = 0; rounds < 5000; rounds++) {
        int64_t next_ns = next_input(s, &kind, &which);
        if (next_ns == INT64_MAX && !is_stuck(s))
            break;
        if (next_ns == INT64_MAX) {
            s->now_ns += 10;
            tell(s, CLO_LOG_TIMER, CLO_NONE, s->now_ns);
        } else {
            s->now_ns = next_ns > s->now_ns ? next_ns : s->now_ns;
            take_input(s, kind, which);
        }
        end_jobs(s);
        decide(s);
    }
    assert_false(is_stuck(s));
    tell(s, CLO_LOG_END, CLO_NONE, 0);
}

void stream_run_open(stream_run *run, uint64_t seed, int breaks)
{
    static const clo_log_policy policies[] = {{"own", NULL}, {"other", "7"}};
    simulation *s = calloc(1, sizeof *s);

    assert_non_null(s);
    *run = (stream_run){.header = CLO_LOG_HEADER_INIT};
    *s = (simulation){.run = run, .rng = sample_rng(seed), .breaks = breaks};
    s->waiters[0].job = s->waiters[1].job = CLO_NONE;
    stream_draw_platform(run, &s->rng);
    s->executors = clo_platform_executors(run->platform);
    s->machines = clo_platform_machines(run->platform);
    run->header.clock = below(s, 2) == 0 ? CLO_CLOCK_REAL : CLO_CLOCK_VIRTUAL;
    run->header.executors = s->executors;
    run->header.policies = policies;
    run->header.policies_count = 2;
    run->jobs_count = 1 + below(s, STREAM_JOBS_MAX);
    bool has_bands = below(s, 2) == 0;
    for (uint32_t j = 0; j < run->jobs_count; j++)
        make_job(s, j, has_bands);
    simulate(s);
    free(s->executions);
    free(s);
}

void stream_run_close(stream_run *run)
{
    for (uint32_t j = 0; j < run->jobs_count; j++) {
        clo_cost_destroy(run->costs[j]);
        clo_graph_destroy(run->graphs[j]);
    }
    clo_platform_destroy(run->platform);
    free(run->records);
}

clo_log *stream_run_log(const stream_run *run)
{
    clo_log *log;

    ok(clo_log_create(&run->header, run->count + 1, &log));
    for (size_t i = 0; i < run->count; i++)
        assert_true(clo_log_append(log, &run->records[i]));
    return log;
}

void stream_insert(stream_run *run, size_t at, clo_log_record record)
{
    append(run, record);
    memmove(&run->records[at + 1], &run->records[at], (run->count - 1 - at) * sizeof record);
    run->records[at] = record;
}

void stream_remove(stream_run *run, size_t at)
{
    memmove(&run->records[at], &run->records[at + 1], (run->count - 1 - at) * sizeof run->records[0]);
    run->count--;
}
