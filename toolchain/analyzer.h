/* analyzer.h - included by force where `./dev lint` analyses the runtime, and nowhere else.
 *
 * The analyser looks into one file at a time, so it takes `return clo_fail(CLO_ERR_X, ...)` for a possible CLO_OK and
 * follows paths that do not exist. These say what the functions promise: they return the status they are given. */
#ifndef CLO_ANALYZER_H
#define CLO_ANALYZER_H

#if __has_include("base/status.h")
#ifdef _FEATURES_H
#define CLO_ANALYZER_IS_LATE
#endif
#include "base/status.h"
#if defined _FEATURES_H && !defined CLO_ANALYZER_IS_LATE /* a source that sets _GNU_SOURCE itself would come too late */
#error "base/status.h includes a header of the C library; leave it out"
#endif
#define clo_fail(status, ...) ((void)clo_fail((status), __VA_ARGS__), (status))
#define clo_fail_prefix(status, prefix) ((void)clo_fail_prefix((status), (prefix)), (status))
#define clo_fail_null(call, arguments) ((void)clo_fail_null((call), (arguments)), CLO_ERR_ARGUMENT)
#define clo_fail_memory(what) ((void)clo_fail_memory(what), CLO_ERR_MEMORY)
#endif

#endif
