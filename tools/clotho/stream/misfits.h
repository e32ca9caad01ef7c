/* misfits.h - jobs whose graph fits nowhere on a platform: some task of it has no executor there. */
#ifndef CLO_TOOLS_CLOTHO_STREAM_MISFITS_H
#define CLO_TOOLS_CLOTHO_STREAM_MISFITS_H

#include <clotho/workload.h>

typedef struct misfits_row misfits_row;

/* Each graph of a workload once. */
typedef struct misfits {
    misfits_row *rows; /* owned */
    size_t count;
} misfits;

/* Tries the graphs. CLO_OK, or what is wrong beside a graph that fits nowhere. misfits_close in any case. */
clo_status misfits_find(misfits *m, const clo_workload *workload, const clo_platform *platform);
void misfits_close(misfits *m);

/* Why the job's graph fits nowhere; NULL: it fits. */
const char *misfits_why(const misfits *m, const clo_workload_job *job);

/* One line on standard error: "FILE:LINE: job 'NAME' is refused: WHY", and what may be done, if given. */
void misfits_name(const char *path, const clo_workload_job *job, const char *why, const char *hint);

/* Lines of a command; the jobs behind them are counted in one more. */
enum { MISFITS_NAMED_MAX = 8 };

#endif
