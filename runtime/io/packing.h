/* io/packing.h - what the data sets of resource-constrained problems share: tasks that hold amounts of a few resources,
 * capacities, and the platform that follows from them. */
#ifndef CLO_IO_PACKING_H
#define CLO_IO_PACKING_H

#include "io/reader.h"

typedef struct clo_packing {
    uint32_t resources;                   /* <= CLO_RESOURCES_MAX */
    int64_t capacity[CLO_RESOURCES_MAX];  /* [resources]          */
    const char *names[CLO_RESOURCES_MAX]; /* [resources], static  */
} clo_packing;

/* Reads "n" and the "capacity" array of the root; names the resources "R1", "R2" ... */
clo_status clo_packing_read(clo_packing *packing, const clo_json *json, uint32_t *tasks);
/* Reads one task's array of demands; one above the capacity is an error. */
clo_status clo_packing_demand(const clo_packing *packing, const clo_json *json, const cJSON *item,
                              int64_t demand[CLO_RESOURCES_MAX]);

/* Creates reader->graph and names its resources. */
clo_status clo_packing_graph(const clo_packing *packing, clo_reader *reader, const char *name);
/* Gives the reader one machine with the capacities and as many equal executors as can ever be busy at once. */
clo_status clo_packing_platform(const clo_packing *packing, clo_reader *reader);

#endif
