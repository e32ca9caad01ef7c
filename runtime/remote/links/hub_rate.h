/* remote/links/hub_rate.h - what the times of a hub (hub.h) say of its port. */
#ifndef CLO_REMOTE_LINKS_HUB_RATE_H
#define CLO_REMOTE_LINKS_HUB_RATE_H

#include <stdint.h>

/* One direction: large messages to several ranks; int64 throughout: it travels as that. */
typedef struct clo_hub_way {
    int64_t byte_ns;  /* messages of one byte, all at once */
    int64_t alone_ns; /* the slowest large one alone, beyond one byte */
    int64_t all_ns;   /* all large ones at once, beyond the bytes */
} clo_hub_way;

typedef struct clo_hub {
    int64_t count; /* messages at once; 0: fewer than two other ranks, so not measured */
    int64_t bytes; /* of each */
    clo_hub_way out, in;
} clo_hub;

#define CLO_HUB_WORDS 8

/* Bytes/ns of all together; 0: they do not share anything that shows. */
double clo_hub_rate(const clo_hub *hub, const clo_hub_way *way);

#endif
