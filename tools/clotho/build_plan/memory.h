/* memory.h - memory of a build: measured for each step, learned, and held below one budget.
 *
 * Measured: what the step's control group holds (anonymous memory, and the kernel's for it), sampled every 50 ms, and
 * the group's own maximum where hardly any page cache is in that; for short steps the largest process by wait4; without
 * groups the latter alone. Learned: ../ninja/history.h. Held, with a budget: a step whose peak is known
 * demands it of Clotho's machine, so a policy does not choose it before there is room. What is not known (then its
 * class says), and what is known too low, is held back here: a step begins when all together fit (admit.h).
 * A step whose class has not been seen is taken to need half of the budget or more, and no more steps of a class run at
 * once than twice as many as were measured. Where the samples come near to the budget nevertheless, the step without a
 * history that began last is ended: before the kernel does so, all would for long wait for pages of files that have no
 * room any more. That one, and one that the kernel has killed for want of memory, runs again, alone.
 *
 * What is learned of classes meanwhile goes to the policy (live.h). While processes wait for memory (PSI) nothing
 * begins beside what runs.
 *
 * Of one thread, but for what memory_open makes. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_MEMORY_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_MEMORY_H

#include "clotho/build_plan/admit.h"
#include "clotho/build_plan/live.h"
#include "ninja/logs/history.h"
#include "ninja/state/build.h"
#include "ninja/step/groups.h"
#include "ninja/step/step.h"

#include <stdbool.h>
#include <stdint.h>

enum { MEMORY_NONE = 0, MEMORY_AUTO = -1 }; /* budgets */
enum { MEMORY_SAMPLE_MS = 50 };

typedef struct memory_slot {
    bool runs, is_alone;
    bool is_elsewhere; /* on another host: nothing is learned of it */
    bool is_ended;     /* by memory_overfull */
    uint64_t number;   /* of all that have begun */
    int64_t seen_kib;  /* most of the samples */
    uint32_t samples;
    int64_t vm_kills; /* of the machine when it began */
} memory_slot;

typedef struct build_memory {
    build_folder *folder;
    step_history history;
    step_groups groups;
    char path[1024];
    int64_t budget_kib;   /* 0: none */
    int64_t capacity_kib; /* of it, without what is kept for margins */
    int64_t *demand_kib;  /* [edges] what the graph demands of the machine; 0: nothing */
    int64_t *cpu_milli;   /* [edges] CPUs that a step used last, in thousandths; 0: not known, or not worth a thought */
    uint32_t cpus;        /* of this process */
    int64_t cpus_milli;   /* that the steps share, and a little more, as steps wait for files, too */
    int64_t *learned_ns;  /* [edges] the time that a step took last; 0: not known */
    uint64_t *hashes;     /* [edges] of commands; 0: not computed */
    double cpu_ms;        /* of all known steps */
    double area_ms;       /* likewise: times by shares of the budget */
    uint32_t *classes;    /* [edges] of the history, of steps that are not known; else ADMIT_KNOWN */
    memory_slot *slots;   /* [jobs] */
    admit_step *held;     /* [jobs + 1] what they need; the last is the one that would begin */
    build_live live;      /* no tasks: nobody asks what is learned */
    uint32_t jobs, running;
    bool is_alone; /* one runs that must be alone */
    const char *pressure_path;
    int64_t sampled_ns, pressure_ns;
    bool is_pressed;
    /* For the summary. */
    uint32_t kills, ended, retries, known, wanted;
    uint64_t begun;
    int64_t most_kib; /* of the samples' sums */
} build_memory;

/* Reads what is learned, sets the budget and makes the groups. budget_kib: also MEMORY_NONE, MEMORY_AUTO.
 * After build_want. Returns an exit code after an error line; memory_close in every case. */
int memory_open(build_memory *b, build_folder *folder, uint32_t jobs, int64_t budget_kib);
void memory_close(build_memory *b);

/* The known steps need the CPUs for at least half as long as the budget: then a plan shares the CPUs out, too. */
bool memory_is_cpu_bound(const build_memory *b);

/* Whether a step may begin on a slot beside what runs. is_alone: only if nothing runs. */
bool memory_may_begin(build_memory *b, uint32_t edge, bool is_alone, int64_t now_ns);
/* It begins, or could not: before the command is begun, and where that failed. */
void memory_begin(build_memory *b, uint32_t slot, uint32_t edge, bool is_alone);
void memory_cancel(build_memory *b, uint32_t slot);
/* The command has ended. Learns of it. *was_killed: for want of memory, by the kernel or as memory_overfull said.
 * False: the manifest's error is set. */
bool memory_end(build_memory *b, uint32_t slot, uint32_t edge, const step_usage *usage, bool *was_killed);

/* Samples all that runs, where it is time. Returns in how many ms it is time again; -1: nothing runs. */
int memory_sample(build_memory *b, int64_t now_ns);

/* After a sample: the slot whose step is to be ended by SIGKILL, because what runs fills the budget up and a step
 * without a history is among it; UINT32_MAX: none. It runs again, alone. */
uint32_t memory_overfull(build_memory *b);

/* Opens `live`, and writes there what is known of classes: now, and after each end. With a budget, once the graph is
 * made. tasks: [edges] the task of an edge. False: the manifest's error is set. */
bool memory_tell(build_memory *b, const uint32_t *tasks, uint32_t tasks_count);

/* One line: what was held, how it was measured, what was killed. */
void memory_describe(const build_memory *b, buffer *out);

/* "512M", "4G", "auto" in KiB; false: something else. */
bool memory_read_budget(const char *text, int64_t *budget_kib);

#endif
