/* remote/messages/agree.h - will all ranks make as many runs, of the same graph, platform, times and plan? One sum over
 * all of them tells. */
#ifndef CLO_REMOTE_MESSAGES_AGREE_H
#define CLO_REMOTE_MESSAGES_AGREE_H

#include "remote/messages/remote.h"

/* Returns CLO_OK, CLO_ERR_INVALID with what differs, or as clo_remote_wait. All ranks must call. */
clo_status clo_remote_agree(clo_remote *remote, const clo_cost *cost, const clo_plan *plan,
                            const clo_remote_config *config);

#endif
