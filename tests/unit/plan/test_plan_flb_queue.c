/* plan/flb_queue.h: the list looks as Python's heapq leaves it, after every step. */
#include "support.h"

#include "base/numbers/rng.h"
#include "plan/list/flb_queue.h"

#define STEPS 4000
#define ITEMS_MAX 64

/* heapq of CPython, line by line. */
static void sift_down(clo_heap_item *heap, size_t start, size_t at)
{
    clo_heap_item item = heap[at];

    while (at > start && clo_heap_before(item, heap[(at - 1) >> 1])) {
        heap[at] = heap[(at - 1) >> 1];
        at = (at - 1) >> 1;
    }
    heap[at] = item;
}

static void sift_up(clo_heap_item *heap, size_t count, size_t at)
{
    clo_heap_item item = heap[at];
    size_t start = at, child = 2 * at + 1;

    while (child < count) {
        size_t right = child + 1;
        if (right < count && !clo_heap_before(heap[child], heap[right]))
            child = right;
        heap[at] = heap[child];
        at = child;
        child = 2 * at + 1;
    }
    heap[at] = item;
    sift_down(heap, start, at);
}

static clo_heap_item pop(clo_heap_item *heap, size_t *count)
{
    clo_heap_item last = heap[--*count], first = last;

    if (*count > 0) {
        first = heap[0];
        heap[0] = last;
        sift_up(heap, *count, 0);
    }
    return first;
}

static void every_step_leaves_the_list_of_heapq(void **state)
{
    (void)state;
    clo_flb_queue queue = {0};
    clo_heap_item model[ITEMS_MAX];
    clo_rng rng = clo_rng_seed(1);
    size_t count = 0;

    for (uint64_t step = 0; step < STEPS; step++) {
        uint32_t what = count == 0 ? 0 : count == ITEMS_MAX ? 6 : clo_rng_below(&rng, 8);
        if (what < 4) { /* few keys: ties go by id */
            model[count] = (clo_heap_item){clo_rng_below(&rng, 10), step};
            assert_int_equal(clo_flb_queue_push(&queue, model[count].key, step), 0);
            sift_down(model, 0, count++);
        } else if (what < 7) {
            clo_heap_item want = pop(model, &count), got = clo_flb_queue_pop(&queue);
            assert_true(got.key == want.key && got.id == want.id);
        } else { /* out of the middle: what follows closes up, and the order may be lost */
            size_t gone = clo_rng_below(&rng, (uint32_t)count);
            clo_flb_queue_remove(&queue, model[gone].id);
            count--;
            for (size_t i = gone; i < count; i++)
                model[i] = model[i + 1];
        }
        assert_int_equal(queue.count, count);
        for (size_t i = 0; i < count; i++)
            assert_true(queue.items[i].key == model[i].key && queue.items[i].id == model[i].id);
    }
    clo_flb_queue_free(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_leaves_the_list_of_heapq),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
