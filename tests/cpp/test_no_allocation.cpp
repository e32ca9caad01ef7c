/* Between the creation of a job and its destruction clotho.hpp allocates nothing, in any way to run it (heap.c counts).
 * Mutation: in node::run `{ char *volatile p = new char[9]; delete[] p; }` before serve. */
#include "checks.hpp"

#include <unistd.h>
#include <vector>

extern "C" void heap_start(void);
extern "C" uint64_t heap_stop(void);

template <class F> static void allocates_nothing(F &&what)
{
    uint64_t before = heap_stop();
    heap_start();
    what();
    CHECK(heap_stop() == before);
}

static void the_count_sees_operator_new()
{
    uint64_t before = heap_stop();
    heap_start();
    delete new std::vector<int>(100); /* two calls, unless they are left out */
    volatile char *text = new char[100];
    text[0] = 1;
    delete[] text;
    CHECK(heap_stop() > before);
}

int main()
{
    clo::platform platform("slots:4"), native;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    config.slot_workers = 4;
    clo::runtime slots(platform, config), cpus(native);
    clo::graph graph;
    auto kept = graph.add_data<int>("kept", 16, true);
    auto one = graph.add("one", [] { return 1; });
    auto big = graph.add_array<double>(
        "big", 500, [](clo::span<double> out, int in) { out[9] = in; }, one);
    auto each =
        graph.add_each(clo::about("each").grain(3), 16, [own = std::vector<int>(16, 2)](uint32_t i) { return own[i]; });
    graph.add_each(
        "parts", 16, [](uint32_t i, clo::span<int> part) { part[0] += int(i); }, clo::update(kept, true));
    auto all = graph.add(
        "all", [](clo::span<const double> a, clo::outputs<int> b, const int &c) { return a[9] + b[3] + c; }, big, each,
        one);
    graph.seal();

    for (int way = 0; way < 4; way++) {
        const clo::platform &on = way % 2 == 0 ? platform : native;
        const clo::runtime &by = way % 2 == 0 ? slots : cpus;
        clo::cost cost(graph, on);
        clo::job job = way < 2 ? clo::job(by, cost) : clo::job(by, cost, clo::plan(cost));
        allocates_nothing([&] {
            for (int run = 0; run < 50; run++) {
                job.submit();
                CHECK(job.wait_for(clo::nanoseconds(INT64_MAX)) == CLO_OK);
                job.run();
                CHECK(*job.output(all) == 4 && job.content(kept)[15] % 15 == 0 && job.timing().finished == 1);
                clo::job moved = std::move(job);
                job = std::move(moved);
            }
        });
    }
    the_count_sees_operator_new();
    std::printf("%d of the checks failed\n", checks_failed.load());
    std::fflush(stdout);
    _exit(checks_failed == 0 ? 0 : 1); /* not by way of heap.c's end, which would find the vector */
}
