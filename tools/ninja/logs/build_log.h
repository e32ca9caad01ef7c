/* build_log.h - .ninja_log of versions 5 to 7: for each output when it was made, with which command, and its age.
 *
 * The age is that of the output in version 5 (ninja 1.5 to 1.11). From version 6 on (ninja 1.12) it is when the command
 * began, by the clock of its file system; version 7 (ninja 1.13) also has another hash. A log keeps its version; a new
 * one has 5.
 *
 * A line is "START_MS\tEND_MS\tMTIME_NS\tOUTPUT\tHASH", appended at each end of a step; the last line of an output
 * counts. Times count from the start of the run that wrote them: only END - START means something later. A last line
 * that a crash cut off is dropped.
 *
 * Before a command begins, the outputs that the log calls current get a line with MTIME 0 and HASH 0, which no command
 * has: to this program and to ninja they are out of date until the command has ended well. So a build that is killed
 * leaves no half-written file that looks whole.
 *
 * A command may call a tool that puts a new log in the place of this one, as CMake does with `ninja -t restat`. What is
 * appended goes into the new one, which also gets the lines of this process that the tool had not seen. */
#ifndef CLO_TOOLS_NINJA_LOGS_BUILD_LOG_H
#define CLO_TOOLS_NINJA_LOGS_BUILD_LOG_H

#include "ninja/logs/log_file.h"

enum { LOG_NONE, LOG_BEGUN, LOG_ENDED };

typedef struct log_entry {
    piece output;
    int64_t start_ms, end_ms;
    int64_t mtime_ns;
    uint64_t hash;  /* of the command: build_log_hash */
    int8_t written; /* LOG_: the line that this process has appended last */
} log_entry;

typedef struct build_log {
    log_entry *entries; /* [count] of the outputs, in their order */
    size_t count, capacity;
    path_list outputs;
    size_t lines;      /* of the file */
    size_t good_bytes; /* of the file: behind its last whole line */
    int version;
    bool is_old;      /* version 4, or too many lines: build_log_open writes it anew */
    FILE *file;       /* NULL: not open for writing */
    const char *path; /* of the file, the caller's, once it is open */
} build_log;

/* Reads the log at `path`; an empty one where there is no file, or one of a ninja before 1.7. Returns false with
 * m->error set: a log of a newer ninja, no memory, the disk. build_log_close in both cases. */
bool build_log_load(build_log *log, ninja_manifest *m, const char *path);
/* The same from memory: a terminated text, `name` for messages. */
bool build_log_parse(build_log *log, ninja_manifest *m, const char *name, const char *text, size_t bytes);
/* The last entry of an output; NULL: none. */
const log_entry *build_log_find(const build_log *log, piece output);

/* Whether a command for the output of the entry has begun and has not ended well since. */
static inline bool log_entry_is_begun(const log_entry *entry)
{
    return entry->mtime_ns == 0 && entry->hash == 0;
}

/* Makes the file ready for appending: with a header, without a torn line, and written anew where most of its lines are
 * old; then outputs that no statement makes and that are not there are dropped. The path is kept. */
bool build_log_open(build_log *log, ninja_manifest *m, const char *path);
/* The command of the edge is about to begin: none of its outputs is current from now on. */
bool build_log_begin(build_log *log, ninja_manifest *m, uint32_t edge);
/* It has ended well: appends one line for each output. */
bool build_log_add(build_log *log, ninja_manifest *m, uint32_t edge, int64_t start_ms, int64_t end_ms,
                   int64_t mtime_ns);
/* Goes on in the file that a tool may have put in place of the log, and adds the lines of this process that it
 * lacks. */
bool build_log_follow(build_log *log, ninja_manifest *m);
void build_log_close(build_log *log);

/* The hash of a command, as this log has it. */
uint64_t build_log_hash(const build_log *log, piece command);
/* Whether the age is when the command began. */
bool build_log_has_starts(const build_log *log);

#endif
