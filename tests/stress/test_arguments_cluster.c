/* test_arguments_cluster.c - as test_arguments.c, for clusters. */
#include "support.h"

#include <clotho/cluster.h>

/* A library without files refuses everything else first. */
#define refuses_io(call, ...)                                                           \
    do {                                                                                \
        clo_status io_status = call(__VA_ARGS__);                                       \
        assert_true(io_status == CLO_ERR_ARGUMENT || io_status == CLO_ERR_UNSUPPORTED); \
    } while (0)

static void clusters(void **state)
{
    (void)state;
    static const char text[] = "{\"format\": \"clotho.cluster/1\", \"machines\": [{\"name\": \"a\", \"platform\": "
                               "\"uniform:2\"}]}";
    clo_cluster *none = NULL;

    refuses_io(clo_cluster_load, NULL, &none);
    refuses_io(clo_cluster_load, "x", NULL);
    refuses_io(clo_cluster_parse, NULL, text, sizeof text - 1, &none);
    refuses_io(clo_cluster_parse, "x", NULL, 1, &none);
    refuses_io(clo_cluster_parse, "x", text, sizeof text - 1, NULL);
    clo_platform *nothing = NULL;
    refuses_io(clo_cluster_open_platform, NULL, &nothing);
    refuses_io(clo_cluster_open_platform, "x.json", NULL);
    refuses_io(clo_cluster_open_platform, "no-such-platform", &nothing);
    assert_true(none == NULL && nothing == NULL);
    clo_cluster_destroy(NULL);
    assert_null(clo_cluster_platform(NULL));
    assert_int_equal(clo_cluster_machines(NULL), 0);
    assert_true(clo_cluster_machine_name(NULL, 0) == NULL);
    if (clo_cluster_parse("x", text, sizeof text - 1, &none) != CLO_OK)
        return; /* a library without files */
    assert_true(clo_cluster_machine_name(none, 1) == NULL);
    clo_cluster_destroy(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clusters)};

    return cmocka_run_group_tests_name("arguments_cluster", tests, NULL, NULL);
}
