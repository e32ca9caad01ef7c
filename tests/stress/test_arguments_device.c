/* test_arguments_device.c - as test_arguments.c, for devices and their kernels. */
#define _POSIX_C_SOURCE 200809L
#include "device_scene.h"

#include "fault.h"

#include <stdio.h>
#include <unistd.h>

static clo_status refuse_open(const char *selector, const struct clo_device_config *config, void **out)
{
    (void)selector;
    (void)config;
    (void)out;
    return clo_device_fail(CLO_ERR_UNSUPPORTED, "no such hardware");
}

static clo_status refuse_reserve(void *device, size_t bytes, clo_device_arena *out)
{
    (void)device;
    (void)bytes;
    (void)out;
    return CLO_ERR_MEMORY;
}

static clo_status refuse_launch(void *device, const clo_device_call *call, uint32_t token)
{
    (void)device;
    (void)call;
    (void)token;
    return CLO_ERR_SYSTEM;
}

static uint32_t poll_nothing(void *device, clo_device_completion *out, uint32_t max)
{
    (void)device;
    (void)out;
    (void)max;
    return 0;
}

static void close_nothing(void *device)
{
    (void)device;
}

static const clo_driver absent = {.name = "absent",
                                  .summary = "never there",
                                  .size = sizeof(clo_driver),
                                  .open = refuse_open,
                                  .reserve = refuse_reserve,
                                  .launch = refuse_launch,
                                  .poll = poll_nothing,
                                  .close = close_nothing};

static void devices_that_cannot_be_opened(void **state)
{
    const clo_driver *null = clo_driver_find("null");
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_driver partial = absent;
    clo_device *device = NULL;
    static const char *const selectors[] = {
        "x", "launch_ns", "launch_ns=", "launch_ns=-1", "launch_ns=1x", "depth=17", "=3", "MBps=99999999999999999999"};

    (void)state;
    assert_null(clo_driver_find(NULL));
    assert_null(clo_driver_find("nobody's"));
    assert_non_null(strstr(clo_last_error(), "unknown driver 'nobody's'"));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_open(NULL, "", NULL, &device));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_open(null, "", NULL, NULL));
    fails(CLO_ERR_UNSUPPORTED, "no such hardware", clo_device_open(&absent, NULL, NULL, &device));
    partial.poll = NULL;
    fails(CLO_ERR_ARGUMENT, "'absent' needs", clo_device_open(&partial, "", NULL, &device));
    partial = absent;
    partial.size = 8;
    fails(CLO_ERR_ARGUMENT, "sizeof", clo_device_open(&partial, "", NULL, &device));
    for (size_t s = 0; s < sizeof selectors / sizeof selectors[0]; s++)
        fails(CLO_ERR_ARGUMENT, "driver null", clo_device_open(null, selectors[s], NULL, &device));
    config.depth = CLO_DEVICE_DEPTH_MAX + 1;
    fails(CLO_ERR_ARGUMENT, "depth", clo_device_open(null, "", &config, &device));
    config = (clo_device_config)CLO_DEVICE_CONFIG_INIT;
    config.limit_ns = -1;
    fails(CLO_ERR_ARGUMENT, "limit_ns -1", clo_device_open(null, "", &config, &device));
    config = (clo_device_config)CLO_DEVICE_CONFIG_INIT;
    config.host_kernels_count = 1;
    fails(CLO_ERR_ARGUMENT, "host_kernels", clo_device_open(null, "", &config, &device));
    config = (clo_device_config)CLO_DEVICE_CONFIG_INIT;
    config.size = 4;
    fails(CLO_ERR_ARGUMENT, "size", clo_device_open(null, "", &config, &device));
    assert_null(device);
    clo_device_close(NULL);
    assert_int_equal(clo_device_fail(CLO_ERR_SYSTEM, NULL), CLO_ERR_SYSTEM);
}

/* One CPU, and an accelerator of two slots with this driver. */
static clo_platform *platform_with_driver(const char *driver, const char *device)
{
    char path[] = "/tmp/clotho-driver-XXXXXX", text[2048], selector[128] = "";
    clo_platform *p;
    int file = mkstemp(path);

    assert_true(file >= 0);
    close(file);
    if (device[0] != '\0')
        snprintf(selector, sizeof selector, "<info name=\"clotho.device\" value=\"%s\"/>", device);
    snprintf(text, sizeof text,
             "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\">"
             "<info name=\"clotho.schema\" value=\"1\"/><info name=\"clotho.platform\" value=\"p\"/>"
             "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\"/>"
             "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\"/>"
             "<object type=\"Misc\" name=\"accel:npu\"><info name=\"clotho.slots\" value=\"2\"/>"
             "<info name=\"clotho.driver\" value=\"%s\"/>%s</object></object></topology>",
             driver, selector);
    ok(clo_file_write(path, text, strlen(text)));
    ok(clo_platform_open(path, &p));
    unlink(path);
    return p;
}

static void devices_that_a_platform_does_not_name(void **state)
{
    clo_platform *p;
    clo_device *device = NULL;
    clo_device_stats stats = CLO_DEVICE_STATS_INIT;

    (void)state;
    ok(clo_platform_open("slots:2", &p));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_open_at(NULL, 0, NULL, NULL, &device));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_open_at(p, 0, NULL, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "there is no executor 2; the platform has 0 to 1",
          clo_device_open_at(p, 2, NULL, NULL, &device));
    fails(CLO_ERR_ARGUMENT, "names no driver", clo_device_open_at(p, 1, &absent, NULL, &device));
    clo_platform_destroy(p);
    p = platform_with_driver("absent", "");
    fails(CLO_ERR_UNSUPPORTED, "'absent' of executor npu.0 is not built in",
          clo_device_open_at(p, 1, NULL, NULL, &device));
    fails(CLO_ERR_UNSUPPORTED, "no such hardware", clo_device_open_at(p, 1, &absent, NULL, &device));
    fails(CLO_ERR_ARGUMENT, "there is no executor 3; the platform has 0 to 2",
          clo_device_open_at(p, 3, &absent, NULL, &device));
    clo_platform_destroy(p);
    p = platform_with_driver("null", "depth=17");
    fails(CLO_ERR_ARGUMENT, "driver null", clo_device_open_at(p, 1, NULL, NULL, &device));
    assert_null(device);
    clo_platform_destroy(p);
    p = platform_with_driver("null", "depth=3");
    ok(clo_device_open_at(p, 2, &absent, NULL, &device)); /* an own driver of another name is not taken */
    clo_platform_destroy(p);
    ok(clo_device_get_stats(device, &stats));
    assert_int_equal(stats.facts.depth, 3);
    clo_device_close(device);
}

static void questions_to_a_device(void **state)
{
    clo_device_stats stats = CLO_DEVICE_STATS_INIT;
    device_scene s = device_open("", NULL, 1);
    uint32_t function = 7;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_find(NULL, "mix", &function));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_find(s.device, NULL, &function));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_find(s.device, "mix", NULL));
    fails(CLO_ERR_ARGUMENT, "'other'", clo_device_find(s.device, "other", &function));
    assert_int_equal(function, 7);
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_get_stats(NULL, &stats));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_get_stats(s.device, NULL));
    stats.size = 3;
    fails(CLO_ERR_ARGUMENT, "size", clo_device_get_stats(s.device, &stats));
    clo_device_close(s.device);
    clo_platform_destroy(s.platform);
}

/* What a kernel must not be; task 0 may pend, task 1 may not, task 2 has instances. */
static void kernels_that_are_refused(void **state)
{
    static uint64_t word;
    device_scene s = device_open("", NULL, 1);
    clo_operand operand = {.source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_READ, .address = &word, .bytes = 8};
    clo_operand many[CLO_KERNEL_OPERANDS_MAX + 1] = {{0}};
    const clo_scalar nothing = {NULL, 4};
    clo_kernel good = CLO_KERNEL_INIT, k;
    clo_graph *graph;
    uint32_t kind;

    (void)state;
    good.device = s.device;
    ok(clo_graph_create("kernels", &graph));
    ok(clo_graph_kind(graph, "npu", &kind));
    ok(clo_graph_add_task(graph, &(clo_task){.may_pend = 1}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.may_pend = 0}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.may_pend = 1, .instances = 2}, NULL));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_kernel(NULL, 0, kind, &good));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_kernel(graph, 0, kind, NULL));
    fails(CLO_ERR_ARGUMENT, "task 9", clo_graph_set_kernel(graph, 9, kind, &good));
    fails(CLO_ERR_ARGUMENT, "kind 5", clo_graph_set_kernel(graph, 0, 5, &good));
    fails(CLO_ERR_ARGUMENT, "may_pend", clo_graph_set_kernel(graph, 1, kind, &good));
    fails(CLO_ERR_ARGUMENT, "one instance", clo_graph_set_kernel(graph, 2, kind, &good));
    fails(CLO_ERR_ARGUMENT, "size", clo_graph_set_kernel(graph, 0, kind, &(clo_kernel){.device = s.device}));
    fails(CLO_ERR_ARGUMENT, "no device", clo_graph_set_kernel(graph, 0, kind, &(clo_kernel)CLO_KERNEL_INIT));
    k = good;
    k.operands_count = 1;
    fails(CLO_ERR_ARGUMENT, "count", clo_graph_set_kernel(graph, 0, kind, &k));
    k.operands = many;
    fails(CLO_ERR_ARGUMENT, "CLO_OPERAND_", clo_graph_set_kernel(graph, 0, kind, &k));
    k.operands_count = CLO_KERNEL_OPERANDS_MAX + 1;
    fails(CLO_ERR_LIMIT, "17 operands", clo_graph_set_kernel(graph, 0, kind, &k));
    k = good;
    k.operands = &operand;
    k.operands_count = 1;
    operand.mode = 9;
    fails(CLO_ERR_ARGUMENT, "operand 0", clo_graph_set_kernel(graph, 0, kind, &k));
    operand = (clo_operand){.source = CLO_OPERAND_OUTPUT, .bytes = 8};
    fails(CLO_ERR_ARGUMENT, "operand 0", clo_graph_set_kernel(graph, 0, kind, &k));
    k = good;
    k.scalars = &nothing;
    k.scalars_count = 1;
    fails(CLO_ERR_ARGUMENT, "scalar 0", clo_graph_set_kernel(graph, 0, kind, &k));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_body_argument(NULL, 0, kind, device_body, NULL));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_body_argument(graph, 0, kind, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "task 9", clo_graph_set_body_argument(graph, 9, kind, device_body, NULL));
    ok(clo_graph_seal(graph));
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_kernel(graph, 0, kind, &good));
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_body_argument(graph, 0, kind, device_body, NULL));
    clo_graph_destroy(graph);
    clo_device_close(s.device);
    clo_platform_destroy(s.platform);
}

/* One task with this kernel, of which only preparing shows that it cannot be. */
static clo_status prepare(clo_device *device, clo_kernel *kernel, uint64_t output_bytes)
{
    clo_graph *graph;
    uint32_t kind;

    kernel->device = device;
    ok(clo_graph_create("one", &graph));
    ok(clo_graph_kind(graph, "npu", &kind));
    ok(clo_graph_add_task(graph, &(clo_task){.may_pend = 1, .output_bytes = output_bytes}, NULL));
    ok(clo_graph_set_kernel(graph, 0, kind, kernel));
    assert_int_equal(clo_device_prepare(device, graph), CLO_ERR_STATE); /* not sealed */
    ok(clo_graph_seal(graph));
    clo_status status = clo_device_prepare(device, graph);
    clo_graph_destroy(graph);
    return status;
}

static void graphs_that_a_device_is_not_prepared_for(void **state)
{
    static const clo_operand input = {.source = CLO_OPERAND_INPUT, .index = 1}, data = {.source = CLO_OPERAND_HANDLE};
    device_scene s = device_open("memory=100000", NULL, 1);
    clo_kernel kernel = CLO_KERNEL_INIT;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_prepare(NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_device_prepare(s.device, NULL));
    kernel.operands_count = 1;
    kernel.operands = &input;
    fails(CLO_ERR_ARGUMENT, "no input 1", prepare(s.device, &kernel, 0));
    kernel.operands = &data;
    fails(CLO_ERR_ARGUMENT, "no handle 0", prepare(s.device, &kernel, 0));
    kernel = (clo_kernel)CLO_KERNEL_INIT;
    fails(CLO_ERR_LIMIT, "do not fit", prepare(s.device, &kernel, 100001));
    kernel.function = 1; /* which does nothing */
    ok(prepare(s.device, &kernel, 100));
    clo_device_close(s.device);
    clo_platform_destroy(s.platform);
}

static clo_status open_and_prepare(void *context)
{
    static const clo_host_kernel nothing = {.name = "nothing"};
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_device *device;

    config.host_kernels = &nothing;
    config.host_kernels_count = 1;
    clo_status status = clo_device_open(clo_driver_find("null"), "depth=3", &config, &device);
    if (status != CLO_OK)
        return status;
    clo_kernel kernel = CLO_KERNEL_INIT;
    kernel.device = device;
    clo_graph *copy = NULL;
    uint32_t kind;
    (void)context;
    status = clo_graph_create("copy", &copy);
    if (status == CLO_OK)
        status = clo_graph_kind(copy, "npu", &kind);
    if (status == CLO_OK)
        status = clo_graph_add_task(copy, &(clo_task){.may_pend = 1, .output_bytes = 100}, NULL);
    if (status == CLO_OK)
        status = clo_graph_set_kernel(copy, 0, kind, &kernel);
    if (status == CLO_OK)
        status = clo_graph_seal(copy);
    if (status == CLO_OK)
        status = clo_device_prepare(device, copy);
    clo_graph_destroy(copy);
    clo_device_close(device);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(fault_each(open_and_prepare, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_that_cannot_be_opened),
        cmocka_unit_test(devices_that_a_platform_does_not_name),
        cmocka_unit_test(questions_to_a_device),
        cmocka_unit_test(kernels_that_are_refused),
        cmocka_unit_test(graphs_that_a_device_is_not_prepared_for),
        cmocka_unit_test(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
