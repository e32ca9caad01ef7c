#include "rpc/store/journal.h"
#include "base/memory.h"
#include "rpc/store/database.h"
#include "rpc/wire/mix.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct clo_rpc_journal {
    clo_rpc_database d;
    sqlite3_stmt *insert;
    uint64_t records;
};

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS run(id INTEGER PRIMARY KEY CHECK (id = 0), run INTEGER, graph INTEGER, plan INTEGER);"
    "CREATE TABLE IF NOT EXISTS event(number INTEGER PRIMARY KEY, task INTEGER, instance INTEGER, attempt INTEGER,"
    " state INTEGER, key INTEGER, endpoint TEXT, time_us INTEGER, output BLOB, sum INTEGER);";

uint64_t clo_rpc_journal_new_run(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 48;
}

/* SQLite checks its log, but not what lies in the file. */
static uint64_t sum_of(const clo_rpc_journal_record *r)
{
    uint64_t numbers[6] = {r->task, r->instance, r->attempt, (uint64_t)r->state, r->key, r->output_bytes};

    return clo_rpc_hash(clo_rpc_hash(CLO_RPC_HASH_BEGIN, numbers, sizeof numbers), r->output, r->output_bytes);
}

/* Compares with the run that the journal is of; puts it down where the journal is new. */
static int match(clo_rpc_database *d, uint64_t mine[3], bool *is_resumed)
{
    static const char *const names[3] = {"run", "graph", "plan"};
    sqlite3_stmt *statement = clo_rpc_database_prepare(d, "SELECT run, graph FROM run");
    int result = 0;

    if (statement == NULL)
        return -1;
    int row = sqlite3_step(statement);
    *is_resumed = row == SQLITE_ROW;
    if (mine[0] == 0)
        mine[0] = *is_resumed ? (uint64_t)sqlite3_column_int64(statement, 0) : clo_rpc_journal_new_run();
    for (int i = 0; i < 2 && row == SQLITE_ROW && result == 0; i++)
        if ((uint64_t)sqlite3_column_int64(statement, i) != mine[i]) {
            snprintf(d->error, sizeof d->error,
                     "%s: the journal is of another %s; use the same one, or another journal", d->path, names[i]);
            result = -1;
        }
    if (row != SQLITE_ROW && row != SQLITE_DONE)
        result = clo_rpc_database_fail(d, "cannot be read");
    sqlite3_finalize(statement);
    if (result != 0 || *is_resumed)
        return result;
    statement = clo_rpc_database_prepare(d, "INSERT INTO run VALUES(0, ?, ?, ?)");
    if (statement == NULL)
        return -1;
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(statement, i + 1, (sqlite3_int64)mine[i]);
    result = clo_rpc_database_write(d, statement) == 0 ? clo_rpc_database_commit(d) : -1;
    sqlite3_finalize(statement);
    return result;
}

static int open_all(clo_rpc_journal *j, const char *path, bool durable, uint64_t mine[3], bool *is_resumed)
{
    if (clo_rpc_database_open(&j->d, path, "the journal", durable, tables) != 0 || match(&j->d, mine, is_resumed) != 0)
        return -1;
    bool is_ours = *is_resumed;
    *is_resumed = false;
    j->insert =
        clo_rpc_database_prepare(&j->d, "INSERT INTO event(task, instance, attempt, state, key, endpoint, time_us, "
                                        "output, sum) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    *is_resumed = is_ours && j->insert != NULL;
    return j->insert != NULL ? 0 : -1;
}

clo_rpc_journal *clo_rpc_journal_open(const char *path, bool durable, uint64_t run_graph_plan[3], bool *is_resumed,
                                      char *error, size_t error_bytes)
{
    clo_rpc_journal *j = clo_allocate(1, sizeof *j);

    if (j == NULL) {
        snprintf(error, error_bytes, "%s: no memory", path);
        return NULL;
    }
    if (open_all(j, path, durable, run_graph_plan, is_resumed) == 0)
        return j;
    snprintf(error, error_bytes, "%s", j->d.error);
    clo_rpc_journal_close(j);
    return NULL;
}

int clo_rpc_journal_read(clo_rpc_journal *j, void (*show)(void *argument, const clo_rpc_journal_record *r),
                         void *argument)
{
    sqlite3_stmt *statement = clo_rpc_database_prepare(
        &j->d, "SELECT task, instance, attempt, state, key, endpoint, time_us, output, sum FROM event"
               " ORDER BY number");
    int row;

    if (statement == NULL)
        return -1;
    while ((row = sqlite3_step(statement)) == SQLITE_ROW) {
        clo_rpc_journal_record r = {.task = (uint32_t)sqlite3_column_int64(statement, 0),
                                    .instance = (uint32_t)sqlite3_column_int64(statement, 1),
                                    .attempt = (uint32_t)sqlite3_column_int64(statement, 2),
                                    .state = (clo_rpc_journal_state)sqlite3_column_int(statement, 3),
                                    .key = (uint64_t)sqlite3_column_int64(statement, 4),
                                    .endpoint = (const char *)sqlite3_column_text(statement, 5),
                                    .time_us = sqlite3_column_int64(statement, 6),
                                    .output = sqlite3_column_blob(statement, 7),
                                    .output_bytes = (size_t)sqlite3_column_bytes(statement, 7)};
        if ((uint64_t)sqlite3_column_int64(statement, 8) != sum_of(&r)) {
            sqlite3_finalize(statement);
            return clo_rpc_database_fail_damaged(&j->d, "a record has another sum");
        }
        show(argument, &r);
    }
    int result = row == SQLITE_DONE ? 0 : clo_rpc_database_fail(&j->d, "cannot be read");
    sqlite3_finalize(statement);
    return result;
}

int clo_rpc_journal_add(clo_rpc_journal *j, const clo_rpc_journal_record *r)
{
    sqlite3_bind_int64(j->insert, 1, r->task);
    sqlite3_bind_int64(j->insert, 2, r->instance);
    sqlite3_bind_int64(j->insert, 3, r->attempt);
    sqlite3_bind_int(j->insert, 4, (int)r->state);
    sqlite3_bind_int64(j->insert, 5, (sqlite3_int64)r->key);
    sqlite3_bind_text(j->insert, 6, r->endpoint, -1, SQLITE_STATIC);
    sqlite3_bind_int64(j->insert, 7, r->time_us);
    sqlite3_bind_blob(j->insert, 8, r->output, (int)r->output_bytes, SQLITE_STATIC);
    sqlite3_bind_int64(j->insert, 9, (sqlite3_int64)sum_of(r));
    j->records++;
    return clo_rpc_database_write(&j->d, j->insert);
}

int clo_rpc_journal_commit(clo_rpc_journal *j)
{
    return clo_rpc_database_commit(&j->d);
}

bool clo_rpc_journal_is_dirty(const clo_rpc_journal *j)
{
    return j->d.is_dirty;
}

uint64_t clo_rpc_journal_commits(const clo_rpc_journal *j)
{
    return j->d.commits;
}

uint64_t clo_rpc_journal_records(const clo_rpc_journal *j)
{
    return j->records;
}

const char *clo_rpc_journal_error(const clo_rpc_journal *j)
{
    return j->d.error;
}

void clo_rpc_journal_close(clo_rpc_journal *j)
{
    if (j == NULL)
        return;
    sqlite3_finalize(j->insert);
    clo_rpc_database_close(&j->d);
    clo_free(j);
}
