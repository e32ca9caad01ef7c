/* hedge.c - hedged requests: a second attempt for a call that takes long, the first answer wins, the other is dropped.
 *
 * A call takes 2 to 4 ms, but one in 25 stalls for 80 ms (timers stand for the services). The bodies are pending; the
 * driver starts the second attempt after 6 ms, completes the token with the first answer, and cancels the loser. This
 * is done within one execution: to the runtime each call is one body that finishes later.
 *
 * A body only writes the number of its call into a pipe. Timers and requests belong to the driver from there on, so
 * nothing else needs a lock. */
#define _GNU_SOURCE
#include <clotho/clotho.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 1000, PIPE = 0, FIRST, SECOND, HEDGE, TIMERS };

typedef struct request {
    clo_token token;
    int timers[TIMERS];
    long long begin_ns, took_ns;
} request;

static int epoll, begun[2], hedges, extra, second_won;
static request requests[CALLS];

static long long now_ns(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now), now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int arm(uint32_t call, uint32_t which, long us)
{
    struct itimerspec when = {.it_value.tv_nsec = us * 1000};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)call * TIMERS + which};
    int timer = requests[call].timers[which] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    return timer < 0 || timerfd_settime(timer, 0, &when, NULL) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
}

/* An attempt: how long it takes follows from its numbers, so that both runs meet the same stalls. */
static int attempt(uint32_t call, uint32_t which)
{
    uint32_t x = (call * 2 + which) * 2654435761u;
    return arm(call, which, (x >> 8) % 25 == 0 ? 80000 : 2000 + (long)(x >> 16) % 2000);
}

static int start_request(const clo_call *call)
{
    request *r = &requests[call->instance];
    *r = (request){.begin_ns = now_ns()};
    if (clo_token_take(call, NULL, NULL, &r->token) != CLO_OK)
        return 1;
    return write(begun[1], &call->instance, sizeof call->instance) == sizeof call->instance ? CLO_PENDING : 1;
}

static void first_attempts(void)
{
    uint32_t call[64];
    ssize_t bytes = read(begun[0], call, sizeof call); /* whole numbers: that is how they are written */
    for (ssize_t i = 0; i < bytes / (ssize_t)sizeof *call; i++)
        if ((hedges && arm(call[i], HEDGE, 6000) != 0) || attempt(call[i], FIRST) != 0)
            exit((perror("hedge"), 1));
}

/* True: this call is answered. */
static int expired(uint32_t call, uint32_t which)
{
    request *r = &requests[call];
    if (r->took_ns > 0)
        return 0; /* of the loser, which is closed */
    if (which == HEDGE) {
        epoll_ctl(epoll, EPOLL_CTL_DEL, r->timers[HEDGE], NULL);
        extra += attempt(call, SECOND) == 0;
        return 0;
    }
    r->took_ns = now_ns() - r->begin_ns;
    second_won += which == SECOND;
    for (int t = FIRST; t < TIMERS; t++)
        if (r->timers[t] > 0)
            close(r->timers[t]); /* cancels */
    return clo_token_complete(r->token, 0) == CLO_OK;
}

static void *drive(void *unused)
{
    struct epoll_event events[64];
    for (int answered = 0; answered < CALLS;) {
        int count = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            uint32_t which = (uint32_t)(events[i].data.u64 % TIMERS);
            if (which == PIPE)
                first_attempts();
            else
                answered += expired((uint32_t)(events[i].data.u64 / TIMERS), which);
        }
    }
    return unused;
}

static int by_time(const void *a, const void *b)
{
    const request *x = a, *y = b;
    return (x->took_ns > y->took_ns) - (x->took_ns < y->took_ns);
}

static void run(clo_job *job, int with_hedges)
{
    pthread_t driver;
    hedges = with_hedges, extra = second_won = 0;
    pthread_create(&driver, NULL, drive, NULL);
    if (clo_job_submit(job) != CLO_OK)
        exit((fprintf(stderr, "hedge: %s\n", clo_last_error()), 1));
    clo_status status = clo_job_wait(job, NULL);
    pthread_join(driver, NULL);
    qsort(requests, CALLS, sizeof *requests, by_time);
    long long p50_us = requests[CALLS / 2].took_ns / 1000, p99_us = requests[CALLS * 99 / 100].took_ns / 1000;
    printf("%s, %s: p50 %lld us, p99 %lld us, %.1f %% more calls, %d won\n", hedges ? "hedged" : "one attempt each",
           clo_status_text(status), p50_us, p99_us, 100.0 * extra / CALLS, second_won);
}

int main(void)
{
    clo_task calls = {.name = "call", .body = start_request, .instances = CALLS, .work_ns = 3000000, .may_pend = 1};
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;

    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (pipe(begun) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, begun[0], &(struct epoll_event){.events = EPOLLIN}) != 0)
        return perror("hedge"), 1;
    if (clo_graph_create("calls", &graph) != CLO_OK || clo_graph_add_task(graph, &calls, NULL) != CLO_OK ||
        clo_graph_seal(graph) != CLO_OK || clo_platform_open("slots:32", &platform) != CLO_OK ||
        clo_cost_create(graph, platform, &cost) != CLO_OK || clo_runtime_create(platform, NULL, &runtime) != CLO_OK ||
        clo_job_create(runtime, cost, NULL, &job) != CLO_OK)
        return fprintf(stderr, "hedge: %s\n", clo_last_error()), 1;
    run(job, 0);
    run(job, 1);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return second_won == 0; /* the tail is cut, or something is wrong */
}
