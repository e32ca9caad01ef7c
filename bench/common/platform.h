/* platform.h - the part of this machine that a benchmark runs on, and how it reports what Clotho refused. */
#ifndef CLO_BENCH_PLATFORM_H
#define CLO_BENCH_PLATFORM_H

#include "common/bench.h"

#include <clotho/clotho.h>

/* The first `workers` executors of this machine, made equal. Prints why where it fails. NULL on failure. */
clo_platform *bench_platform(uint32_t workers);

/* Prints "bench: what: why" to stderr. Returns false. */
bool bench_fail(const char *what);

#endif
