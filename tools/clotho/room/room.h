/* room.h - is there anything to learn? An oracle that knows all arrivals and times gives the jobs of a stream weights
 * and limits of executors, with which a rule decides, and climbs (bench/online/README.md, head-room). What it gains
 * over the rule is what a perfect chooser among jobs would gain at most by such choices. */
#ifndef CLO_TOOLS_CLOTHO_ROOM_ROOM_H
#define CLO_TOOLS_CLOTHO_ROOM_ROOM_H

#include "clotho/train/streams.h"
#include "train/search/seeds.h"

/* Training where an oracle gains less than this share stops. */
#define ROOM_LEAST 0.02

/* The most that the oracle gains in one of several settings, over the first few seeds of the list and at most 30 jobs
 * each; printed unless is_quiet. The same with any number of threads. Returns EXIT_GOOD, or an exit code after an error
 * line: EXIT_BAD_INPUT, too, where it is less than ROOM_LEAST. */
int room_check(const train_streams *settings, uint32_t count, const clo_policy *rule, const void *argument,
               seed_list seeds, bool is_quiet);

#endif
