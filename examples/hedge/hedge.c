/* hedge.c - hedged requests: a second attempt for a call that takes long, the first answer counts, the other attempt is
 * cancelled. The runtime does all of it (clo_job_config.hedge_after_ns).
 *
 * A call takes 2 to 4 ms, but one in 25 stalls for 80 ms (a timer for each slot stands for the services). Its body
 * starts the timer and returns; the driver completes the token when the timer fires. A call that has no answer after
 * 6 ms is made once more from another slot; who is told that the other one was first stops its timer. */
#define _GNU_SOURCE
#include <clotho/clotho.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { CALLS = 1000, SLOTS = 32, STALL_US = 80000 };

/* A slot makes one call at a time. */
typedef struct caller {
    int timer;
    pthread_mutex_t lock;
    clo_token token;
} caller;

static caller callers[SLOTS];
static int epoll, stop;

static void set_timer(int timer, long us)
{
    struct itimerspec when = {.it_value.tv_nsec = us * 1000};
    (void)timerfd_settime(timer, 0, &when, NULL);
}

/* The other attempt was first. */
static void drop_call(void *argument)
{
    caller *c = argument;
    pthread_mutex_lock(&c->lock);
    set_timer(c->timer, 0);
    (void)!clo_token_complete(c->token, 1); /* no: the answer has come at this moment */
    pthread_mutex_unlock(&c->lock);
}

/* How long an attempt takes follows from its numbers, so that both runs meet the same stalls. */
static int make_call(const clo_call *call)
{
    caller *c = &callers[call->executor];
    uint32_t x = (call->instance * 2 + call->is_replica) * 2654435761u;
    pthread_mutex_lock(&c->lock); /* an old answer may be on its way still */
    int failed = clo_token_take(call, drop_call, c, &c->token) != CLO_OK;
    set_timer(c->timer, (x >> 8) % 25 == 0 ? STALL_US : 2000 + (long)(x >> 16) % 2000);
    pthread_mutex_unlock(&c->lock);
    return failed ? 1 : CLO_PENDING;
}

static void *drive(void *unused)
{
    struct epoll_event events[SLOTS];
    for (;;) {
        int count = epoll_wait(epoll, events, SLOTS, -1);
        for (int i = 0; i < count; i++) {
            uint64_t fired;
            if (events[i].data.u32 == SLOTS)
                return unused;
            caller *c = &callers[events[i].data.u32];
            pthread_mutex_lock(&c->lock);
            if (read(c->timer, &fired, sizeof fired) > 0) /* no: it was stopped, or set anew */
                (void)!clo_token_complete(c->token, 0);
            pthread_mutex_unlock(&c->lock);
        }
    }
}

static int watch(int fd, uint32_t number)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* From the start of a call to its answer, of whichever attempt; sorted. */
static clo_status measure(const clo_job *job, int64_t took_ns[CALLS])
{
    static int64_t begin_ns[CALLS], end_ns[CALLS];
    clo_trace *trace;
    size_t count;
    clo_status status = clo_job_trace(job, &trace);
    if (status != CLO_OK)
        return status;
    const clo_trace_event *events = clo_trace_events(trace, &count);
    for (size_t i = 0; i < count; i++) {
        if (!events[i].is_replica)
            begin_ns[events[i].instance] = events[i].start_ns;
        if (!events[i].is_lost)
            end_ns[events[i].instance] = events[i].finish_ns;
    }
    for (int i = 0; i < CALLS; i++)
        took_ns[i] = end_ns[i] - begin_ns[i];
    qsort(took_ns, CALLS, sizeof *took_ns, by_time);
    clo_trace_destroy(trace);
    return CLO_OK;
}

/* Returns how many second attempts were first, or a negative number. */
static int run(clo_runtime *runtime, const clo_cost *cost, int64_t after_ns)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    static int64_t took_ns[CALLS];
    clo_job *job = NULL;
    int slow = 0;

    config.hedge_after_ns = &after_ns;
    if (clo_job_create(runtime, cost, &config, &job) != CLO_OK || clo_job_submit(job) != CLO_OK ||
        clo_job_wait(job, &result) != CLO_OK || measure(job, took_ns) != CLO_OK)
        return fprintf(stderr, "hedge: %s\n", clo_last_error()), -1;
    for (int i = 0; i < CALLS; i++)
        slow += took_ns[i] >= STALL_US * 1000LL;
    printf("%s: p50 %lld us, p99 %lld us, %d stalls seen; %llu second attempts, %llu of them first, %llu cancels\n",
           after_ns > 0 ? "hedged" : "one attempt each", (long long)took_ns[CALLS / 2] / 1000,
           (long long)took_ns[CALLS * 99 / 100] / 1000, slow, (unsigned long long)result.duplicates_run,
           (unsigned long long)result.hedges_won, (unsigned long long)result.hedges_cancelled);
    clo_job_destroy(job);
    return (int)result.hedges_won;
}

int main(void)
{
    clo_task calls = {.name = "call", .body = make_call, .instances = CALLS, .work_ns = 3000000, .may_pend = 1};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_runtime *runtime = NULL;
    pthread_t driver;

    calls.duplicable = 1; /* asking twice does no harm */
    config.trace = 1;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    stop = eventfd(0, EFD_CLOEXEC);
    int failed = watch(stop, SLOTS);
    for (uint32_t s = 0; s < SLOTS; s++) {
        pthread_mutex_init(&callers[s].lock, NULL);
        callers[s].timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        failed |= watch(callers[s].timer, s);
    }
    if (failed || clo_graph_create("calls", &graph) != CLO_OK || clo_graph_add_task(graph, &calls, NULL) != CLO_OK ||
        clo_graph_seal(graph) != CLO_OK || clo_platform_open("slots:32", &platform) != CLO_OK ||
        clo_cost_create(graph, platform, &cost) != CLO_OK ||
        clo_runtime_create(platform, &config, &runtime) != CLO_OK || pthread_create(&driver, NULL, drive, NULL) != 0)
        return fprintf(stderr, "hedge: %s\n", clo_last_error()), 1;
    int alone = run(runtime, cost, 0), won = run(runtime, cost, 6000000);
    (void)!write(stop, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(driver, NULL);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return alone < 0 || won <= 0; /* the tail is cut, or something is wrong */
}
