/* The one iterator over everything that has a name. */
#include "support.h"

#include "kernels/kernels.h"

#include <string.h>

static void every_registry_is_listed_and_has_distinct_names(void **state)
{
    static const char *const wanted[] = {"planners", "policies", "learned", "platforms", "formats",
                                         "families", "models",   "drivers", "kernels"};
    clo_entry registry = CLO_ENTRY_INIT, entry = CLO_ENTRY_INIT;
    uint32_t count = 0;

    (void)state;
    for (; clo_registry_entry(NULL, count, &registry); count++) {
        assert_string_equal(registry.name, wanted[count]);
        assert_true(strlen(registry.summary) > 10);
        assert_null(registry.directions);
        for (uint32_t i = 0; clo_registry_entry(registry.name, i, &entry); i++) {
            assert_true(entry.name[0] != '\0' && strlen(entry.summary) >= 8);
            assert_true(entry.is_used == 0 || strcmp(registry.name, "kernels") == 0 ||
                        strcmp(registry.name, "drivers") == 0);
            assert_int_equal(entry.directions != NULL, strcmp(registry.name, "formats") == 0);
            for (uint32_t k = 0; k < i; k++)
                assert_string_not_equal(name_at(registry.name, k), entry.name);
        }
    }
    assert_int_equal(count, sizeof wanted / sizeof wanted[0]);
}

static void the_defaults_come_first(void **state)
{
    (void)state;
    assert_string_equal(name_at("planners", 0), "heft");
    assert_string_equal(name_at("policies", 0), "steal");
    assert_ptr_equal(clo_policy_find("steal"), policy_at(0));
    assert_null(clo_policy_find(NULL));
}

/* Those that clo_kernels_select takes. */
static void kernels_of_this_cpu_are_marked(void **state)
{
    uint32_t count, isa = clo_cpu_isa();
    const clo_variant *variants = clo_kernels_variants(&count);
    clo_entry entry = CLO_ENTRY_INIT;

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(clo_registry_entry("kernels", i, &entry));
        assert_string_equal(entry.name, variants[i].name);
        assert_int_equal(entry.is_used, (variants[i].needs & ~isa) == 0);
    }
    assert_false(clo_registry_entry("kernels", count, &entry));
    assert_true(clo_registry_entry("kernels", 0, &entry));
    assert_int_equal(entry.is_used, 1); /* scalar */
}

/* A caller of a later release gets zeros in what this one does not know. */
static void an_entry_fills_what_the_caller_has_room_for(void **state)
{
    (void)state;
    struct {
        clo_entry known;
        void *later;
    } newer = {.known.size = sizeof newer, .later = &newer};

    assert_true(clo_registry_entry("policies", 0, &newer.known));
    assert_null(newer.later);
    assert_int_equal(newer.known.size, sizeof newer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_registry_is_listed_and_has_distinct_names),
        cmocka_unit_test(the_defaults_come_first),
        cmocka_unit_test(kernels_of_this_cpu_are_marked),
        cmocka_unit_test(an_entry_fills_what_the_caller_has_room_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
