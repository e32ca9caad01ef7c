/* body.c - see body.h. */
#define _POSIX_C_SOURCE 200809L
#include "engine/execution/body.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

int clo_body_has_child;

/* How deep the calling thread stands in what runs bodies: 1 on a worker, 2 where a body of it simulates. And how deep
 * it stood at the fork that made this process; 0: that was in no body, or on another thread. */
static _Thread_local uint32_t depth, forked_depth;

/* Of the C++ library, in programs that have it: an exception that is caught is counted as such, and freed. */
extern void *begin_catch(void *exception) __asm__("__cxa_begin_catch") __attribute__((weak));
extern void end_catch(void) __asm__("__cxa_end_catch") __attribute__((weak));

/* Called by the unwinder, by that name. Prototype as in <unwind.h>. */
__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code clo_body_personality(
    int version, _Unwind_Action actions, _Unwind_Exception_Class class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context);

/* The address at which the frame goes on is the one to which the body would have returned, and its registers are those
 * of that moment. So only the result has to be set: in the first register that a personality may write. */
_Unwind_Reason_Code clo_body_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                         struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    bool is_forced = (actions & _UA_FORCE_UNWIND) != 0; /* pthread_exit, cancellation: the exception is the thread's */

    (void)class;
    if (version != 1)
        return _URC_FATAL_PHASE1_ERROR;
    if ((actions & _UA_SEARCH_PHASE) != 0)
        return _URC_HANDLER_FOUND;
    if (!is_forced && begin_catch != NULL && end_catch != NULL) {
        (void)begin_catch(exception);
        end_catch();
    } else if (!is_forced) {
        _Unwind_DeleteException(exception);
    }
    _Unwind_SetGR(context, __builtin_eh_return_data_regno(0),
                  (_Unwind_Word)(is_forced ? CLO_FAILED_EXITED : CLO_FAILED_THROWN));
    return _URC_INSTALL_CONTEXT;
}

/* In the child of a fork, on the thread that has forked. */
static void note_child(void)
{
    if (depth == 0)
        return;
    forked_depth = depth;
    clo_body_has_child = 1;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, note_child); /* fails without memory: then a fork goes unseen */
}

void clo_body_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
}

void clo_body_enter(void)
{
    depth++;
}

void clo_body_leave(void)
{
    depth--;
}

void clo_body_end_child(void)
{
    static const char line[] =
        "clotho: a process that was forked in a task's body or a handler has returned from it; end "
        "it there, with exec or _exit\n";

    if (forked_depth == 0 || depth != forked_depth) /* a runtime or a simulation that the child has made */
        return;
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(EXIT_FAILURE);
}

int clo_body_look(int code)
{
    clo_body_end_child();
    return code;
}

int clo_body_call_apart(clo_task_fn body, const clo_call *call)
{
    clo_body_enter();
    int code = clo_body_call(body, call);
    clo_body_leave();
    return code;
}
