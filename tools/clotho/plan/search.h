/* search.h - what is seen of a search that takes time, and how it is ended early. */
#ifndef CLO_TOOLS_CLOTHO_PLAN_SEARCH_H
#define CLO_TOOLS_CLOTHO_PLAN_SEARCH_H

#include <clotho/plan.h>

/* From here on a line on a terminal shows how far the search is, and SIGINT and SIGTERM end it with the best plan so far.
 * A second signal ends the command as usual. */
void search_watch(clo_plan_config *config);

/* The search is over: the line goes, and where a signal came, that is said once, unless the caller catches signals
 * itself (interrupt.h). */
void search_over(void);

#endif
