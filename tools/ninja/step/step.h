/* step.h - one command of a build: begun, listened to, ended.
 *
 * A helper process (tools/step) stands around each command. It reports what the command took, and ends when nothing of
 * the command lives any more. Nothing here blocks: the caller waits, with poll or epoll, for
 *   output   what the command says; closed once all who could say more have ended or let go of it
 *   control  the report; then its end, which is the helper's, as nobody else has the other side open
 * A step has ended when the helper has and `output` is closed.
 *
 * Servers that a step starts go on when it ends, see owner.h. */
#ifndef CLO_TOOLS_NINJA_STEP_STEP_H
#define CLO_TOOLS_NINJA_STEP_STEP_H

#include "ninja/text/spool.h"

#include <signal.h>
#include <sys/types.h>

typedef struct step_options {
    const char *helper;   /* path of the helper program */
    const char *group;    /* folder of the control group to join; NULL: none */
    const sigset_t *mask; /* signal mask of the command */
    unsigned long files;  /* its soft limit of open files; 0: as it is */
    bool has_console;     /* it has the terminal, and stays in this session */
    bool ends_servers;    /* servers that it has started end with it */
    int kept;             /* a file that is open while anything of the command lives: a lock; -1: none */
    char *variable;       /* "NAME=value" in its environment beside the caller's; NULL: none */
} step_options;

/* What a command took, by wait4 of its shell. */
typedef struct step_usage {
    int status; /* wait status */
    int64_t wall_us, user_us, system_us;
    int64_t peak_kib; /* resident, of its largest process */
} step_usage;

typedef struct step {
    pid_t pid;  /* of the helper, and without the console of the command's session */
    int output; /* reading end, not blocking; -1: closed, or the step has the terminal */
    int control;
    char line[128]; /* of the report, as far as it has come */
    size_t line_bytes;
    bool has_report;
    bool has_ended;   /* the helper has, or is about to */
    bool has_servers; /* after step_close: servers of it run on, as children of this process */
    step_usage usage; /* with has_report */
} step;

/* Begins `/bin/sh -c command`. Without the console: in a session of its own, its input /dev/null, its output and errors
 * one pipe. Returns 0 or an error number; after 0 the caller calls step_close. One thread at a time. */
int step_begin(step *s, const step_options *options, const char *command);

/* Appends what the command says, as far as it has come; closes `output` at its end. */
void step_read_output(step *s, spool *output);
/* Reads the report, as far as it has come, and sees the helper's end. */
void step_read_report(step *s);

/* Passes a signal on to the command. SIGKILL: ends all that the command has begun, also what has left its session.
 * STEP_OVER: the command has ended and `output` is closed; ends what is left in its session. Not servers. A helper that
 * somebody has stopped goes on. */
enum { STEP_OVER = 0 };
void step_signal(const step *s, int number);
/* SIGKILL for the helper itself, which does not obey any more. What the command has begun is the caller's then. */
void step_kill_helper(const step *s);

/* Waits for the helper, after has_ended. False: it was killed, and what the command has begun may run on. */
bool step_wait(const step *s);
/* Nobody waits for more of the output. */
void step_close_output(step *s);

/* Waits for the helper, which has ended or will at once, and closes all files. Without a report the usage is that of a
 * command that SIGKILL has ended. */
void step_close(step *s);

#endif
