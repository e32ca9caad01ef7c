/* head.h - a head as a decision runs it: 29 -> 32 -> 16 -> 1, int8, and the arg-max over the candidates. */
#ifndef BENCH_KERNELS_HEAD_H
#define BENCH_KERNELS_HEAD_H

#include "kernels/kernels.h"

enum { HEAD_CANDIDATES_MAX = 1000 };

/* lanes: candidates in lanes. node: one candidate after the other. split: lanes, and the first layer comes as partial
 * sums. */
typedef enum head_form { HEAD_LANES, HEAD_NODE, HEAD_SPLIT, HEAD_FORMS } head_form;
extern const char *const head_form_names[HEAD_FORMS];

typedef struct head head;

/* Random weights, features, partial sums and keys. NULL: no memory. */
head *head_open(uint64_t seed);
void head_close(head *h);

/* Index of the candidate that is chosen among the first `count`. */
uint32_t head_decide(head *h, const clo_kernels *kernels, head_form form, uint32_t count);

#endif
