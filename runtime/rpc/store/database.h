/* database.h - an SQLite file of one process: WAL, one writer, group commit.
 *
 * What is written goes into one transaction until database_commit. With `durable` a commit survives the loss of power
 * (synchronous = FULL), else the end of the process (NORMAL). A damaged file is refused before anything is built on it.
 * Functions return 0, or -1 with one line in `error`. */
#ifndef CLO_RPC_STORE_DATABASE_H
#define CLO_RPC_STORE_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct clo_rpc_database {
    sqlite3 *db;

    /* The path is borrowed; what the file is, for messages: "the journal". */
    const char *path, *name;
    /* A transaction is open; a part of it could not be written, so it will be taken back as a whole. */
    bool is_dirty, is_broken;
    uint64_t commits;
    char error[256];
} clo_rpc_database;

/* Makes the file and its tables where they are not there. On failure too it is to be closed. */
int clo_rpc_database_open(clo_rpc_database *d, const char *path, const char *name, bool durable, const char *tables);
void clo_rpc_database_close(clo_rpc_database *d);

int clo_rpc_database_execute(clo_rpc_database *d, const char *sql);

/* NULL: the file is of another version. */
sqlite3_stmt *clo_rpc_database_prepare(clo_rpc_database *d, const char *sql);

/* Opens a transaction, where none is. */
int clo_rpc_database_begin(clo_rpc_database *d);

/* Runs a statement whose values are bound, in the transaction that is open, and makes it ready for the next values. */
int clo_rpc_database_write(clo_rpc_database *d, sqlite3_stmt *statement);

/* Makes durable what was written. After a failure nothing of it is there. */
int clo_rpc_database_commit(clo_rpc_database *d);

/* Returns -1. */
int clo_rpc_database_fail(clo_rpc_database *d, const char *what);
int clo_rpc_database_fail_damaged(clo_rpc_database *d, const char *how);

#endif
