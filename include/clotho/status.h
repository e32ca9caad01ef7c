/* status.h - what every call of the library returns, and the text behind a failure.
 *
 * Success is zero, failures are negative. A function that fails leaves its
 * results untouched, leaks nothing and never aborts the process.
 *
 * Every call looks at its arguments. A NULL that its comment does not allow is
 * CLO_ERR_ARGUMENT, with the call and the argument in clo_last_error, and so is a
 * number out of range. A call that returns no status gives, for an object that is
 * NULL and for an id that does not exist, what says nothing: a NULL pointer, 0,
 * false, CLO_NONE for an id, CLO_TIME_NEVER for a time that depends on ids; one that
 * returns nothing does nothing. What cannot be seen is not checked: a pointer to
 * an object that was destroyed, or to an array shorter than was said. */
#ifndef CLOTHO_STATUS_H
#define CLOTHO_STATUS_H

#include <stddef.h>

/* What CLO_..._INIT of a config struct stands for: its size, and zeros, which are the defaults. In C an initialiser, in
 * C++ from C++11 on a value, since designated initialisers are C++20:
 *     clo_plan_config config = CLO_PLAN_CONFIG_INIT; */
#ifdef __cplusplus
extern "C++" {
template <class sized> inline sized clo_sized_init()
{
    sized made = sized();
    made.size = sizeof made;
    return made;
}
}
#define CLO_SIZED_INIT(type) clo_sized_init<type>()
#else
#define CLO_SIZED_INIT(type) \
    {                        \
        .size = sizeof(type) \
    }
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CLO_API __attribute__((visibility("default")))
#define CLO_NODISCARD __attribute__((warn_unused_result))
#else
#define CLO_API
#define CLO_NODISCARD
#endif

#define CLO_STATUS_LIST(X)                                                                   \
    X(OK, 0, "success")                                                                      \
    X(ERR_ARGUMENT, -1, "an argument breaks the documented contract")                        \
    X(ERR_MEMORY, -2, "out of memory")                                                       \
    X(ERR_CYCLE, -3, "the graph has a dependency cycle")                                     \
    X(ERR_PLATFORM, -4, "the platform cannot do what is asked, e.g. no executor for a task") \
    X(ERR_FORMAT, -5, "malformed input file")                                                \
    X(ERR_STATE, -6, "call not allowed in the current state")                                \
    X(ERR_IO, -7, "a file cannot be read or written")                                        \
    X(ERR_LIMIT, -8, "a number is out of range or overflows")                                \
    X(ERR_TASK, -9, "a task of the job failed")                                              \
    X(ERR_CANCELLED, -10, "the job was cancelled")                                           \
    X(ERR_INVALID, -11, "the plan breaks a constraint")                                      \
    X(ERR_SYSTEM, -12, "the operating system refused")                                       \
    X(ERR_UNSUPPORTED, -13, "not built into this library")                                   \
    X(ERR_TIMEOUT, -14, "it took longer than it was allowed to")                             \
    X(ERR_ABORTED, -15, "the run was cut short at its deadline")

typedef enum clo_status {
#define X(name, value, text) CLO_##name = value,
    CLO_STATUS_LIST(X)
#undef X
} clo_status;

/* Static text for a status; never NULL. Thread-safe, allocates nothing. */
CLO_API const char *clo_status_text(clo_status status);

/* Detail of the last failure *on this thread*, e.g. "graph.json:41: task 7:
 * work is negative; write a number >= 0". Never NULL; "" if nothing failed yet.
 * A success leaves it alone, so read it only after a failure. Valid until this
 * thread fails again. At most 511 characters, none of them a control character. */
CLO_API const char *clo_last_error(void);

/* "MAJOR.MINOR.PATCH" of the library in use. Static text, thread-safe. */
CLO_API const char *clo_version(void);

/* Copies `text` as it may be sent to a terminal: control characters, and bytes that are not UTF-8, become \xNN. Names
 * of graphs, tasks and files come from outside and may hold such bytes; clo_last_error and the charts as text are
 * clean.
 *   out  receives a 0-terminated text, cut where `bytes` are too few, never within a character; nothing if bytes is 0.
 * Returns `out`; "" if that is NULL. A text of NULL is an empty one. Thread-safe, allocates nothing, safe in a signal
 * handler. */
CLO_API const char *clo_printable(const char *text, char *out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
