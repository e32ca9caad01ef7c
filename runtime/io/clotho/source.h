/* io/clotho/source.h - the part of a file in the own format that is being read: the whole graph, or the body of a
 * loop. */
#ifndef CLO_IO_CLOTHO_SOURCE_H
#define CLO_IO_CLOTHO_SOURCE_H

#include "io/text/names.h"
#include "io/text/reader.h"

typedef struct clo_clotho_source {
    /* Its graph is what is filled. */
    clo_reader *reader;
    const clo_json *json;
    /* By name. */
    clo_names tasks, handles;
    /* The list of the file; NULL: taken as they come. */
    const cJSON *kinds;
    uint32_t tasks_count;
    /* The body of a loop, which has no handles. */
    bool is_body;
    /* [tasks_count] of each task, 0: it is no branch; NULL: there are no branches. */
    uint16_t *arms;
} clo_clotho_source;

#endif
