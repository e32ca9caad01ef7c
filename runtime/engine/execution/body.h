/* engine/execution/body.h - the one way to call a task's body, for all drivers.
 *
 * A body may end without returning: a C++ exception leaves it, it calls pthread_exit, its thread is cancelled. All of
 * these unwind the stack, frame by frame (Itanium C++ ABI: Exception Handling, level 1). The frame of the call has a
 * personality, as frames of C++ functions have: there unwinding ends, and the call goes on as if the body had returned
 * CLO_FAILED_THROWN or CLO_FAILED_EXITED. Nothing is registered or saved before the call, so it costs nothing.
 * Rejected: setjmp before each body (8 ns), a call through an assembler frame (1 ns), std::terminate.
 *
 * A body may also return in another process: in the child of its own fork. The library has no other threads there, and
 * the parent runs the rest; so the child ends. */
#ifndef CLO_ENGINE_EXECUTION_BODY_H
#define CLO_ENGINE_EXECUTION_BODY_H

#include "library.h"
#include <clotho/graph.h>

/* Makes clo_body_personality that of the calling function, in whose frame it stands. 0x1b: by a relative address of 4
 * bytes. `body` may be any function from here on, for what the compiler knows: also one that returns what it does not.
 * Only where the register of a result is the first one that a personality may write. */
#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)
#define CLO_ENDS_UNWINDING(body) __asm__ volatile(".cfi_personality 0x1b, clo_body_personality" : "+r"(body))
#else
#define CLO_ENDS_UNWINDING(body) ((void)0)
#endif

/* 1: this process is the child of a fork in a body or a handler. Written while the process has one thread. */
extern int clo_body_has_child __attribute__((visibility("hidden")));

/* Before the first body: from here on forks are seen. Any thread, any number of times. */
CLO_INTERNAL void clo_body_watch_forks(void);

/* The calling thread runs bodies, or handlers, between the two; also inside a body of another runtime or simulation. A
 * fork made meanwhile is one in a body. */
CLO_INTERNAL void clo_body_enter(void);
CLO_INTERNAL void clo_body_leave(void);

/* A body, or a handler, has returned: ends the process if it is the child of a fork in that very body. */
void clo_body_end_child(void);

/* The same; returns the code. */
int clo_body_look(int code);

/* A body on a thread of another library of ours, from enter to leave. */
CLO_INTERNAL int clo_body_call_apart(clo_task_fn body, const clo_call *call);

/* Inline, since a frame of its own would be as dear as a tiny body. */
static inline __attribute__((always_inline)) int clo_body_call(clo_task_fn body, const clo_call *call)
{
    CLO_ENDS_UNWINDING(body);
    int code = body(call);

    return __builtin_expect((code | clo_body_has_child) == 0, 1) ? 0 : clo_body_look(code);
}

#endif
