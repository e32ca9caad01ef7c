/* A ball between two threads: who holds it sees all that the other wrote before, and nobody goes on without it. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "sync/structure/pingpong.h"

#include <pthread.h>

enum { TURNS = 2000, ROUNDS = 500 };

typedef struct table {
    clo_pingpong *ball;
    uint32_t data; /* written by whoever holds the ball */
    uint32_t wrong, last;
} table;

static void *partner(void *argument)
{
    table *t = argument;

    for (uint32_t turn = 0; turn < 2 * TURNS; turn += 2) {
        clo_pingpong_wait(t->ball, turn + 1);
        t->wrong += t->data != turn + 1;
        t->data = turn + 2;
        clo_pingpong_pass(t->ball, turn + 2);
    }
    t->last = clo_pingpong_return(t->ball, 2 * TURNS, ROUNDS);
    return NULL;
}

static void the_holder_of_the_ball_sees_what_the_other_wrote(void **state)
{
    (void)state;
    table t = {.ball = clo_pingpong_create()};
    pthread_t thread;
    uint32_t wrong = 0;

    assert_non_null(t.ball);
    assert_int_equal(pthread_create(&thread, NULL, partner, &t), 0);
    for (uint32_t turn = 0; turn < 2 * TURNS; turn += 2) {
        t.data = turn + 1;
        clo_pingpong_pass(t.ball, turn + 1);
        clo_pingpong_wait(t.ball, turn + 2);
        wrong += t.data != turn + 2;
    }
    assert_int_equal(clo_pingpong_serve(t.ball, 2 * TURNS, ROUNDS), 2 * (TURNS + ROUNDS));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(t.last, 2 * (TURNS + ROUNDS));
    assert_int_equal(wrong, 0);
    assert_int_equal(t.wrong, 0);
    clo_pingpong_destroy(t.ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_holder_of_the_ball_sees_what_the_other_wrote)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
