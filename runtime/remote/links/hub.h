/* remote/links/hub.h - what a machine moves to, and from, several others at once: its port, which is measured here. */
#ifndef CLO_REMOTE_LINKS_HUB_H
#define CLO_REMOTE_LINKS_HUB_H

#include "remote/links/hub_rate.h"
#include "remote/links/ping.h"

/* All ranks call it. row: [ranks] what this rank has measured of its links. hubs: on rank 0 [ranks], to be written;
 * else NULL. Returns as clo_remote_measure. */
clo_status clo_hubs_measure(clo_remote *remote, clo_pings *pings, const clo_ping *row, clo_hub *hubs);

#endif
