/* options.h - the command line of an application. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include "application.h"

typedef struct options {
    const char *planner;       /* a planner, "steal", or a policy                   */
    const char *platform;      /* SPEC                                              */
    const char *device;        /* of OpenCL: a number or a part of its name; NULL: none */
    const char *trace, *gantt; /* files to write; NULL: none                   */
    uint32_t workers;          /* 0: one for each executor                          */
    uint32_t repeat;
    int clock; /* a clo_clock; -1: real on this machine, else virtual */
    bool json, quick;
} options;

/* Reads the command line. Returns -1 to go on, else the exit status (--help: 0, bad usage: 2). */
int options_read(options *options, application *app, int argc, char **argv);

/* How tasks get to executors, from the name given with --planner. */
typedef struct dispatch {
    const char *mode;         /* "replay", "steal", "policy" */
    const char *planner;      /* replay: its name            */
    const clo_policy *policy; /* policy: it                  */
} dispatch;

/* Returns CLO_OK, or CLO_ERR_ARGUMENT for an unknown name. */
clo_status dispatch_find(const char *name, dispatch *out);

#endif
