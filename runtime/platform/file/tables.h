/* platform/file/tables.h - what an hwloc XML file says beside its objects. */
#ifndef CLO_PLATFORM_FILE_TABLES_H
#define CLO_PLATFORM_FILE_TABLES_H

#include "platform/file/tree.h"

/* The distances2, memattr and cpukind elements below the root; after the objects. Returns CLO_OK, CLO_ERR_FORMAT or
 * CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_read_tables(clo_topology *topology);

#endif
