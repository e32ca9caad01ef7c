/* The driver "opencl", on whatever device of OpenCL is here (CI has PoCL, a CPU): integer kernels give what bodies give,
 * and a program that does not compile is refused with its line. */
#define _DEFAULT_SOURCE /* setenv */
#include "device_scene.h"

#include <sys/wait.h>
#include <unistd.h>

static const char program[] =
    "ulong one(ulong sum, ulong in) { return (sum ^ in) * 0xff51afd7ed558ccdUL + (sum >> 29); }\n"
    "ulong first(uint2 n, size_t w) { return (n.y + 1UL) * 0x9e3779b97f4a7c15UL + w; }\n"
    "__kernel void mix_0(__global ulong *out, uint2 n)\n"
    "{ size_t w = get_global_id(0); out[w] = first(n, w); }\n"
    "__kernel void mix_1(__global const ulong *a, __global ulong *out, uint2 n)\n"
    "{ size_t w = get_global_id(0); out[w] = one(first(n, w), a[w]); }\n"
    "__kernel void mix_2(__global const ulong *a, __global const ulong *b, __global ulong *out, uint2 n)\n"
    "{ size_t w = get_global_id(0); out[w] = one(one(first(n, w), a[w]), b[w]); }\n"
    "__kernel void mix_3(__global const ulong *a, __global const ulong *b, __global const ulong *c, __global ulong "
    "*out, uint2 n)\n"
    "{ size_t w = get_global_id(0); out[w] = one(one(one(first(n, w), a[w]), b[w]), c[w]); }\n"
    "__kernel void count(__global uint *out, uint turns)\n"
    "{ uint x = 1; for (uint i = 0; i < turns; i++) x = x * 1664525 + 1013904223; out[0] = x; }\n";

static bool has_opencl(void)
{
    const clo_driver *driver = clo_driver_find("opencl");

    return driver != NULL && driver->is_usable();
}

#define NEEDS_OPENCL()                                                                                 \
    do {                                                                                               \
        if (SANITIZED)                                                                                 \
            skip_because("PoCL and its compiler are not instrumented", "a build without sanitizers");  \
        if (!has_opencl())                                                                             \
            skip_unless_ci("no device of OpenCL", "apt-get install pocl-opencl-icd opencl-c-headers"); \
    } while (0)

/* The scene's kernels, of the device that it has now. */
static void use_opencl(device_scene *s)
{
    static const char *const names[] = {"mix_0", "mix_1", "mix_2", "mix_3"};
    uint32_t functions[4];

    for (int f = 0; f < 4; f++)
        ok(clo_device_find(s->device, names[f], &functions[f]));
    for (uint32_t t = 0; t < DEVICE_TASKS; t++) {
        s->kernels[t].function = functions[s->numbers[t][0]];
        s->kernels[t].global[0] = DEVICE_WORDS;
    }
}

/* In a child, and before any other test: the loader looks once a process. */
static void without_a_device_one_line_says_what_is_missing(void **state)
{
    int status;

    (void)state;
    if (clo_driver_find("opencl") == NULL)
        return; /* built without the headers: the name is unknown */
    pid_t child = fork();
    if (child == 0) {
        clo_device *device;
        bool is_good = setenv("OCL_ICD_VENDORS", "/nonexistent", 1) == 0 && !clo_driver_find("opencl")->is_usable() &&
                       clo_device_open(clo_driver_find("opencl"), "", NULL, &device) == CLO_ERR_UNSUPPORTED &&
                       strstr(clo_last_error(), "install") != NULL && strchr(clo_last_error(), '\n') == NULL;
        _exit(is_good ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void kernels_give_what_bodies_give(void **state)
{
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;

    (void)state;
    NEEDS_OPENCL();
    config.program = program;
    for (uint64_t seed = 0; seed < 3; seed++) {
        device_scene s = {.platform = device_platform(2, 1)};
        ok(clo_device_open(clo_driver_find("opencl"), "", &config, &s.device));
        device_graph(&s, seed, true, seed == 1);
        use_opencl(&s);
        ok(clo_device_prepare(s.device, s.graph));
        device_start(&s);
        for (int way = 0; way < DEVICE_WAYS; way++) {
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_plan *plan;
            clo_job *job = device_job(&s, way, &plan);
            for (int run = 0; run < 3; run++) {
                ok(clo_job_submit(job));
                ok(clo_job_wait(job, &result));
                device_check(&s, job);
            }
            clo_job_destroy(job);
            clo_plan_destroy(plan);
        }
        clo_device_stats stats = device_stats(&s);
        assert_int_equal(stats.is_lost, 0);
        assert_int_equal(stats.fallbacks, 0);
        assert_true(stats.launched > 0);
        assert_true(stats.busy_ns > 0);
        device_stop(&s);
    }
}

static void programs_that_do_not_compile_are_refused_with_their_line(void **state)
{
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_device *device;
    uint32_t function = 77;

    (void)state;
    NEEDS_OPENCL();
    config.program = "__kernel void broken(__global int *a) { a[0] = nothing; }\n";
    fails(CLO_ERR_FORMAT, "nothing", clo_device_open(clo_driver_find("opencl"), "", &config, &device));
    fails(CLO_ERR_ARGUMENT, "no device 'of nobody'",
          clo_device_open(clo_driver_find("opencl"), "of nobody", NULL, &device));
    fails(CLO_ERR_ARGUMENT, "no device '999'", clo_device_open(clo_driver_find("opencl"), "999", NULL, &device));
    config.program = program;
    ok(clo_device_open(clo_driver_find("opencl"), "0", &config, &device));
    fails(CLO_ERR_ARGUMENT, "no kernel 'absent'", clo_device_find(device, "absent", &function));
    assert_int_equal(function, 77);
    clo_device_close(device);
    ok(clo_device_open(clo_driver_find("opencl"), "", NULL, &device));
    fails(CLO_ERR_ARGUMENT, "program is NULL", clo_device_find(device, "mix_0", &function));
    clo_device_close(device);
}

/* A kernel with arguments that it does not have: found when it is tried, before any run. */
static void a_kernel_of_other_arguments_is_found_by_its_trial(void **state)
{
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;

    (void)state;
    NEEDS_OPENCL();
    config.program = program;
    device_scene s = {.platform = device_platform(1, 1)};
    ok(clo_device_open(clo_driver_find("opencl"), "", &config, &s.device));
    device_graph(&s, 0, true, false);
    use_opencl(&s);
    ok(clo_device_find(s.device, "count", &s.kernels[DEVICE_TASKS - 1].function));
    clo_status status = clo_device_prepare(s.device, s.graph);
    assert_true(status == CLO_ERR_SYSTEM || status == CLO_ERR_LIMIT);
    assert_non_null(strstr(clo_last_error(), "clSetKernelArg"));
    clo_device_close(s.device);
    clo_graph_destroy(s.graph);
    clo_platform_destroy(s.platform);
}

/* Longer than the thread polls before it sleeps. */
static void a_long_kernel_ends_with_its_result(void **state)
{
    static const uint32_t turns = 40000000;
    static const clo_scalar scalar = {&turns, sizeof turns};
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_kernel kernel = CLO_KERNEL_INIT;
    uint32_t npu;

    (void)state;
    NEEDS_OPENCL();
    device_scene s = {.platform = device_platform(1, 1)};
    config.program = program;
    ok(clo_device_open(clo_driver_find("opencl"), "", &config, &s.device));
    kernel.device = s.device;
    kernel.scalars = &scalar;
    kernel.scalars_count = 1;
    ok(clo_device_find(s.device, "count", &kernel.function));
    ok(clo_graph_create("long", &s.graph));
    ok(clo_graph_kind(s.graph, "npu", &npu));
    ok(clo_graph_add_task(s.graph, &(clo_task){.output_bytes = 4, .work_ns = 1000, .may_pend = 1}, NULL));
    ok(clo_graph_set_kernel(s.graph, 0, npu, &kernel));
    ok(clo_graph_seal(s.graph));
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_plan *plan;
    clo_job *job = device_job(&s, 0, &plan);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_true(device_stats(&s).busy_ns > 0);
    uint32_t expected = 1;
    for (uint32_t i = 0; i < turns; i++)
        expected = expected * 1664525 + 1013904223;
    assert_int_equal(*(const uint32_t *)clo_job_output(job, 0, 0, NULL), expected);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_device_one_line_says_what_is_missing),
        cmocka_unit_test(kernels_give_what_bodies_give),
        cmocka_unit_test(programs_that_do_not_compile_are_refused_with_their_line),
        cmocka_unit_test(a_kernel_of_other_arguments_is_found_by_its_trial),
        cmocka_unit_test(a_long_kernel_ends_with_its_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
