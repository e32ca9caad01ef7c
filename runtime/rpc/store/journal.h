/* journal.h - what a run has done, in SQLite (WAL, one writer: the driver thread): so that a run that was killed goes
 * on.
 *
 * Records are put into one transaction until journal_commit, which the driver calls once in each turn of its loop:
 * group commit. Records of one connection become durable in their order. With `durable` a commit survives the loss of
 * power (synchronous = FULL), else the end of the process (NORMAL). */
#ifndef RPC_JOURNAL_H
#define RPC_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct journal journal;

typedef enum journal_state { JOURNAL_STARTED = 1, JOURNAL_FINISHED = 2, JOURNAL_FAILED = 3 } journal_state;

/* One record. */
typedef struct journal_record {
    uint32_t task, instance, attempt;
    journal_state state;
    uint64_t key;
    const char *endpoint;
    int64_t time_us;

    /* Of FINISHED. */
    const void *output;
    size_t output_bytes;
} journal_record;

/* Opens the journal of one run, or makes it.
 *
 *   run, graph, plan  a journal of another run or graph is refused. Another plan is not: results do not depend on it.
 *                     Run 0: that of the journal; a new one's is drawn from the clock. Receives it.
 *   is_resumed        receives whether the run was begun before.
 *   error             [error_bytes] receives one line.
 *
 * NULL: refused. */
journal *journal_open(const char *path, bool durable, uint64_t run_graph_plan[3], bool *is_resumed, char *error,
                      size_t error_bytes);

/* A number that no other run has. */
uint64_t journal_new_run(void);

/* Shows all records, in their order. Returns 0, or -1 with a line from journal_error. */
int journal_read(journal *j, void (*show)(void *argument, const journal_record *r), void *argument);

/* Adds a record, which is not durable yet. */
int journal_add(journal *j, const journal_record *r);

/* Makes all records durable. */
int journal_commit(journal *j);
bool journal_is_dirty(const journal *j);

/* Transactions so far; records. */
uint64_t journal_commits(const journal *j);
uint64_t journal_records(const journal *j);

const char *journal_error(const journal *j);
void journal_close(journal *j);

#endif
