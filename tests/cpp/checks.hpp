/* checks.hpp - what the tests of clotho.hpp share: checks that go on, and a place to run a graph. */
#ifndef CLO_TESTS_CPP_CHECKS_HPP
#define CLO_TESTS_CPP_CHECKS_HPP

#include <clotho/clotho.hpp>

#include <atomic>
#include <cstdio>
#include <cstring>

inline std::atomic<int> checks_failed{0};

#define CHECK(what) check_that((what), #what, __FILE__, __LINE__)

inline bool check_that(bool is_so, const char *what, const char *file, int line)
{
    if (!is_so) {
        checks_failed++;
        std::printf("%s:%d: not so: %s; last error: %s\n", file, line, what, clo_last_error());
    }
    return is_so;
}

/* Runs a test and names it. */
#define TEST(name) (std::printf("%s\n", #name), std::fflush(stdout), name())

inline int checks_end()
{
    std::printf(checks_failed == 0 ? "all hold\n" : "%d checks failed\n", checks_failed.load());
    return checks_failed == 0 ? 0 : 1;
}

/* Four threads, on any number of CPUs. */
struct place {
    clo::platform platform{"slots:4"};
    clo::runtime runtime;

    static clo_runtime_config config()
    {
        clo_runtime_config made = CLO_RUNTIME_CONFIG_INIT;
        made.slot_workers = 4;
        return made;
    }
    place() : runtime(platform, config())
    {
    }
};

#endif
