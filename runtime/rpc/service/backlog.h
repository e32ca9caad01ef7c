/* backlog.h - requests that wait for a unit of a service: which came first, and which has the least slack. */
#ifndef CLO_RPC_SERVICE_BACKLOG_H
#define CLO_RPC_SERVICE_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

/* Part of a request. */
typedef struct clo_rpc_waiting {
    struct clo_rpc_waiting *next, *before;

    /* When it must begin at the latest. As time passes all lose slack alike, so this stands for it. */
    int64_t latest_us;

    /* In the order of arrival; place in the heap. */
    uint64_t number;
    uint32_t place;
} clo_rpc_waiting;

/* Zeros: none waits. */
typedef struct clo_rpc_backlog {
    clo_rpc_waiting *first, *last;

    /* The least slack is on top; of equal ones the one that came last. */
    clo_rpc_waiting **heap;
    uint32_t count;
    size_t capacity;
    uint64_t added;
} clo_rpc_backlog;

/* The caller has set latest_us. O(log n). Returns 0, or -1: no memory. */
int clo_rpc_backlog_add(clo_rpc_backlog *b, clo_rpc_waiting *w);

/* O(log n). */
void clo_rpc_backlog_remove(clo_rpc_backlog *b, clo_rpc_waiting *w);

/* NULL: none waits. */
clo_rpc_waiting *clo_rpc_backlog_least(const clo_rpc_backlog *b);

void clo_rpc_backlog_free(clo_rpc_backlog *b);

#endif
