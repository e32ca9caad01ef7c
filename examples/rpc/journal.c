#include "journal.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct journal {
    sqlite3 *db;
    sqlite3_stmt *insert;
    const char *path;
    uint64_t commits, records;
    bool is_dirty;
    char error[256];
};

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS run(id INTEGER PRIMARY KEY CHECK (id = 0), run INTEGER, graph INTEGER, plan INTEGER);"
    "CREATE TABLE IF NOT EXISTS event(number INTEGER PRIMARY KEY, task INTEGER, instance INTEGER, attempt INTEGER,"
    " state INTEGER, key INTEGER, endpoint TEXT, time_us INTEGER, output BLOB);";

uint64_t journal_new_run(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 48;
}

static int fail(journal *j, const char *what)
{
    snprintf(j->error, sizeof j->error, "%s: %s: %s", j->path, what, sqlite3_errmsg(j->db));
    return -1;
}

static int execute(journal *j, const char *sql)
{
    return sqlite3_exec(j->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(j, "the journal cannot be used");
}

/* A damaged file is found before anything is built on it. */
static int check(journal *j)
{
    sqlite3_stmt *statement = NULL;
    int good = sqlite3_prepare_v2(j->db, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW &&
               strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;

    if (!good)
        snprintf(j->error, sizeof j->error, "%s: the journal is damaged (%s); remove it to run all anew", j->path,
                 sqlite3_errmsg(j->db));
    sqlite3_finalize(statement);
    return good ? 0 : -1;
}

/* Compares with the run that the journal is of; puts it down where the journal is new. */
static int match(journal *j, uint64_t mine[3], bool *is_resumed)
{
    static const char *const names[3] = {"run", "graph", "plan"};
    sqlite3_stmt *statement = NULL;
    int result = 0;

    if (sqlite3_prepare_v2(j->db, "SELECT run, graph FROM run", -1, &statement, NULL) != SQLITE_OK)
        return fail(j, "the journal cannot be read");
    int row = sqlite3_step(statement);
    *is_resumed = row == SQLITE_ROW;
    if (mine[0] == 0)
        mine[0] = *is_resumed ? (uint64_t)sqlite3_column_int64(statement, 0) : journal_new_run();
    for (int i = 0; i < 2 && row == SQLITE_ROW && result == 0; i++)
        if ((uint64_t)sqlite3_column_int64(statement, i) != mine[i]) {
            snprintf(j->error, sizeof j->error,
                     "%s: the journal is of another %s; use the same one, or another --journal", j->path, names[i]);
            result = -1;
        }
    sqlite3_finalize(statement);
    if (result != 0 || *is_resumed)
        return result;
    statement = NULL;
    if (sqlite3_prepare_v2(j->db, "INSERT INTO run VALUES(0, ?, ?, ?)", -1, &statement, NULL) != SQLITE_OK)
        return fail(j, "the journal cannot be written");
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(statement, i + 1, (sqlite3_int64)mine[i]);
    result = sqlite3_step(statement) == SQLITE_DONE ? 0 : fail(j, "the journal cannot be written");
    sqlite3_finalize(statement);
    return result;
}

static int open_all(journal *j, bool durable, uint64_t mine[3], bool *is_resumed)
{
    if (sqlite3_open(j->path, &j->db) != SQLITE_OK)
        return fail(j, "the journal cannot be opened");
    sqlite3_busy_timeout(j->db, 2000); /* the process before may still be ending */
    if (check(j) != 0 || execute(j, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;") != 0 ||
        execute(j, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL") != 0 || execute(j, tables) != 0 ||
        match(j, mine, is_resumed) != 0)
        return -1;
    if (sqlite3_prepare_v2(j->db,
                           "INSERT INTO event(task, instance, attempt, state, key, endpoint, time_us, output)"
                           " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                           -1, &j->insert, NULL) != SQLITE_OK)
        return fail(j, "the journal is of another version");
    return 0;
}

journal *journal_open(const char *path, bool durable, uint64_t run_graph_plan[3], bool *is_resumed, char *error,
                      size_t error_bytes)
{
    journal *j = calloc(1, sizeof *j);

    if (j == NULL) {
        snprintf(error, error_bytes, "%s: no memory", path);
        return NULL;
    }
    j->path = path;
    if (open_all(j, durable, run_graph_plan, is_resumed) == 0)
        return j;
    snprintf(error, error_bytes, "%s", j->error);
    journal_close(j);
    return NULL;
}

int journal_read(journal *j, void (*show)(void *argument, const journal_record *r), void *argument)
{
    sqlite3_stmt *statement = NULL;
    int row;

    if (sqlite3_prepare_v2(j->db,
                           "SELECT task, instance, attempt, state, key, endpoint, time_us, output FROM event"
                           " ORDER BY number",
                           -1, &statement, NULL) != SQLITE_OK)
        return fail(j, "the journal cannot be read");
    while ((row = sqlite3_step(statement)) == SQLITE_ROW) {
        journal_record r = {.task = (uint32_t)sqlite3_column_int64(statement, 0),
                            .instance = (uint32_t)sqlite3_column_int64(statement, 1),
                            .attempt = (uint32_t)sqlite3_column_int64(statement, 2),
                            .state = (journal_state)sqlite3_column_int(statement, 3),
                            .key = (uint64_t)sqlite3_column_int64(statement, 4),
                            .endpoint = (const char *)sqlite3_column_text(statement, 5),
                            .time_us = sqlite3_column_int64(statement, 6),
                            .output = sqlite3_column_blob(statement, 7),
                            .output_bytes = (size_t)sqlite3_column_bytes(statement, 7)};
        show(argument, &r);
    }
    int result = row == SQLITE_DONE ? 0 : fail(j, "the journal cannot be read");
    sqlite3_finalize(statement);
    return result;
}

int journal_add(journal *j, const journal_record *r)
{
    if (!j->is_dirty && execute(j, "BEGIN IMMEDIATE") != 0)
        return -1;
    j->is_dirty = true;
    sqlite3_bind_int64(j->insert, 1, r->task);
    sqlite3_bind_int64(j->insert, 2, r->instance);
    sqlite3_bind_int64(j->insert, 3, r->attempt);
    sqlite3_bind_int(j->insert, 4, (int)r->state);
    sqlite3_bind_int64(j->insert, 5, (sqlite3_int64)r->key);
    sqlite3_bind_text(j->insert, 6, r->endpoint, -1, SQLITE_STATIC);
    sqlite3_bind_int64(j->insert, 7, r->time_us);
    sqlite3_bind_blob(j->insert, 8, r->output, (int)r->output_bytes, SQLITE_STATIC);
    int result = sqlite3_step(j->insert) == SQLITE_DONE ? 0 : fail(j, "the journal cannot be written");
    sqlite3_reset(j->insert);
    j->records++;
    return result;
}

int journal_commit(journal *j)
{
    if (!j->is_dirty)
        return 0;
    j->is_dirty = false;
    j->commits++;
    return execute(j, "COMMIT");
}

bool journal_is_dirty(const journal *j)
{
    return j->is_dirty;
}

uint64_t journal_commits(const journal *j)
{
    return j->commits;
}

uint64_t journal_records(const journal *j)
{
    return j->records;
}

const char *journal_error(const journal *j)
{
    return j->error;
}

void journal_close(journal *j)
{
    if (j == NULL)
        return;
    sqlite3_finalize(j->insert);
    sqlite3_close(j->db);
    free(j);
}
