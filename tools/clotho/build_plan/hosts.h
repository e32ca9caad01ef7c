/* hosts.h - several hosts: compiles that go through distcc, placed by us.
 *
 * The hosts are those of DISTCC_HOSTS, each with as many slots as its limit says (4 where it says nothing, as in
 * distcc). Their slots are executors beside the -j local ones and come first, so that a step that may go elsewhere does
 * so while a slot is free there. A step may where its command calls distcc to compile, its pool has no depth, and it
 * has no console; all others keep to the local slots. Each command is told its one host in DISTCC_HOSTS, so distcc
 * chooses nothing. A host that does not answer is distcc's matter: it compiles here, and says so.
 *
 * Of one thread at a time. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_HOSTS_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_HOSTS_H

#include "ninja/state/build.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct build_host {
    char *variable; /* "DISTCC_HOSTS=..." for the commands that run there */
    piece name;     /* in `variable`: without limit and options */
    uint32_t slots, steps;
} build_host;

typedef struct build_hosts {
    build_host *hosts;         /* [count]; the last one is this machine */
    uint32_t count, elsewhere; /* the latter: slots of all others */
} build_hosts;

/* Reads a text as DISTCC_HOSTS has it. Returns an exit code after an error line: no host, one that is written wrongly,
 * too many slots. hosts_close in every case. */
int hosts_open(build_hosts *h, const char *text, uint32_t local_slots);
void hosts_close(build_hosts *h);

/* The host of a slot; with h->count 0 NULL. */
build_host *hosts_of(build_hosts *h, uint32_t slot);
/* Whether a slot is of another host. */
bool hosts_is_elsewhere(const build_hosts *h, uint32_t slot);

/* Whether a step may run on another host. */
bool hosts_may_take(build_folder *folder, uint32_t edge);

/* One line: how many steps ran where. */
void hosts_describe(const build_hosts *h, buffer *out);

#endif
