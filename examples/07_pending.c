/* 07_pending.c - bodies that finish later: 300 calls of 20 to 60 ms each, under way at once on 2 threads.
 *
 * A body arms a timer (in place of a socket, a pipe, a pidfd), leaves it and its token to the driver, one thread with
 * epoll, and returns CLO_PENDING. When the timer rings, the driver completes the token. The platform has a slot for
 * each call, so no call waits for another, and no thread for a call. */
#define _GNU_SOURCE
#include <clotho/clotho.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 300 };

typedef struct request {
    clo_token token;
    int timer;
} request;

static int epoll;
static request requests[CALLS];

static int start_call(const clo_call *call)
{
    request *r = &requests[call->instance];
    struct itimerspec when = {.it_value.tv_nsec = 20000000 + 40000000 / CALLS * (long)call->instance};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = r};

    r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (r->timer < 0 || clo_token_take(call, NULL, NULL, &r->token) != CLO_OK)
        return 1;
    if (timerfd_settime(r->timer, 0, &when, NULL) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, r->timer, &event) != 0)
        return 1; /* the token is stale then */
    return CLO_PENDING;
}

/* The driver: ends with the last call. */
static void *drive(void *unused)
{
    struct epoll_event events[64];

    for (int completed = 0; completed < CALLS;) {
        int count = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            request *r = events[i].data.ptr;
            close(r->timer);
            completed += clo_token_complete(r->token, 0) == CLO_OK;
        }
    }
    return unused;
}

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    clo_task calls = {.name = "call", .body = start_call, .instances = CALLS, .work_ns = 40000000, .may_pend = 1};
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;
    pthread_t driver;

    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (clo_graph_create("calls", &graph) != CLO_OK || clo_graph_add_task(graph, &calls, NULL) != CLO_OK ||
        clo_graph_seal(graph) != CLO_OK || clo_platform_open("slots:300", &platform) != CLO_OK ||
        clo_cost_create(graph, platform, &cost) != CLO_OK || clo_runtime_create(platform, NULL, &runtime) != CLO_OK ||
        clo_job_create(runtime, cost, NULL, &job) != CLO_OK || pthread_create(&driver, NULL, drive, NULL) != 0)
        return fprintf(stderr, "07_pending: %s\n", clo_last_error()), 1;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    clo_status status = clo_job_submit(job) == CLO_OK ? clo_job_wait(job, NULL) : CLO_ERR_STATE;
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (status == CLO_OK)
        pthread_join(driver, NULL);
    printf("%s: 12 s of calls in %.0f ms, %.1f ms of CPU time\n", clo_status_text(status), wall * 1e3, cpu * 1e3);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return status != CLO_OK;
}
