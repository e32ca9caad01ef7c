/* hash.h - what a log says of its workload and its platform, so that another one is noticed. */
#ifndef CLO_TOOLS_CLOTHO_SIMULATE_HASH_H
#define CLO_TOOLS_CLOTHO_SIMULATE_HASH_H

#include <clotho/log.h>
#include <clotho/workload.h>

/* FNV-1a, 64 bits, of what the scheduler sees; never 0. */
uint64_t workload_hash(const clo_workload *workload);
uint64_t platform_hash(const clo_platform *platform);

/* Complains of a log that says of itself that it is of another workload or platform. spec: how the user calls it. */
int refuse_other_run(const char *log_path, const clo_log *log, const clo_workload *workload,
                     const clo_platform *platform, const char *spec);

#endif
