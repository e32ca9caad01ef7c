/* sim/time/ports.h - the messages of a simulated plan, where they share the ports of machines: the network of
 * plan/ports, driven by the simulator's events. */
#ifndef CLO_SIM_TIME_PORTS_H
#define CLO_SIM_TIME_PORTS_H

#include "engine/program/program.h"
#include "library.h"

#include <clotho/plan.h>

typedef struct clo_sim_ports clo_sim_ports; /* opaque: a network, and who waits for what */

/* placements: [count] of the plan that the program was made of, borrowed until close. Returns as clo_network_open. */
CLO_INTERNAL clo_status clo_sim_ports_open(const clo_program *program, const clo_placement *placements, size_t count,
                                           clo_sim_ports **out);
CLO_INTERNAL void clo_sim_ports_close(clo_sim_ports *p);

/* The execution may begin at begin_ns, as far as its executor and inputs without messages go. True: not yet, it waits
 * for messages, and clo_sim_ports_take will name it. */
bool clo_sim_ports_wait(clo_sim_ports *p, uint32_t execution, int64_t begin_ns);

/* The execution has ended, at the time that clo_sim_ports_go has gone to. */
void clo_sim_ports_send(clo_sim_ports *p, uint32_t execution);

/* When messages move on next; INT64_MAX: never. */
int64_t clo_sim_ports_next_ns(clo_sim_ports *p);

/* Time goes on to at_ns, at most clo_sim_ports_next_ns, which was called since the last change. */
void clo_sim_ports_go(clo_sim_ports *p, int64_t at_ns);

/* An execution that waited, and has all messages now; *begin_ns as it was. CLO_NONE: no other. */
uint32_t clo_sim_ports_take(clo_sim_ports *p, int64_t *begin_ns);

#endif
