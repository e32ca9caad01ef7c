/* learn/infer/run.h - runs the operations one after the other, row by row: what the scores are, for tests and tools. */
#ifndef CLO_LEARN_INFER_RUN_H
#define CLO_LEARN_INFER_RUN_H

#include "learn/format/opened.h"

/* The case was checked (clo_check_case). `limits` may be NULL. CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_run_ops(const clo_model *model, const clo_kernels *kernels, const clo_model_case *input, int32_t *scores,
                       int32_t *limits);

/* The same in memory that the caller gives: clo_run_bytes, at a multiple of 64. It cannot fail. 0 bytes: too many. */
size_t clo_run_bytes(const clo_model *model, uint32_t stages, uint32_t jobs, uint32_t limits);
void clo_run_ops_in(const clo_model *model, const clo_kernels *kernels, const clo_model_case *input, void *memory,
                    int32_t *scores, int32_t *limits);

#endif
