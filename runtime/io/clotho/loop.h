/* io/clotho/loop.h - "loops" of the own format. */
#ifndef CLO_IO_CLOTHO_LOOP_H
#define CLO_IO_CLOTHO_LOOP_H

#include "io/clotho/source.h"

/* Reads "loops" of the file and unrolls them (clo_graph_add_loop) behind its tasks. */
clo_status clo_clotho_read_loops(clo_clotho_source *s);

#endif
