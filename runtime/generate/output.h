/* generate/output.h - the output of the ready-made bodies. */
#ifndef CLO_GENERATE_OUTPUT_H
#define CLO_GENERATE_OUTPUT_H

#include <clotho/body.h>

/* Fills the output with bytes that depend on the task, the instance and the content of the inputs only: not on the
 * executor, not on the time, and equal in original and replica. */
void clo_body_fill(const clo_call *call);

#endif
