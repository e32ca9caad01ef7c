/* stack.h - intrusive lists of work items: anyone pushes, one exchange takes all.
 *
 * Serves as a worker's inbox (many producers, the owner takes), as its shared pool (many producers, any worker takes),
 * as the line of a machine, the list of a slot thread and the requests to the scheduler. Items are numbers,
 * (job slot << 32 | execution), never pointers; each item brings its own link word (one for each execution of a job),
 * so pushing needs no memory and cannot fail. There is no pop of one item, hence no ABA problem (Treiber 1986, with
 * take-all in place of pop).
 *
 *               push   take
 *      push      -      -
 *      take      -      -
 *
 * Progress: push is lock-free (a failing CAS means another push succeeded), take is wait-free.
 * Ordering: what a producer wrote before push happens before what the taker does with the item: [B]
 * acquire pairs with [A] release; a later push is a read-modify-write and so continues the release
 * sequence of the earlier ones. Items come out last in, first out.
 * Mutation list: [A] relaxed; [B] relaxed. */
#ifndef CLO_SYNC_STRUCTURE_STACK_H
#define CLO_SYNC_STRUCTURE_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CLO_ITEM_NONE UINT64_MAX

typedef struct clo_stack {
    _Atomic uint64_t head; /* CLO_ITEM_NONE: empty */
} clo_stack;

static inline void clo_stack_init(clo_stack *stack)
{
    atomic_init(&stack->head, CLO_ITEM_NONE);
}

static inline bool clo_stack_is_empty(const clo_stack *stack)
{
    return atomic_load_explicit(&stack->head, memory_order_relaxed) == CLO_ITEM_NONE;
}

/* Pushes a chain: `first` ... -> `last`, whose link word is `last_link`. One item: first with its own link. */
static inline void clo_stack_push(clo_stack *stack, uint64_t first, uint64_t *last_link)
{
    uint64_t head = atomic_load_explicit(&stack->head, memory_order_relaxed);

    do
        *last_link = head; /* ours until the CAS publishes it */
    while (!atomic_compare_exchange_weak_explicit(&stack->head, &head, first, memory_order_release, /* [A] */
                                                  memory_order_relaxed));
}

/* Everything, as a chain through the links; CLO_ITEM_NONE if empty. */
static inline uint64_t clo_stack_take(clo_stack *stack)
{
    if (clo_stack_is_empty(stack)) /* do not write the line of somebody who only waits */
        return CLO_ITEM_NONE;
    return atomic_exchange_explicit(&stack->head, CLO_ITEM_NONE, memory_order_acquire); /* [B] */
}

#endif
