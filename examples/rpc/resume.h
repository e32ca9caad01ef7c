/* resume.h - what a journal says about a run that goes on: finished instances are preset, with their outputs. */
#ifndef RPC_RESUME_H
#define RPC_RESUME_H

#include "flow.h"

typedef struct resume {
    /* For clo_job_config; NULL: nothing is done. */
    uint64_t *done;
    const void **outputs;

    /* [instances] attempts that earlier runs have begun, of those calls; NULL likewise. */
    uint32_t *attempts;

    uint32_t finished;

    /* Calls with an effect that were under way: they are repeated with their keys. */
    uint32_t again;
} resume;

/* Returns 0, or -1 with one line in `error`: a record does not fit the graph, or a call of EFFECT_ONCE was begun. */
int resume_read(journal *j, const flow *f, resume *out, char *error, size_t error_bytes);
void resume_free(resume *r, const flow *f);

#endif
