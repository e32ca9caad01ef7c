/* drive.h - the driver of a build: one thread that begins the commands and sees their ends.
 *
 * The body of a step posts its executor here and returns CLO_PENDING. The driver waits for everything at once
 * (epoll): posts, output, reports, ends of processes, signals. Folder, logs, printer and the slots belong to it alone
 * while it runs. A step that restat has made needless, or that waits for one that failed, ends at once.
 *
 * SIGINT, SIGTERM and SIGHUP go on to the running commands, again every 50 ms until they have ended, and after half a
 * second everything that they have begun is killed, but servers (../ninja/owner.h) are not; after 0.8 s helpers that do
 * not obey are. So it is where a command has ended by one of these, as ninja has
 * it, and where nobody reads what the build prints (SIGPIPE; the commands get SIGTERM then). */
#ifndef CLO_TOOLS_CLOTHO_BUILD_DRIVE_H
#define CLO_TOOLS_CLOTHO_BUILD_DRIVE_H

#include "clotho/build/gate.h"
#include "clotho/build/print.h"
#include "clotho/build_plan/hosts.h"
#include "clotho/build_plan/memory.h"
#include "clotho/build_plan/report.h"
#include "ninja/step/step.h"

#include <clotho/clotho.h>

#include <pthread.h>

enum { SLOT_FREE, SLOT_WAITS, SLOT_RUNS };

/* One executor: what was posted there, and the command that runs. */
typedef struct build_slot {
    uint8_t state;
    bool has_console, has_ended; /* the helper has ended */
    bool is_alone;               /* was killed for want of memory: begins again, alone */
    bool is_said;                /* its line was printed, and the system had no room for it then */
    uint32_t edge;
    uint64_t number; /* of the post: first come, first begun */
    clo_token token;
    step child;
    spool output;
    int64_t began_ns, began_disk_ns; /* by the clock of the build, by that of files */
} build_slot;

typedef struct build_driver {
    build_folder *folder;
    build_printer printer;
    build_memory memory;
    build_gate gate;
    build_hosts *hosts; /* count 0: none but this machine; borrowed */
    build_report report;
    build_slot *slots; /* [jobs] */
    uint32_t jobs, failures_most;
    bool ends_servers; /* as of step_options */
    char helper[4096];
    sigset_t mask;       /* of the caller, for the commands */
    unsigned long files; /* soft limit of open files of the caller */
    int kept;            /* as of step_options; the caller's */

    pthread_mutex_t lock; /* of the posts */
    uint32_t *posts;      /* [jobs] executors */
    uint32_t posts_count;
    bool is_over; /* nothing more will be posted */

    /* Of the thread alone. */
    int poll, wake, signals;
    uint64_t posted;
    uint32_t waiting, running, failed;
    int signal;           /* that ended the build; 0: none */
    uint32_t interrupter; /* the statement whose command it ended; NINJA_NONE: it came to this process */
    int64_t start_ns;     /* of the build */
    int64_t signal_ns, resend_ns;
    bool is_gated;    /* a step waits for a token or for a calmer machine */
    bool has_servers; /* steps have started some, see owner.h */
    bool is_broken;   /* the build itself failed: the manifest's error says why */
} build_driver;

/* Prepares a driver with `jobs` slots; `folder`, `failures_most` and `printer.is_verbose` are set by the caller, all
 * else is zero. Memory, gate, report and the printer's status are opened and closed by the caller, too. Takes over
 * SIGINT, SIGTERM, SIGHUP and SIGPIPE (unless that is ignored) of this thread and of those that it will begin. Returns
 * an exit code after an error line; drive_end in every case. */
int drive_open(build_driver *d, uint32_t jobs);
/* Of the thread that has called drive_open, once the driver's thread has ended. The signals are as before, but not
 * after an interrupt, as the process ends then. */
void drive_end(build_driver *d);

/* The thread: pthread_create(..., drive, driver). It ends after drive_stop, once no command runs. */
void *drive(void *driver);
void drive_stop(build_driver *d);

/* A step is to be run on an executor. Any thread. */
void drive_post(build_driver *d, uint32_t executor, uint32_t edge, clo_token token);

#endif
