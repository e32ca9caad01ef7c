/* effects.h - what outlives a service that is killed: the effects that it has applied, with their keys and outputs, in
 * SQLite. An effect is a row here, and is written in one transaction with its key: so it happens once for each key,
 * whenever the service is killed. An answer may leave once store_commit has returned. */
#ifndef CLO_RPC_STORE_EFFECTS_H
#define CLO_RPC_STORE_EFFECTS_H

#include "rpc/store/database.h"
#include "rpc/store/keys.h"
#include "rpc/wire/frame.h"

typedef struct clo_rpc_effects {
    clo_rpc_database d;
    sqlite3_stmt *effect, *key, *old;
    int64_t number, committed; /* of the last row; of the last one that is durable */
} clo_rpc_effects;

/* Makes the file where it is not there; adds the keys that are in it to `known`. Returns 0, or -1 with d.error. To be
 * closed in both cases. */
int clo_rpc_effects_open(clo_rpc_effects *s, const char *path, bool durable, clo_rpc_keys *known);
void clo_rpc_effects_close(clo_rpc_effects *s);

/* Counts the effect of run, task and instance, and keeps the key; NULL: it has none. Returns 0 or -1 likewise. */
int clo_rpc_effects_add(clo_rpc_effects *s, const clo_rpc_frame *head, const clo_rpc_applied *a);

/* Around a handler that may write into the table: what it has written stays where `keeps`, else only that goes. Return 0,
 * or -1 with d.error: the table cannot be written. */
int clo_rpc_effects_begin(clo_rpc_effects *s);
int clo_rpc_effects_end(clo_rpc_effects *s, bool keeps);

/* What was added, or written by a handler, must not become durable: the commit fails. */
void clo_rpc_effects_spoil(clo_rpc_effects *s, const char *why);

/* Makes durable what was added. After a failure nothing of it is there. */
int clo_rpc_effects_commit(clo_rpc_effects *s);

#endif
