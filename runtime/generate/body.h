/* generate/body.h - the bodies that files name, beyond those of clotho/body.h. */
#ifndef CLO_GENERATE_BODY_H
#define CLO_GENERATE_BODY_H

#include "library.h"
#include <clotho/body.h>

/* Reads its inputs, writes its output, then streams over a private block until call->expected_ns have passed.
 * clo_task.argument is not used. */
CLO_INTERNAL int clo_body_memory(const clo_call *call);

/* "spin", "memory" or "command"; NULL for any other body. Static. */
CLO_INTERNAL const char *clo_body_name(clo_task_fn body);

#endif
