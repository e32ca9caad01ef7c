/* io/datasets/psplib.h - shared by the two forms of PSPLIB's projects.
 *
 * A unit of time is taken as 1000 ns, so that makespans in the unit of the file are exact. The two dummies stay,
 * as tasks of work 0. */
#ifndef CLO_IO_DATASETS_PSPLIB_H
#define CLO_IO_DATASETS_PSPLIB_H

#include "io/datasets/packing.h"

#define CLO_PSPLIB_UNIT_NS 1000

#endif
