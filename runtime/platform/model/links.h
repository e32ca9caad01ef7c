/* platform/model/links.h - the links of a platform while it is made: groups, sources and sums over all pairs. */
#ifndef CLO_PLATFORM_MODEL_LINKS_H
#define CLO_PLATFORM_MODEL_LINKS_H

#include "platform/model/platform.h"

/* group_of, latency_ns, ns_per_byte_q32 and the cuts, from what the caller gives; executors, memories and machines are
 * there. */
CLO_NODISCARD clo_status clo_links_copy(clo_platform *platform, const clo_platform_desc *desc);

/* source_of, source_first, is_group_each, spans and memory_width, of links that are there. O(executors + groups^2)
 * where executors that share a memory are of few groups. */
CLO_NODISCARD clo_status clo_links_survey(clo_platform *platform);

#endif
