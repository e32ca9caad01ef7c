/* library.h - the libraries of Clotho use each other's internals: these are exported, but stand in no public header.
 * The libraries are released together, and none goes with another version of the others. */
#ifndef CLO_LIBRARY_H
#define CLO_LIBRARY_H

#define CLO_INTERNAL __attribute__((visibility("default")))

#endif
