/* backlog.h - requests that wait for a unit of a service: which came first, and which has the least slack. */
#ifndef RPC_BACKLOG_H
#define RPC_BACKLOG_H

#include <stdint.h>

/* Part of a request. */
typedef struct waiting {
    struct waiting *next, *before;

    /* When it must begin at the latest. As time passes all lose slack alike, so this stands for it. */
    int64_t latest_us;

    /* In the order of arrival; place in the heap. */
    uint64_t number;
    uint32_t place;
} waiting;

/* Zeros: none waits. */
typedef struct backlog {
    waiting *first, *last;

    /* The least slack is on top; of equal ones the one that came last. */
    waiting **heap;
    uint32_t count, capacity;
    uint64_t added;
} backlog;

/* The caller has set latest_us. O(log n). Returns 0, or -1: no memory. */
int backlog_add(backlog *b, waiting *w);

/* O(log n). */
void backlog_remove(backlog *b, waiting *w);

/* NULL: none waits. */
waiting *backlog_least(const backlog *b);

void backlog_free(backlog *b);

#endif
