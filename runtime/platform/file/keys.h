/* platform/file/keys.h - the info attributes that are ours, "clotho.*". */
#ifndef CLO_PLATFORM_FILE_KEYS_H
#define CLO_PLATFORM_FILE_KEYS_H

#include "platform/file/tree.h"

/* An info that belongs to us is known, well placed and well typed; others pass. Returns CLO_OK or CLO_ERR_FORMAT. */
CLO_NODISCARD clo_status clo_topology_check_infos(const clo_topology *topology, uint32_t node, clo_object_type type,
                                                  bool is_cpukind);

#endif
