/* platform/host/links.h - the links between the CPUs of this machine, measured. */
#ifndef CLO_PLATFORM_HOST_LINKS_H
#define CLO_PLATFORM_HOST_LINKS_H

#include "platform/host/calibration.h"

typedef struct clo_links clo_links; /* opaque: what was measured of every pair of CPUs */

/* Measures all pairs (two CPUs or more), fits the pieces and judges them at the sizes that were held aside; says all
 * that. Returns CLO_OK, CLO_ERR_SYSTEM, CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_links_measure(const clo_calibration *c, int64_t budget_ns, clo_links **out);
void clo_links_free(clo_links *links); /* NULL is allowed */

/* Adds matrices, errors and sources to the native topology. */
CLO_NODISCARD clo_status clo_links_add(const clo_links *links);

#endif
