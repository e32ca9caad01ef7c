/* finish.h - what stands around a command: folders and the response file before it; restat, discovered inputs and the
 * logs after it. The caller lets no two threads in at once. */
#ifndef CLOTHO_NINJA_FINISH_H
#define CLOTHO_NINJA_FINISH_H

#include "build.h"

/* Opens both logs for writing, in their folder. Returns false with the manifest's error set, as do all of these. */
bool finish_open_logs(build_folder *f);

/* Makes the folders of the outputs and of the depfile, and writes the response file. */
bool finish_prepare(build_folder *f, uint32_t edge);

/* The edge succeeded: reads and removes its depfile, takes back what restat shows to be needless, writes the logs and
 * releases what waited. *is_bad: its depfile cannot be read, so it failed after all; the manifest's error says why. */
bool finish_succeeded(build_folder *f, uint32_t edge, int64_t start_ms, int64_t end_ms, bool *is_bad);

/* The edge was interrupted: removes its depfile and those outputs that it may have half written. */
bool finish_interrupted(build_folder *f, uint32_t edge);

#endif
