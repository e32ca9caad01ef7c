/* journal.h - what a run has done, in SQLite (WAL, one writer: the driver thread): so that a run that was killed goes
 * on.
 *
 * Records are put into one transaction until journal_commit, which the driver calls once in each turn of its loop:
 * group commit. Records of one connection become durable in their order. With `durable` a commit survives the loss of
 * power (synchronous = FULL), else the end of the process (NORMAL). */
#ifndef CLO_RPC_STORE_JOURNAL_H
#define CLO_RPC_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clo_rpc_journal clo_rpc_journal;

typedef enum clo_rpc_journal_state {
    CLO_RPC_JOURNAL_STARTED = 1,
    CLO_RPC_JOURNAL_FINISHED = 2,
    CLO_RPC_JOURNAL_FAILED = 3
} clo_rpc_journal_state;

/* One record. */
typedef struct clo_rpc_journal_record {
    uint32_t task, instance, attempt;
    clo_rpc_journal_state state;
    uint64_t key;
    const char *endpoint;
    int64_t time_us;

    /* Of FINISHED. */
    const void *output;
    size_t output_bytes;
} clo_rpc_journal_record;

/* Opens the journal of one run, or makes it.
 *
 *   run, graph, plan  a journal of another run or graph is refused. Another plan is not: results do not depend on it.
 *                     Run 0: that of the journal; a new one's is drawn from the clock. Receives it.
 *   is_resumed        receives whether the run was begun before; where it is refused: whether it is of another run or
 *                     graph.
 *   error             [error_bytes] receives one line.
 *
 * NULL: refused. */
clo_rpc_journal *clo_rpc_journal_open(const char *path, bool durable, uint64_t run_graph_plan[3], bool *is_resumed,
                                      char *error, size_t error_bytes);

/* A number that no other run has. */
uint64_t clo_rpc_journal_new_run(void);

/* Shows all records, in their order. Returns 0, or -1 with a line from journal_error. */
int clo_rpc_journal_read(clo_rpc_journal *j, void (*show)(void *argument, const clo_rpc_journal_record *r),
                         void *argument);

/* Adds a record, which is not durable yet. */
int clo_rpc_journal_add(clo_rpc_journal *j, const clo_rpc_journal_record *r);

/* Makes all records durable. */
int clo_rpc_journal_commit(clo_rpc_journal *j);
bool clo_rpc_journal_is_dirty(const clo_rpc_journal *j);

/* Transactions so far; records. */
uint64_t clo_rpc_journal_commits(const clo_rpc_journal *j);
uint64_t clo_rpc_journal_records(const clo_rpc_journal *j);

const char *clo_rpc_journal_error(const clo_rpc_journal *j);
void clo_rpc_journal_close(clo_rpc_journal *j);

#endif
