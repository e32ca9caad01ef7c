/* input.h - what most verbs begin with: a graph file, a platform, and the cost of the one on the other. */
#ifndef CLOTHO_TOOL_INPUT_H
#define CLOTHO_TOOL_INPUT_H

#include "report.h"

typedef struct input {
    const char *path;
    clo_document document;
    clo_platform *opened;         /* owned; NULL where the file's own platform is used */
    const clo_platform *platform; /* the one in use                                    */
    clo_cost *cost;
} input;

/* Loads the graph at `path`, opens the platform and builds the cost.
 *   spec   NULL: the file's own platform if it has one, else native.
 *   scale  of times and bytes; body: for tasks that name none, may be NULL.
 * Returns EXIT_GOOD, or an exit code after an error line (then nothing is to be closed). */
int input_open(input *in, const char *path, const char *spec, double scale, const char *body);
void input_close(input *in);

/* The first two lines of every report: the graph, the platform. */
void input_print(const input *in);

/* Opens a platform by SPEC; the same exit codes. */
int platform_open(const char *spec, clo_platform **out);

/* Each returns EXIT_GOOD if the name is known, else EXIT_BAD_USAGE after a line with the nearest name. */
int known_planner(const char *name);
int known_policy(const char *name); /* "steal" included */
int known_format(const char *name);

/* Names by index, NULL past the end: for nearest_name. */
const char *planner_at(uint32_t index);
const char *policy_at(uint32_t index);
const char *format_at(uint32_t index);

#endif
