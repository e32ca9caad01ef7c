/* jobserver.h - tokens that all makes and LTO links of a build share: the jobserver of GNU make.
 *
 * A token is a byte in a pipe. Whoever wants to run one more job reads one and writes it back when the job has ended.
 * The server, this process, begins with one token for each job; each step of the build takes one, and what the step
 * starts takes further ones by itself. So steps and their jobs together never exceed the number of tokens.
 *
 * make 4.3 and gcc 12 know pipes only (`--jobserver-auth=R,W`), not `fifo:PATH`. Both take a FIFO that is open for
 * reading and writing as R and W alike. Our own end is a second description of it: O_NONBLOCK belongs to a description,
 * and must not be set on the one that the children inherit. */
#ifndef CLO_TOOLS_NINJA_STEP_JOBSERVER_H
#define CLO_TOOLS_NINJA_STEP_JOBSERVER_H

#include <stdbool.h>
#include <stdint.h>

enum { JOBSERVER_TOKENS_MAX = 32768 }; /* a pipe holds twice as many */

typedef struct jobserver {
    int inherited; /* what the children have; -1: there is no jobserver */
    int own;       /* the same pipe, does not block, closed in children */
    uint32_t tokens;
    uint32_t held;     /* tokens that steps of this process have */
    uint32_t mended;   /* tokens that were lost and put back, or too many and taken out */
    bool is_client;    /* the pipe is a caller's: it has tokens of others, and our first one is implicit */
    bool has_implicit; /* the client's implicit token is held */
} jobserver;

/* Opens a pipe with `tokens` tokens and names it in MAKEFLAGS of the environment, for the children. Call it before
 * other threads run. Returns 0 or an error number; then there is no jobserver. */
int jobserver_open(jobserver *j, uint32_t tokens);

/* Uses the jobserver that MAKEFLAGS names, as a make below another does. False: it names none that is open. *tokens:
 * what `-j` in MAKEFLAGS says; 0: nothing. */
bool jobserver_join(jobserver *j, uint32_t *tokens);

/* Takes a token for a step. False: there is none now; jobserver_wait. Without a jobserver always true. */
bool jobserver_take(jobserver *j);
void jobserver_give(jobserver *j);

/* Waits until there may be a token, at most `wait_ms`. */
void jobserver_wait(const jobserver *j, int wait_ms);

/* While no step runs all tokens must be in the pipe. Puts back those that killed children took with them, and takes out
 * those that were written twice. */
void jobserver_mend(jobserver *j);

void jobserver_close(jobserver *j);

#endif
