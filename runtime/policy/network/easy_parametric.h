/* policy/network/easy_parametric.h - easy-sjf with learned numbers, for the policies that decide by it over a queue of
 * their own. */
#ifndef CLO_POLICY_NETWORK_EASY_PARAMETRIC_H
#define CLO_POLICY_NETWORK_EASY_PARAMETRIC_H

#include "policy/network/easy_network.h"
#include "policy/select/job_queue.h"

/* Q16 (easy_parametric.c says what each does). */
typedef struct clo_easy_numbers {
    int32_t fit, work, area, time, behind, ready;
    int32_t pass, wait, first, length, left;
} clo_easy_numbers;

typedef struct clo_easy {
    clo_easy_numbers with;
    clo_easy_network *network; /* NULL: none */
    uint32_t came;             /* jobs, up to so many that the mean is of the last ones */
    bool is_behind_ranks;      /* what is kept of a job stands behind what by_rank.h keeps, else first in its state */
    int64_t mean_ns;           /* their work */
} clo_easy;

/* What is kept of a job, 8-aligned. */
size_t clo_easy_job_bytes(const clo_cost *cost);
void clo_easy_prepare(void *memory, const clo_cost *cost);

/* numbers: copied; NULL: the built-in ones. network: borrowed; NULL: none. */
void clo_easy_open(clo_easy *easy, const clo_easy_numbers *numbers, clo_easy_network *network, bool is_behind_ranks);

void clo_easy_event(clo_easy *easy, const clo_view *view, const clo_event *event);

/* The same, with a queue by remaining work / weight. */
void clo_easy_queue_event(clo_easy *easy, clo_job_queue *queue, const clo_view *view, const clo_event *event);

extern const clo_easy_numbers clo_easy_built_in;

/* The numbers of an argument: the built-in ones, and what it sets. */
clo_status clo_easy_parse(const char *text, void *numbers);

/* As the function of clo_policy; the queue's order says whose turn it is, and for whom room is kept. */
bool clo_easy_decide(const clo_easy *easy, clo_job_queue *queue, const clo_view *view, clo_choice *choice);

#endif
