/* io/datasets/packing.h - what the data sets of resource-constrained problems share: tasks that hold amounts of a few
 * resources, capacities, and the platform that follows from them. */
#ifndef CLO_IO_DATASETS_PACKING_H
#define CLO_IO_DATASETS_PACKING_H

#include "io/text/reader.h"

typedef struct clo_packing {
    const char *name;                     /* of the platform, static; NULL: the graph's */
    uint32_t resources;                   /* <= CLO_RESOURCES_MAX */
    int64_t capacity[CLO_RESOURCES_MAX];  /* [resources]          */
    const char *names[CLO_RESOURCES_MAX]; /* [resources], static  */
} clo_packing;

/* Where the durations of the tasks are. */
typedef struct clo_packing_durations {
    const char *key;
    double unit_ns;
    uint32_t count;
} clo_packing_durations;

/* Reads "n" and the "capacity" array of the root; names the resources "R1", "R2" ... */
clo_status clo_packing_read(clo_packing *packing, const clo_json *json, uint32_t *tasks);
/* Creates reader->graph and names its resources. */
clo_status clo_packing_graph(const clo_packing *packing, clo_reader *reader, const char *name);
/* Adds `count` tasks from the root's arrays `key` (durations, of unit_ns each) and "demand"; a demand above the
 * capacity is an error. */
clo_status clo_packing_tasks(const clo_packing *packing, clo_reader *reader, const clo_json *json,
                             const clo_packing_durations *durations);
/* The root's array `key`, of `count` items. */
clo_status clo_packing_list(const clo_json *json, const char *key, uint32_t count, const cJSON **list);

/* As many executors as can ever be busy at once. */
clo_status clo_packing_executors(const clo_packing *packing, const clo_reader *reader, uint32_t *executors);
/* Gives the reader a platform of its own: one machine with the capacities and so many equal executors. Nothing where
 * the reader wants no platform. */
clo_status clo_packing_platform(const clo_packing *packing, clo_reader *reader, uint32_t executors);

#endif
