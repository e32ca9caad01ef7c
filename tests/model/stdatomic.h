/* stdatomic.h - stands before the real one in the model tests' include path: the unmodified headers of runtime/sync
 * compile against it, and every atomic operation becomes a step of the checker (model.h). Objects of 4 and 8 bytes. */
#ifndef CLO_MODEL_STDATOMIC_H
#define CLO_MODEL_STDATOMIC_H

#include "model.h"

#define _Atomic

#define memory_order_relaxed MODEL_RELAXED
#define memory_order_acquire MODEL_ACQUIRE
#define memory_order_release MODEL_RELEASE
#define memory_order_acq_rel MODEL_ACQ_REL
#define memory_order_seq_cst MODEL_SEQ_CST

/* A value that may be left unused. */
#define MODEL_AS(p, value)                                        \
    __extension__({                                               \
        __typeof__(*(p)) model_value = (__typeof__(*(p)))(value); \
        model_value;                                              \
    })

#define atomic_init(p, v) model_init((p), sizeof *(p), (uint64_t)(v))
#define atomic_load_explicit(p, o) ((__typeof__(*(p)))model_load((p), sizeof *(p), (o)))
#define atomic_store_explicit(p, v, o) model_store((p), sizeof *(p), (uint64_t)(v), (o))
#define atomic_exchange_explicit(p, v, o) MODEL_AS(p, model_rmw((p), sizeof *(p), MODEL_SET, (uint64_t)(v), (o)))
#define atomic_fetch_add_explicit(p, v, o) MODEL_AS(p, model_rmw((p), sizeof *(p), MODEL_ADD, (uint64_t)(v), (o)))
#define atomic_fetch_sub_explicit(p, v, o) \
    MODEL_AS(p, model_rmw((p), sizeof *(p), MODEL_ADD, (uint64_t)0 - (uint64_t)(v), (o)))
#define atomic_fetch_or_explicit(p, v, o) MODEL_AS(p, model_rmw((p), sizeof *(p), MODEL_OR, (uint64_t)(v), (o)))
#define atomic_compare_exchange_strong_explicit(p, e, v, o, f) \
    model_compare_exchange((p), sizeof *(p), (e), (uint64_t)(v), (o), (f))
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
#define atomic_signal_fence(o) ((void)0)

#endif
