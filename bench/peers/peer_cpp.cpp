/* peer_cpp.cpp - Clotho by its C++ face, clotho.hpp, on the graphs of peer_clotho.c. */
#include "common/platform.h"
#include "peers/peer_tables.h"

#include <clotho/clotho.hpp>

#include <cstdio>
#include <memory>
#include <vector>

namespace
{

struct face {
    bench_graph *source;
    bool has_own_bodies, is_planned;
    std::unique_ptr<clo::platform> platform;
    std::unique_ptr<clo::runtime> runtime;
    std::unique_ptr<clo::graph> graph;
    std::unique_ptr<clo::cost> cost;
    std::unique_ptr<clo::job> job;
};

/* What the functions below do, without an exception that leaves them for C. */
template <class F> bool guarded(F &&act)
{
    try {
        act();
        return true;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench: clotho.hpp: %s\n", error.what());
        return false;
    }
}

/* As bench_platform, which is one for benchmarks in C. */
std::unique_ptr<clo::platform> part_of_this_machine(uint32_t workers)
{
    clo::platform native;
    std::vector<clo_executor> executors;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t e = 0; e < workers; e++) {
        const clo_executor *own = clo_platform_executor(native.get(), e);
        executors.push_back(own != nullptr ? *own : clo_executor());
        executors[e].kind = executors[e].machine = executors[e].memory = 0;
        for (auto &speed : executors[e].speed_q16)
            speed = CLO_SPEED_ONE;
    }
    desc.name = "bench";
    desc.executors_count = workers;
    desc.executors = executors.data();
    desc.kinds_count = 1;
    desc.coherent = 1;
    return std::make_unique<clo::platform>(desc);
}

template <bool has_own_bodies, bool is_planned> void *open(bench_graph *source, uint32_t workers)
{
    auto made = std::make_unique<face>();

    made->source = source;
    made->has_own_bodies = has_own_bodies;
    made->is_planned = is_planned;
    bool is_good = guarded([&] {
        made->platform = part_of_this_machine(workers);
        made->runtime = std::make_unique<clo::runtime>(*made->platform);
    });
    return is_good ? made.release() : nullptr;
}

/* A body for each task, as programs have them that capture something of the task. */
void add_own(clo::graph &graph, bench_graph *source, std::vector<clo::task<void>> &tasks)
{
    const clo::about what(nullptr, clo::nanoseconds(source->work_ns));

    for (uint32_t t = 0; t < source->tasks; t++)
        if (source->body == bench_empty)
            tasks.push_back(graph.add(what, [] {}));
        else
            tasks.push_back(graph.add(what, [source, t] { source->body(source, t); }));
}

/* One body for all, as peer_clotho.c has it. */
template <class F>
void add_shared(clo::graph &graph, bench_graph *source, std::vector<clo::task<void>> &tasks, F &&body)
{
    const clo::about what(nullptr, clo::nanoseconds(source->work_ns));
    auto shared = graph.share(std::forward<F>(body));

    for (uint32_t t = 0; t < source->tasks; t++)
        tasks.push_back(graph.add_shared(what, shared));
}

bool build(void *state)
{
    auto *f = static_cast<face *>(state);
    bench_graph *source = f->source;

    return guarded([&] {
        f->graph = std::make_unique<clo::graph>(source->name);
        std::vector<clo::task<void>> tasks;
        tasks.reserve(source->tasks);
        if (f->has_own_bodies)
            add_own(*f->graph, source, tasks);
        else if (source->body == bench_empty)
            add_shared(*f->graph, source, tasks, [] {});
        else
            add_shared(*f->graph, source, tasks, [source](const clo_call &call) { source->body(source, call.task); });
        for (uint32_t t = 0; t < source->tasks; t++)
            for (uint32_t e = source->pred_first[t]; e < source->pred_first[t + 1]; e++)
                f->graph->edge(tasks[source->pred[e]], tasks[t]);
        f->graph->seal();
    });
}

bool prepare(void *state)
{
    auto *f = static_cast<face *>(state);

    return guarded([&] {
        f->cost = std::make_unique<clo::cost>(*f->graph, *f->platform);
        if (f->is_planned)
            f->job = std::make_unique<clo::job>(*f->runtime, *f->cost, clo::plan(*f->cost));
        else
            f->job = std::make_unique<clo::job>(*f->runtime, *f->cost);
    });
}

bool run(void *state)
{
    auto *f = static_cast<face *>(state);

    return guarded([&] { f->job->run(); });
}

void drop(void *state)
{
    auto *f = static_cast<face *>(state);

    f->job.reset();
    f->cost.reset();
    f->graph.reset();
}

void close_all(void *state)
{
    delete static_cast<face *>(state);
}

} // namespace

extern "C" const peer peers_cpp[] = {
    {"C++ steal, one body", 0, false, open<false, false>, build, prepare, run, close_all, drop},
    {"C++ steal, each its own", 0, false, open<true, false>, build, prepare, run, close_all, drop},
    {"C++ replay, one body", 0, false, open<false, true>, build, prepare, run, close_all, drop},
    {"C++ replay, each its own", 0, false, open<true, true>, build, prepare, run, close_all, drop},
    {nullptr, 0, false, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}};
