/* peer_tbb.cpp - oneTBB twice: its flow graph, and what an expert writes by hand on a task_group: counters, and the
 * first released successor run directly. */
#include "peers/peer_tables.h"

#include <atomic>
#include <memory>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace
{

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct flow {
    bench_graph *source;
    tbb::task_arena arena;
    std::unique_ptr<tbb::flow::graph> graph;
    std::vector<std::unique_ptr<node>> nodes;
};

void *flow_open(bench_graph *source, uint32_t workers)
{
    return new flow{source, tbb::task_arena(static_cast<int>(workers)), nullptr, {}};
}

bool flow_build(void *state)
{
    auto *f = static_cast<flow *>(state);
    bench_graph *source = f->source;

    f->arena.execute([&] {
        f->graph = std::make_unique<tbb::flow::graph>();
        f->nodes.reserve(source->tasks);
        for (uint32_t t = 0; t < source->tasks; t++)
            f->nodes.push_back(std::make_unique<node>(
                *f->graph, [source, t](const tbb::flow::continue_msg &) { source->body(source, t); }));
        for (uint32_t t = 0; t < source->tasks; t++)
            for (uint32_t e = source->pred_first[t]; e < source->pred_first[t + 1]; e++)
                tbb::flow::make_edge(*f->nodes[source->pred[e]], *f->nodes[t]);
    });
    return true;
}

bool flow_run(void *state)
{
    auto *f = static_cast<flow *>(state);

    f->arena.execute([f] {
        for (uint32_t t = 0; t < f->source->tasks; t++)
            if (f->source->pred_first[t] == f->source->pred_first[t + 1])
                f->nodes[t]->try_put(tbb::flow::continue_msg());
        f->graph->wait_for_all();
    });
    return true;
}

void flow_drop(void *state)
{
    auto *f = static_cast<flow *>(state);

    f->arena.execute([f] {
        f->nodes.clear();
        f->graph.reset();
    });
}

void flow_close(void *state)
{
    flow_drop(state);
    delete static_cast<flow *>(state);
}

struct group {
    bench_graph *source;
    tbb::task_arena arena;
    std::vector<std::atomic<uint32_t>> counts;
    tbb::task_group *tasks;

    void arm(uint32_t t)
    {
        counts[t].store(source->pred_first[t + 1] - source->pred_first[t], std::memory_order_relaxed);
    }

    void visit(uint32_t t)
    {
        for (bool is_more = true; is_more;) {
            source->body(source, t);
            uint32_t done = t;
            is_more = false;
            for (uint32_t e = source->succ_first[done]; e < source->succ_first[done + 1]; e++) {
                uint32_t s = source->succ[e];

                if (counts[s].fetch_sub(1, std::memory_order_acq_rel) != 1)
                    continue;
                arm(s);
                if (is_more)
                    tasks->run([this, s] { visit(s); });
                else
                    t = s;
                is_more = true;
            }
        }
    }
};

void *group_open(bench_graph *source, uint32_t workers)
{
    return new group{source, tbb::task_arena(static_cast<int>(workers)), {}, nullptr};
}

bool group_build(void *state)
{
    auto *g = static_cast<group *>(state);

    g->counts = std::vector<std::atomic<uint32_t>>(g->source->tasks);
    for (uint32_t t = 0; t < g->source->tasks; t++)
        g->arm(t);
    return true;
}

bool group_run(void *state)
{
    auto *g = static_cast<group *>(state);

    g->arena.execute([g] {
        tbb::task_group tasks;

        g->tasks = &tasks;
        for (uint32_t t = 0; t < g->source->tasks; t++)
            if (g->source->pred_first[t] == g->source->pred_first[t + 1])
                tasks.run([g, t] { g->visit(t); });
        tasks.wait();
    });
    return true;
}

void group_drop(void *state)
{
    auto *g = static_cast<group *>(state);

    g->counts = std::vector<std::atomic<uint32_t>>();
}

void group_close(void *state)
{
    delete static_cast<group *>(state);
}

struct loop {
    bench_graph *source;
    tbb::task_arena arena;
};

void *loop_open(bench_graph *source, uint32_t workers)
{
    return new loop{source, tbb::task_arena(static_cast<int>(workers))};
}

template <typename Partitioner> bool loop_run(void *state)
{
    auto *l = static_cast<loop *>(state);
    bench_graph *source = l->source;

    l->arena.execute([source] {
        tbb::parallel_for(
            tbb::blocked_range<uint32_t>(0, source->tasks, PEER_LOOP_GRAIN),
            [source](const tbb::blocked_range<uint32_t> &range) {
                for (uint32_t t = range.begin(); t < range.end(); t++)
                    source->body(source, t);
            },
            Partitioner());
    });
    return true;
}

void loop_close(void *state)
{
    delete static_cast<loop *>(state);
}

} // namespace

extern "C" const peer loops_tbb[] = {{"oneTBB parallel_for, auto", 0, false, loop_open, nullptr, nullptr,
                                      loop_run<tbb::auto_partitioner>, loop_close, nullptr},
                                     {"oneTBB parallel_for, grain 500", 0, false, loop_open, nullptr, nullptr,
                                      loop_run<tbb::simple_partitioner>, loop_close, nullptr},
                                     {nullptr, 0, false, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}};

extern "C" const peer peers_tbb[] = {
    {"oneTBB flow graph", 0, false, flow_open, flow_build, nullptr, flow_run, flow_close, flow_drop},
    {"oneTBB by hand", 0, false, group_open, group_build, nullptr, group_run, group_close, group_drop},
    {nullptr, 0, false, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}};
