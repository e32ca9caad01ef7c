/* What bodies of clotho.hpp get and return: captures, inputs of every kind, outputs, ranges, kinds, data; who lives how
 * long, and what is refused.
 * Mutations: in wiring::from leave out the search for an earlier edge (seal refuses the second); in node::serve of each
 * start at 0 in place of call.instance; in ending swap destroy and keep. */
#include "checks.hpp"

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

struct point {
    double x, y;
    bool operator==(const point &other) const
    {
        return x == other.x && y == other.y;
    }
};

static void inputs_come_as_their_types_in_the_order_of_the_arguments()
{
    place here;
    clo::graph graph("inputs");
    auto one = graph.add("one", [] { return 1; });
    auto where = graph.add("where", [] { return point{3, 4}; });
    auto nothing = graph.add("nothing", [] {});
    auto many = graph.add_array<uint16_t>(
        "many", 1000, [](clo::span<uint16_t> out) { std::iota(out.begin(), out.end(), uint16_t{0}); });
    auto squares = graph.add_each(clo::about("squares").grain(7), 40, [](uint32_t i) { return uint64_t{i} * i; });
    bool same = false;
    auto all = graph.add(
        "all",
        [&same](const clo_call &call, point at, clo::outputs<uint64_t> each, const int &first, const int &again,
                clo::span<const uint16_t> list) {
            same = &first == &again && each.size() == 40 && call.task == 5;
            uint64_t sum = 0;
            for (uint32_t i = 0; i < each.size(); i++)
                sum += each[i];
            return sum + uint64_t(at.x + at.y) + uint64_t(first) + list[999] + list.size();
        },
        where, nothing, squares, one, one, clo::after(one), many);
    graph.seal();
    clo::cost cost(graph, here.platform);
    for (int way = 0; way < 2; way++) {
        clo::job job = way == 0 ? clo::job(here.runtime, cost) : clo::job(here.runtime, cost, clo::plan(cost));
        job.run();
        CHECK(*job.output(all) == 20540 + 7 + 1 + 999 + 1000);
        CHECK(same);
        CHECK(*job.output(where) == (point{3, 4}));
        CHECK(job.output(nothing) == nullptr);
        CHECK(job.output(many).size() == 1000 && job.output(many)[17] == 17);
        for (uint32_t i = 0; i < 40; i++)
            CHECK(*job.output(squares, i) == uint64_t{i} * i);
    }
}

static void one_task_named_twice_is_one_edge_also_beside_stages()
{
    place here;
    clo::graph graph;
    auto each = graph.add_each("each", 3, [](uint32_t i) { return int(i) + 1; });
    auto one = graph.add("one", [] { return 10; });
    auto sum = graph.add(
        "sum", [](clo::outputs<int> a, int b, clo::outputs<int> c, int d) { return a[0] + a[1] + a[2] + b + c[2] + d; },
        each, one, each, one);
    graph.seal();
    CHECK(clo_graph_edges(graph.get()) == 2);
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    job.run();
    CHECK(*job.output(sum) == 6 + 10 + 3 + 10);
}

/* Over-aligned, with a destructor, not copyable. */
struct alignas(128) counted {
    std::unique_ptr<int> value;
    std::shared_ptr<int> alive;
};

static void captures_are_moved_in_aligned_and_destroyed_with_the_last_that_needs_them()
{
    auto alive = std::make_shared<int>(0);
    auto here = std::make_unique<place>();
    std::unique_ptr<clo::cost> cost;
    std::unique_ptr<clo::job> job;
    clo::task<int> last;
    std::atomic<bool> is_aligned{true};
    {
        clo::graph graph;
        for (int i = 0; i < 100; i++)
            last = graph.add("body", [own = counted{std::make_unique<int>(i), alive}, &is_aligned]() mutable {
                const void *volatile at = &own; /* so that the compiler does not know */
                if (reinterpret_cast<uintptr_t>(at) % 128 != 0)
                    is_aligned = false;
                return (*own.value)++;
            });
        CHECK(alive.use_count() == 101);
        graph.seal();
        cost = std::make_unique<clo::cost>(graph, here->platform);
        job = std::make_unique<clo::job>(here->runtime, *cost);
    }
    here.reset(); /* the job keeps runtime, cost, platform and graph */
    cost.reset();
    CHECK(alive.use_count() == 101);
    job->run();
    job->run();
    CHECK(*job->output(last) == 100 && is_aligned);
    job->submit();
    job.reset(); /* waits for the run */
    CHECK(alive.use_count() == 1);
}

static void a_graph_that_is_never_sealed_or_run_frees_its_bodies()
{
    auto alive = std::make_shared<int>(0);
    {
        clo::graph graph;
        graph.add("one", [alive] {});
        clo::graph other = std::move(graph);
        CHECK(alive.use_count() == 2);
        graph = clo::graph("another");
        graph.add("two", [alive] {});
        CHECK(alive.use_count() == 3);
    }
    CHECK(alive.use_count() == 1);
}

static void data_is_used_in_place_whole_and_in_parts()
{
    place here;
    int theirs[4] = {1, 2, 3, 4};
    clo::graph graph;
    auto sums = graph.add_data<int64_t>("sums", 64, true);
    auto own = graph.add_data<int>("own", 4, false, theirs);
    graph.add(
        "read", [](clo::span<const int> in, clo::span<int64_t> out) { out[0] += in[0] + in[3]; }, clo::read(own),
        clo::update(sums));
    graph.add_each(
        clo::about("parts").grain(3), 16,
        [](uint32_t i, clo::span<int64_t> part) {
            for (int64_t &value : part)
                value += i;
            return part.size() == 4 ? clo::ok : clo::outcome{1};
        },
        clo::update(sums, true));
    graph.add(
        "write", [](clo::span<int> out) { out[1] = 9; }, clo::update(own));
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    job.run();
    job.run();
    CHECK(job.content(sums).size() == 64 && job.content(sums)[0] == 10 && job.content(sums)[63] == 30);
    CHECK(theirs[1] == 9);
}

static void kinds_have_bodies_and_times_of_their_own()
{
    place here;
    clo::graph graph;
    auto from = graph.add({"from", clo::nanoseconds(5)}, [] { return 5; });
    auto none = graph.add<int>("none", nullptr, from);
    auto text = graph.add_array<char>(
        "text", 3, [](clo::span<char> out, int) { out[0] = 'd'; }, from);
    graph.on(none, "slot", clo::nanoseconds(10), [](int in) { return in + 1; });
    graph.on(text, "slot", clo::nanoseconds(20), [](clo::span<char> out, int in) { out[0] = char('a' + in); });
    graph.on(from, "elsewhere", clo::nanoseconds(30));
    graph.seal();
    clo::cost cost(graph, here.platform);
    CHECK(clo_cost_execution_ns(cost.get(), none.id, 0) == 10);
    CHECK(clo_cost_execution_ns(cost.get(), text.id, 0) == 20);
    clo::job job(here.runtime, cost);
    job.run();
    CHECK(*job.output(none) == 6 && job.output(text)[0] == 'f');
}

static int doubled(const int &in)
{
    return 2 * in;
}

static void a_body_may_be_a_function_or_any_object_that_can_be_called()
{
    struct adder {
        int more;
        int operator()(const clo_call &, int in)
        {
            return in + more;
        }
    };
    place here;
    clo::graph graph;
    const auto three = [] { return 3; };
    auto first = graph.add("lambda", three);
    auto second = graph.add("function", doubled, first);
    auto third = graph.add("pointer", &doubled, second);
    auto fourth = graph.add("object", adder{5}, third);
    auto fifth = graph.add("std::function", std::function<int(int)>([](int in) { return in + 1; }), fourth);
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    job.run();
    CHECK(*job.output(fifth) == 3 * 2 * 2 + 5 + 1);
}

static void a_shared_body_serves_many_tasks()
{
    place here;
    std::vector<uint32_t> seen(50, 0);
    clo::graph graph;
    auto body = graph.share([&seen](const clo_call &call) { seen[call.task] = call.task + 1; });
    std::vector<clo::task<void>> tasks;
    for (int i = 0; i < 50; i++)
        tasks.push_back(graph.add_shared(nullptr, body));
    for (size_t i = 1; i < 50; i++)
        graph.edge(tasks[i - 1], tasks[i]);
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job(here.runtime, cost).run();
    for (uint32_t i = 0; i < 50; i++)
        CHECK(seen[i] == i + 1);
}

static void an_arm_that_is_dead_is_a_null_of_maybe()
{
    place here;
    clo::graph graph;
    auto choose = graph.add("choose", [](const clo_call &call) { *call.arm = 1; });
    auto left = graph.add("left", [] { return 1; }), right = graph.add("right", [] { return 2; });
    auto merge = graph.add(
        "merge", [](const int *l, const int *r) { return (l ? *l : 10) + (r ? *r : 20); }, clo::maybe(left),
        clo::maybe<int>(right));
    CHECK(clo_graph_set_branch(graph.get(), choose.id, 2, nullptr) == CLO_OK);
    CHECK(clo_graph_add_arm(graph.get(), choose.id, left.id, 0, 0) == CLO_OK);
    CHECK(clo_graph_add_arm(graph.get(), choose.id, right.id, 0, 1) == CLO_OK);
    CHECK(clo_graph_set_merge(graph.get(), merge.id) == CLO_OK);
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    job.run();
    CHECK(*job.output(merge) == 12 && job.output(left) == nullptr);
}

static void what_a_task_is_reaches_the_c_graph()
{
    clo::graph graph;
    clo_task task;
    auto made =
        graph.add_each(clo::about("t", clo::nanoseconds(77)).grain(4).kind(2).duplicable().demand(1, 5).executors(3),
                       10, [](uint32_t) { return 1.5; });
    CHECK(clo_graph_task(graph.get(), made.id, &task) == CLO_OK);
    CHECK(std::strcmp(task.name, "t") == 0 && task.work_ns == 77 && task.grain == 4 && task.task_class == 2);
    CHECK(task.duplicable == 1 && task.demand[1] == 5 && task.executors_mask == 3 && task.instances == 10);
    CHECK(task.output_bytes == sizeof(double) && task.may_pend == 0);
    auto pends = graph.add(clo::about("p").may_pend(), [] {});
    CHECK(clo_graph_task(graph.get(), pends.id, &task) == CLO_OK && task.may_pend == 1);
}

static void a_pending_body_is_ended_by_its_token()
{
    place here;
    clo::graph graph;
    std::thread driver;
    auto waits = graph.add<int>(clo::about("waits").may_pend(), [&driver](const clo_call &call) {
        driver = std::thread([token = clo::take_token(call), out = static_cast<int *>(call.output)] {
            *out = 7;
            bool is_first = token.complete(), is_second = token.complete();
            CHECK(is_first && !is_second);
        });
        return clo::pending;
    });
    auto next = graph.add(
        "next", [](int in) { return in + 1; }, waits);
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    job.run();
    driver.join();
    CHECK(*job.output(next) == 8);
}

static void jobs_of_one_graph_run_at_once_from_several_threads()
{
    place here;
    clo::graph graph;
    auto a = graph.add("a", [] { return 20; });
    auto b = graph.add(
        "b", [](int in) { return in + 1; }, a);
    auto c = graph.add(
        "c", [](int l, int r) { return l * r; }, a, b);
    graph.seal();
    clo::cost cost(graph, here.platform);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            clo::job job = t % 2 == 0 ? clo::job(here.runtime, cost) : clo::job(here.runtime, cost, clo::plan(cost));
            for (int run = 0; run < 200; run++) {
                job.run();
                CHECK(*job.output(c) == 420);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

static void a_miss_handler_may_capture()
{
    place here;
    std::atomic<int> missed{0};
    clo::graph graph;
    graph.add("slow", [&missed] {
        while (missed == 0)
            std::this_thread::yield();
    });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    config.deadline_ns = 100000;
    clo::job job(here.runtime, cost, config, [&missed, own = std::make_unique<int>(1)](const clo_miss &miss) {
        missed += miss.kind == CLO_MISS_DEADLINE ? *own : 100;
    });
    clo_job_result result = CLO_JOB_RESULT_INIT;
    job.run(&result);
    CHECK(missed == 1 && result.missed_deadline == 1 && job.timing().missed == 1);
}

int main()
{
    TEST(inputs_come_as_their_types_in_the_order_of_the_arguments);
    TEST(one_task_named_twice_is_one_edge_also_beside_stages);
    TEST(captures_are_moved_in_aligned_and_destroyed_with_the_last_that_needs_them);
    TEST(a_graph_that_is_never_sealed_or_run_frees_its_bodies);
    TEST(data_is_used_in_place_whole_and_in_parts);
    TEST(kinds_have_bodies_and_times_of_their_own);
    TEST(a_body_may_be_a_function_or_any_object_that_can_be_called);
    TEST(a_shared_body_serves_many_tasks);
    TEST(an_arm_that_is_dead_is_a_null_of_maybe);
    TEST(what_a_task_is_reaches_the_c_graph);
    TEST(a_pending_body_is_ended_by_its_token);
    TEST(jobs_of_one_graph_run_at_once_from_several_threads);
    TEST(a_miss_handler_may_capture);
    return checks_end();
}
