/* interrupt.h - SIGINT and SIGTERM end long work early, with what there is so far. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_INTERRUPT_H
#define CLO_TOOLS_CLOTHO_COMMON_INTERRUPT_H

#include <stdbool.h>

/* From here on the first signal is noted; a second one ends the command as usual. What is ignored, as behind nohup, stays
 * so. Calls may be nested, from one thread; the outer ones decide. */
void interrupts_catch(void);

/* Signals do again what they did before. */
void interrupts_let_go(void);

/* Between the two. */
bool interrupts_are_caught(void);

/* A signal has been noted, at any time since the command began. */
bool is_interrupted(void);

#endif
