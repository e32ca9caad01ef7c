#include "rpc/store/database.h"

#include <stdio.h>
#include <string.h>

/* Without sqlite3_errmsg, which shows parts of a damaged file as they are. */
static const char *reason(const clo_rpc_database *d)
{
    return sqlite3_errstr(sqlite3_errcode(d->db));
}

int clo_rpc_database_fail(clo_rpc_database *d, const char *what)
{
    snprintf(d->error, sizeof d->error, "%s: %s %s: %s", d->path, d->name, what, reason(d));
    return -1;
}

int clo_rpc_database_fail_damaged(clo_rpc_database *d, const char *how)
{
    snprintf(d->error, sizeof d->error, "%s: %s is damaged (%s); name another file, or remove it to begin anew",
             d->path, d->name, how);
    return -1;
}

int clo_rpc_database_execute(clo_rpc_database *d, const char *sql)
{
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : clo_rpc_database_fail(d, "cannot be used");
}

static int check(clo_rpc_database *d)
{
    sqlite3_stmt *statement = NULL;
    int row = sqlite3_prepare_v2(d->db, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK
                  ? sqlite3_step(statement)
                  : SQLITE_ERROR;
    const char *text = row == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    int good = text != NULL && strcmp(text, "ok") == 0;

    if (!good && (sqlite3_errcode(d->db) & 0xff) == SQLITE_BUSY)
        (void)clo_rpc_database_fail(d, "is used by another process");
    else if (!good)
        (void)clo_rpc_database_fail_damaged(d, text != NULL ? "PRAGMA quick_check has found something" : reason(d));
    sqlite3_finalize(statement);
    return good ? 0 : -1;
}

int clo_rpc_database_open(clo_rpc_database *d, const char *path, const char *name, bool durable, const char *tables)
{
    *d = (clo_rpc_database){.path = path, .name = name};
    if (path[0] == '\0' || path[0] == ':') { /* SQLite would keep it in memory */
        snprintf(d->error, sizeof d->error, "'%s' is no path of a file, which %s needs", path, name);
        return -1;
    }
    if (sqlite3_open(path, &d->db) != SQLITE_OK)
        return clo_rpc_database_fail(d, "cannot be opened");
    sqlite3_busy_timeout(d->db, 2000); /* the process before may still be ending */
    if (check(d) != 0 || clo_rpc_database_execute(d, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;") != 0 ||
        clo_rpc_database_execute(d, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL") != 0)
        return -1;
    return clo_rpc_database_execute(d, tables);
}

void clo_rpc_database_close(clo_rpc_database *d)
{
    sqlite3_close(d->db);
    d->db = NULL;
}

sqlite3_stmt *clo_rpc_database_prepare(clo_rpc_database *d, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(d->db, sql, -1, &statement, NULL) != SQLITE_OK)
        (void)clo_rpc_database_fail(d, "is of another version");
    return statement;
}

int clo_rpc_database_begin(clo_rpc_database *d)
{
    if (!d->is_dirty)
        d->is_broken = clo_rpc_database_execute(d, "BEGIN IMMEDIATE") != 0;
    d->is_dirty = true;
    return d->is_broken ? -1 : 0; /* a full disk, say, may have ended the transaction */
}

int clo_rpc_database_write(clo_rpc_database *d, sqlite3_stmt *statement)
{
    int result = clo_rpc_database_begin(d);

    if (result == 0 && sqlite3_step(statement) != SQLITE_DONE)
        result = clo_rpc_database_fail(d, "cannot be written");
    sqlite3_reset(statement);
    d->is_broken = result != 0;
    return result;
}

int clo_rpc_database_commit(clo_rpc_database *d)
{
    if (!d->is_dirty)
        return 0;
    d->is_dirty = false;
    d->commits++;
    if (!d->is_broken && sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    if (!d->is_broken)
        (void)clo_rpc_database_fail(d, "cannot be written");
    d->is_broken = false;
    if (!sqlite3_get_autocommit(d->db))
        (void)sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}
