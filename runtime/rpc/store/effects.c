#include "rpc/store/effects.h"

#include <stdio.h>

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS effect(run INTEGER, task INTEGER, instance INTEGER, times INTEGER,"
    " PRIMARY KEY(run, task, instance));"
    "CREATE TABLE IF NOT EXISTS applied(number INTEGER PRIMARY KEY, key INTEGER UNIQUE, what INTEGER, output BLOB);";

static int read_keys(clo_rpc_effects *s, clo_rpc_keys *known)
{
    sqlite3_stmt *statement =
        clo_rpc_database_prepare(&s->d, "SELECT number, key, what, output FROM applied ORDER BY number");
    int row;

    if (statement == NULL)
        return -1;
    while ((row = sqlite3_step(statement)) == SQLITE_ROW) {
        clo_rpc_applied a = {.key = (uint64_t)sqlite3_column_int64(statement, 1),
                             .what = (uint64_t)sqlite3_column_int64(statement, 2),
                             .output = sqlite3_column_blob(statement, 3),
                             .output_bytes = (size_t)sqlite3_column_bytes(statement, 3)};
        s->number = sqlite3_column_int64(statement, 0);
        if (clo_rpc_keys_find(known, a.key) == NULL && clo_rpc_keys_add(known, &a) != 0)
            break;
        clo_rpc_keys_settle(known, 1);
    }
    int result = row == SQLITE_DONE ? 0 : clo_rpc_database_fail(&s->d, "cannot be read");
    sqlite3_finalize(statement);
    s->committed = s->number;
    return result;
}

int clo_rpc_effects_open(clo_rpc_effects *s, const char *path, bool durable, clo_rpc_keys *known)
{
    *s = (clo_rpc_effects){.number = 0};
    if (clo_rpc_database_open(&s->d, path, "the table of keys", durable, tables) != 0 || read_keys(s, known) != 0)
        return -1;
    s->effect = clo_rpc_database_prepare(
        &s->d, "INSERT INTO effect VALUES(?, ?, ?, 1) ON CONFLICT DO UPDATE SET times = times + 1");
    s->key = clo_rpc_database_prepare(&s->d, "INSERT INTO applied VALUES(?, ?, ?, ?)");
    s->old = clo_rpc_database_prepare(&s->d, "DELETE FROM applied WHERE number <= ?");
    return s->effect != NULL && s->key != NULL && s->old != NULL ? 0 : -1;
}

void clo_rpc_effects_close(clo_rpc_effects *s)
{
    sqlite3_finalize(s->effect);
    sqlite3_finalize(s->key);
    sqlite3_finalize(s->old);
    clo_rpc_database_close(&s->d);
}

int clo_rpc_effects_add(clo_rpc_effects *s, const clo_rpc_frame *head, const clo_rpc_applied *a)
{
    sqlite3_bind_int64(s->effect, 1, (sqlite3_int64)head->run);
    sqlite3_bind_int64(s->effect, 2, head->task);
    sqlite3_bind_int64(s->effect, 3, head->instance);
    if (clo_rpc_database_write(&s->d, s->effect) != 0)
        return -1;
    if (a == NULL)
        return 0;
    sqlite3_bind_int64(s->key, 1, ++s->number);
    sqlite3_bind_int64(s->key, 2, (sqlite3_int64)a->key);
    sqlite3_bind_int64(s->key, 3, (sqlite3_int64)a->what);
    sqlite3_bind_blob(s->key, 4, a->output, (int)a->output_bytes, SQLITE_STATIC);
    sqlite3_bind_int64(s->old, 1, s->number - CLO_RPC_KEYS_MAX);
    return clo_rpc_database_write(&s->d, s->key) == 0 ? clo_rpc_database_write(&s->d, s->old) : -1;
}

int clo_rpc_effects_commit(clo_rpc_effects *s)
{
    if (clo_rpc_database_commit(&s->d) != 0) {
        s->number = s->committed; /* the rows are gone: numbers count what is kept, up to KEYS_MAX */
        return -1;
    }
    s->committed = s->number;
    return 0;
}

void clo_rpc_effects_spoil(clo_rpc_effects *s, const char *why)
{
    snprintf(s->d.error, sizeof s->d.error, "%s: %s cannot be written: %s", s->d.path, s->d.name, why);
    s->d.is_broken = s->d.is_dirty;
}

int clo_rpc_effects_begin(clo_rpc_effects *s)
{
    return clo_rpc_database_begin(&s->d) == 0 ? clo_rpc_database_execute(&s->d, "SAVEPOINT handler") : -1;
}

int clo_rpc_effects_end(clo_rpc_effects *s, bool keeps)
{
    int result = clo_rpc_database_execute(&s->d, keeps ? "RELEASE handler" : "ROLLBACK TO handler; RELEASE handler");

    if (result != 0)
        clo_rpc_effects_spoil(s, "a handler has ended the transaction");
    return result;
}
