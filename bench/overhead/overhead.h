/* overhead.h - what bench-overhead measured, for its report. */
#ifndef CLO_BENCH_OVERHEAD_H
#define CLO_BENCH_OVERHEAD_H

#include "peers/peers.h"

enum { OVERHEAD_CASES_MAX = 24 };

/* A graph with bodies of one length. */
typedef struct overhead_case {
    const char *label, *shape;
    int64_t body_ns;
    uint32_t tasks, small_tasks; /* for slow peers */
    uint32_t runs;               /* in one sample  */
} overhead_case;

/* One peer on one case, ns a task. */
typedef struct overhead_cell {
    uint32_t tasks, edges;
    bool is_doubtful; /* other programs ran */
    bench_stats build, prepare, run;
    bench_stats more; /* with --learn: the run less that of the plain row, turn by turn */
} overhead_cell;

typedef struct overhead_table {
    bool learns; /* --learn: rows without and with learning */
    peer_row rows[PEER_ROWS_MAX];
    uint32_t rows_count;
    const overhead_case *cases[OVERHEAD_CASES_MAX];
    uint32_t cases_count;
    overhead_cell cells[OVERHEAD_CASES_MAX][PEER_ROWS_MAX];
    bench_turns turns[OVERHEAD_CASES_MAX];
} overhead_table;

/* The tables and the goals, or all of it as one JSON object. */
void overhead_print_text(const overhead_table *table, const bench_options *options);
void overhead_print_json(const overhead_table *table, const bench_options *options);

/* Measures and prints graphs that are run once; `only`: one of them, NULL: all. Returns the exit status. */
int overhead_first_runs(const bench_options *options, const char *only);

/* Measures and prints the C++ face beside the C API; `only` as above. Returns the exit status. */
int overhead_cpp_face(const bench_options *options, const char *only);

#endif
