/* store.h - what outlives a service that is killed: the effects that it has applied, with their keys and outputs, in
 * SQLite. An effect is a row here, and is written in one transaction with its key: so it happens once for each key,
 * whenever the service is killed. An answer may leave once store_commit has returned. */
#ifndef RPC_STORE_H
#define RPC_STORE_H

#include "database.h"
#include "frame.h"
#include "keys.h"

typedef struct store {
    database d;
    sqlite3_stmt *effect, *key, *old;
    int64_t number, committed; /* of the last row; of the last one that is durable */
} store;

/* Makes the file where it is not there; adds the keys that are in it to `known`. Returns 0, or -1 with d.error. To be
 * closed in both cases. */
int store_open(store *s, const char *path, bool durable, keys *known);
void store_close(store *s);

/* Counts the effect of run, task and instance, and keeps the key; NULL: it has none. Returns 0 or -1 likewise. */
int store_add(store *s, const frame *head, const applied *a);

/* Makes durable what was added. After a failure nothing of it is there. */
int store_commit(store *s);

#endif
