/* nearest.h - which name may have been meant. */
#ifndef CLOTHO_NINJA_NEAREST_H
#define CLOTHO_NINJA_NEAREST_H

#include "manifest.h"

/* The node whose path is most like `name`, which is the path of none: by at most 3 letters, and by at most a third of
 * its own, rounded up. The first of several; NINJA_NONE: none is like it. Takes O(nodes * length of a path). */
uint32_t nearest_node(const ninja_manifest *m, piece name);

#endif
