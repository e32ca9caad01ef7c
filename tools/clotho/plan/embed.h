/* embed.h - `clotho plan --embed`: a plan as tables of C, for programs on a board that reads no files. */
#ifndef CLO_TOOLS_CLOTHO_PLAN_EMBED_H
#define CLO_TOOLS_CLOTHO_PLAN_EMBED_H

#include "clotho/common/input.h"

/* Writes the placements and the executors that they are of as constants, named after the file: `camera.c` has
 * `camera`, `camera_count`, `camera_planner` and `camera_platform`; `for.c` has `plan_for` and so on. Refused with one
 * line: a plan with an interval, a platform with an executor whose CPU number is not known. Returns an exit code. */
int embed_plan(const char *path, const input *in, const clo_plan *plan);

#endif
