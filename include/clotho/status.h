/* status.h - what every call returns, the text behind a failure, and the rules that hold for every call.
 *
 * Results. Success is zero, failures are negative. A call that fails leaves its results untouched, leaks nothing and
 * never aborts the process.
 *
 * Arguments. Every call checks its arguments. A NULL that its comment does not allow is CLO_ERR_ARGUMENT, and
 * clo_last_error names the call and the argument. A number out of range is CLO_ERR_ARGUMENT too. A call that returns no
 * status has a neutral answer for a NULL object and for an unknown id: a NULL pointer, 0, false, CLO_NONE for an id,
 * CLO_TIME_NEVER for a time that depends on ids. A call that returns nothing does nothing.
 * Not promised: that a pointer to a destroyed object, or to an array that is shorter than stated, is recognised.
 *
 * Ownership. "Borrowed" objects must live until the time named. "Owned by the caller" objects are given to the destroy
 * call of their type. A text or array "owned by" an object lives as long as that object.
 *
 * Threads. Each comment says who may call:
 *   any       any thread, at any time between create and destroy of the object, also beside other calls on it
 *   one       one thread at a time for one object; different objects are independent
 *
 * Real time. Each comment says what a call does to a thread with a deadline:
 *   yes       no allocation, no lock, no system call; the steps are bounded as stated
 *   bounded   as yes, but a system call that wakes or reads a clock may be made
 *   no        may allocate, lock, read files or block
 * A failing call formats a line of text: it is bounded, not fast.
 *
 * Library: libclotho. */
#ifndef CLOTHO_STATUS_H
#define CLOTHO_STATUS_H

#include <stddef.h>

/* The initialiser of a struct whose first field is `size_t size`: the size, and zeros. Every CLO_..._INIT of such a
 * struct stands for it. In C it is an initialiser, in C++ (from C++11 on) a value:
 *
 *     clo_plan_config config = CLO_PLAN_CONFIG_INIT;
 *     clo_bound bound = CLO_BOUND_INIT;
 *
 * The size tells the library which fields the caller was built with. Fields are only ever appended.
 *
 * Config structs (the caller fills them): zero is the default of every field. A caller built against an older header
 * gets defaults for the fields that it lacks. A newer caller may leave fields that this library does not know at zero;
 * anything else there is CLO_ERR_ARGUMENT.
 *
 * Result structs (a call fills them): an older caller gets the fields that it has room for. A newer caller gets zeros
 * in fields that this library does not know. `size` is never changed. A size of 0, one below that of the first release,
 * and one above 4096 are CLO_ERR_ARGUMENT, before the call does anything.
 *
 * Structs without a size never grow: elements of arrays that are passed in bulk (tasks, edges, executors, placements,
 * trace events, records), where each element would carry it, and values inside other structs (clo_latency). Structs
 * that the library makes and shows by pointer (clo_call, clo_miss, clo_plan_progress) have none either: they may grow
 * at their end, which a reader of the older part does not notice. */
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

/* Every status: X(name, value, text). Values never change; new ones are only added. */
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

/* Text for a status: "out of memory" ...; "unknown status" for any other number. Static, never NULL.
 * Threads: any. Real time: yes, O(1). */
CLO_API const char *clo_status_text(clo_status status);

/* Detail of the last failure on this thread, such as "graph.json:41: task 7: work is negative; write a number >= 0".
 * Never NULL; "" if nothing failed yet. At most 511 characters, none of them a control character. Valid until this
 * thread fails again.
 * Not promised: that a success clears it. Read it after a failure only.
 * Threads: any; each thread has a text of its own. Real time: yes, O(1). */
CLO_API const char *clo_last_error(void);

/* "MAJOR.MINOR.PATCH" of the library in use. Static.
 * Threads: any. Real time: yes, O(1). */
CLO_API const char *clo_version(void);

/* Copies `text` in a form that is safe to print to a terminal: control characters, and bytes that are not UTF-8, become
 * \xNN. Names of graphs, tasks and files come from outside and may hold such bytes. The texts of clo_last_error and of
 * the text charts are safe already.
 *
 *   text   NULL is an empty text.
 *   out    receives a 0-terminated text, cut if `bytes` is too small, never within a character.
 *   bytes  size of `out`; for 0 nothing is written.
 *
 * Returns `out`, or "" if that is NULL.
 * Threads: any, also in a signal handler. Real time: yes, O(length of text). */
CLO_API const char *clo_printable(const char *text, char *out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
