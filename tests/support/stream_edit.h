/* stream_edit.h - finds records of a run of stream_run.h and moves them; SIZE_MAX: there is no such record. */
#ifndef CLO_TEST_STREAM_EDIT_H
#define CLO_TEST_STREAM_EDIT_H

#include "base/numbers/rng.h"
#include "stream_run.h"

typedef bool (*stream_record_test)(const stream_run *run, size_t at);

/* A random record for which `is_good` holds. */
size_t stream_pick(const stream_run *run, clo_rng *rng, stream_record_test is_good);

/* Of the execution that record `at` is about. */
size_t stream_finish_of(const stream_run *run, size_t at);
size_t stream_start_of(const stream_run *run, size_t at);
uint32_t stream_job_of(const stream_run *run, size_t at);

/* Not the first and not the last. */
bool stream_is_any(const stream_run *run, size_t at);
bool stream_is_start(const stream_run *run, size_t at);

/* A start or a commit of an original. */
bool stream_is_original(const stream_run *run, size_t at);
bool stream_is_replica(const stream_run *run, size_t at);
bool stream_is_commit(const stream_run *run, size_t at);
bool stream_is_finish(const stream_run *run, size_t at);
bool stream_is_arrive(const stream_run *run, size_t at);
bool stream_is_done(const stream_run *run, size_t at);
bool stream_is_done_ok(const stream_run *run, size_t at);

/* A record of no job, with the time of record `at`. */
clo_log_record stream_other_record(const stream_run *run, size_t at, uint32_t what, int64_t value);

/* These change the run and return true, or return false where `at` (`from`, `to`) is no place for it. */

/* Inserts in front of record `at`, with the latest time up to there. */
bool stream_insert_timed(stream_run *run, size_t at, clo_log_record record);
bool stream_remove_one(stream_run *run, size_t at);

/* Moves record `from` in front of `to` < from. */
bool stream_move_up(stream_run *run, size_t from, size_t to);

#endif
