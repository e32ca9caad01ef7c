/* base/names.h: a table that finds what was added, and that names made for one hash cannot slow down. */
#include "support.h"

#include "base/names.h"
#include "base/numbers/rng.h"
#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 2000
#define SLOTS 4096 /* of a table with so many names */

static char text[COUNT][24];

static void fill(clo_names *names)
{
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(clo_names_add(names, text[i], i), 0);
}

static void what_is_added_is_found(void **state)
{
    (void)state;
    clo_names names = {0};

    assert_int_equal(clo_names_find(&names, "x"), CLO_NAMES_NONE);
    for (uint32_t i = 0; i < COUNT; i++)
        snprintf(text[i], sizeof text[i], "n%u", i);
    fill(&names);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(clo_names_find(&names, text[i]), i);
    assert_int_equal(clo_names_find(&names, "n2000"), CLO_NAMES_NONE);
    assert_int_equal(clo_names_add(&names, "n7", 9), 0);
    assert_int_equal(clo_names_find(&names, "n7"), CLO_NAMES_TWICE);
    assert_int_equal(names.count, COUNT);
    clo_names_free(&names);
    assert_int_equal(names.capacity, 0);
}

/* FNV-1a, mixed: a hash without a key, as anybody can compute it. */
static uint64_t known_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (const unsigned char *s = (const unsigned char *)name; *s != '\0'; s++)
        hash = (hash ^ *s) * 0x100000001b3u;
    return clo_mix64(hash);
}

/* How far the names lie from the slots of their hashes, in the mean. */
static double mean_distance(const clo_names *names)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].name != NULL)
            sum += (i - names->slots[i].hash) & (names->capacity - 1);
    return (double)sum / (double)names->count;
}

static void names_made_for_a_known_hash_do_not_collide(void **state)
{
    (void)state;
    clo_names names = {0};
    uint32_t made = 0;

    for (uint64_t n = 0; made < COUNT; n++) { /* all in the first 16 slots */
        snprintf(text[made], sizeof text[made], "%llu", (unsigned long long)n);
        made += (known_hash(text[made]) & (SLOTS - 1)) < 16;
    }
    fill(&names);
    assert_int_equal(names.capacity, SLOTS);
    assert_true(mean_distance(&names) < 5); /* about 1/2; with the known hash 1000 */
    clo_names_free(&names);
}

/* Where a name lies depends on the key, what is found does not. */
static void each_table_has_a_key_of_its_own(void **state)
{
    (void)state;
    clo_names a = {0}, b = {0};
    uint32_t moved = 0;

    fill(&a);
    fill(&b);
    for (uint32_t i = 0; i < a.capacity; i++)
        moved += a.slots[i].name != b.slots[i].name;
    assert_true(moved > 100);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(clo_names_find(&a, text[i]), clo_names_find(&b, text[i]));
    clo_names_free(&a);
    clo_names_free(&b);
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    clo_names names = {0};

    fault_fail_nth(1);
    assert_int_equal(clo_names_add(&names, "a", 1), -1);
    fault_fail_nth(0);
    assert_int_equal(clo_names_add(&names, "a", 1), 0);
    assert_int_equal(clo_names_find(&names, "a"), 1);
    clo_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_found),
        cmocka_unit_test(names_made_for_a_known_hash_do_not_collide),
        cmocka_unit_test(each_table_has_a_key_of_its_own),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
