/* What goes wrong with clotho.hpp: bodies that throw come out of wait, whatever the number of threads, jobs and waits;
 * calls that fail throw clo::error; objects that were moved from, and handles of others, are refused.
 * Mutations: in node::run catch std::exception & only; in job::fail leave out the comparison of codes (a second failure
 * throws the first exception again); in thrown::keep a constant code (jobs at once get each other's exceptions). */
#include "checks.hpp"

#include <chrono>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/* True if `call` throws a clo::error with that status and a text. */
template <class F> static bool refuses(clo_status status, F &&call)
{
    try {
        call();
    } catch (const clo::error &error) {
        return error.status() == status && error.what()[0] != '\0';
    }
    return false;
}

/* What run or wait throws: the number, or -1. */
template <class F> static int thrown_by(F &&call)
{
    try {
        call();
    } catch (int number) {
        return number;
    } catch (...) {
        return -2;
    }
    return -1;
}

static void an_exception_of_a_body_comes_out_of_every_wait()
{
    place here;
    clo::graph graph;
    int throws = 0, after = 0;
    auto first = graph.add("first", [&throws] {
        if (throws != 0)
            throw std::runtime_error("number " + std::to_string(throws));
    });
    graph.add(
        "after", [&after] { after++; }, first);
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo_job_config by_policy = CLO_JOB_CONFIG_INIT;
    by_policy.policy = clo_policy_find("fifo");
    for (int way = 0; way < 3; way++) {
        clo::job job = way == 0   ? clo::job(here.runtime, cost)
                       : way == 1 ? clo::job(here.runtime, cost, clo::plan(cost))
                                  : clo::job(here.runtime, cost, by_policy);
        for (int run = 0; run < 20; run++) {
            clo_job_result result = CLO_JOB_RESULT_INIT;
            std::string seen, again, third;
            throws = run % 3;
            after = 0;
            job.submit();
            try {
                job.wait(&result);
            } catch (const std::runtime_error &error) {
                seen = error.what();
            }
            try {
                job.wait();
            } catch (const std::runtime_error &error) {
                again = error.what();
            }
            try {
                CHECK(job.wait_for(std::chrono::hours(1)) == CLO_OK);
            } catch (const std::runtime_error &error) {
                third = error.what();
            }
            CHECK(seen == (throws != 0 ? "number " + std::to_string(throws) : "") && again == seen && third == seen);
            CHECK(result.status == (throws != 0 ? CLO_ERR_TASK : CLO_OK) && after == (throws == 0));
        }
    }
}

static void a_series_of_releases_ends_with_what_a_body_threw()
{
    place here;
    clo::graph graph;
    auto first = graph.add("first", [](const clo_call &call) { return call.release; });
    graph.add(
        "second",
        [](const uint64_t &release) {
            if (release == 3)
                throw int(release);
        },
        first);
    graph.seal();
    clo::cost cost(graph, here.platform);
    for (int way = 0; way < 2; way++) {
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        config.releases = 9;
        config.releases_in_flight = 2;
        clo::job job = way == 0 ? clo::job(here.runtime, cost, config)
                                : clo::job(here.runtime, cost, clo::plan(cost, clo::nanoseconds(0)), config);
        CHECK(thrown_by([&job] { job.run(); }) == 3);
        CHECK(thrown_by([&job] { job.run(); }) == 3);
    }
}

static void a_body_may_throw_though_it_has_taken_its_token()
{
    place here;
    clo::graph graph;
    clo::token kept{};
    graph.add(clo::about("both").may_pend(), [&kept](const clo_call &call) -> clo::outcome {
        kept = clo::take_token(call);
        throw 8;
    });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    CHECK(thrown_by([&job] { job.run(); }) == 8);
    CHECK(!kept.complete());
}

static void a_token_that_is_refused_fails_its_task()
{
    place here;
    clo::graph graph;
    graph.add("may not pend", [](const clo_call &call) { (void)clo::take_token(call); });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    CHECK(refuses(CLO_ERR_STATE, [&job] { job.run(); }));
}

static void anything_may_be_thrown_by_every_kind_of_body()
{
    place here;
    clo::graph graph;
    int who = 0;
    auto body = [&who](int own) {
        if (who == own)
            throw own;
        return own;
    };
    auto one = graph.add("one", [body] { return body(1); });
    graph.add_array<char>(
        "array", 9, [body](clo::span<char>, int) { body(2); }, one);
    graph.add_each(clo::about("each").grain(2), 9, [body](uint32_t i) { return i == 5 ? body(3) : 0; });
    auto shared = graph.share([body] { body(4); });
    graph.add_shared("shared", shared);
    auto kind = graph.add<int>("kind", nullptr);
    graph.on(kind, "slot", clo::nanoseconds(1), [body] { return body(5); });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    for (who = 0; who <= 5; who++)
        CHECK(thrown_by([&job] { job.run(); }) == (who == 0 ? -1 : who));
}

static void of_several_bodies_that_throw_at_once_one_comes_out_and_none_is_lost_or_leaked()
{
    auto here = std::make_unique<place>();
    auto alive = std::make_shared<int>(0);
    {
        clo::graph graph;
        std::atomic<uint32_t> there{0};
        graph.add_each("each", 4, [&there, &alive](uint32_t i) {
            auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
            there++;
            while (there < 4 && std::chrono::steady_clock::now() < end)
                std::this_thread::yield();
            throw std::pair<uint32_t, std::shared_ptr<int>>(i, alive);
        });
        graph.seal();
        clo::cost cost(graph, here->platform);
        clo::job job(here->runtime, cost);
        for (int run = 0; run < 100; run++) { /* more than are kept */
            uint32_t from = 4;
            there = 0;
            try {
                job.run();
            } catch (const std::pair<uint32_t, std::shared_ptr<int>> &pair) {
                from = pair.first;
                CHECK(pair.second == alive);
            }
            CHECK(from < 4);
        }
        CHECK(alive.use_count() <= 1 + 256 + 1);
    }
    CHECK(alive.use_count() == 1);
}

static void jobs_of_one_graph_get_their_own_exceptions_in_any_order_of_waits()
{
    place here;
    clo::graph graph;
    std::atomic<int> next{0};
    auto number = graph.add("number", [&next] { return ++next; });
    graph.add(
        "throw", [](int own) { throw own; }, number);
    graph.seal();
    clo::cost cost(graph, here.platform);
    std::vector<clo::job> jobs;
    for (int j = 0; j < 100; j++)
        jobs.emplace_back(here.runtime, cost);
    for (int round = 0; round < 5; round++) {
        for (clo::job &job : jobs)
            job.submit();
        for (size_t j = jobs.size(); j-- > 0;) {
            int thrown = thrown_by([&] { jobs[j].wait(); });
            CHECK(thrown > 0 && thrown == *jobs[j].output(number));
        }
    }
}

static void several_threads_wait_for_one_job()
{
    place here;
    clo::graph graph;
    graph.add("throw", [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        throw 3;
    });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    for (int round = 0; round < 20; round++) {
        std::vector<std::thread> threads;
        job.submit();
        for (int t = 0; t < 4; t++)
            threads.emplace_back([&job] { CHECK(thrown_by([&job] { job.wait(); }) == 3); });
        for (std::thread &thread : threads)
            thread.join();
    }
}

static void an_outcome_fails_without_an_exception_and_its_error_says_where()
{
    place here;
    clo::graph graph;
    graph.add("good", [] { return clo::ok; });
    graph.add("bad", [] { return clo::outcome{77}; });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    try {
        job.run();
        CHECK(false);
    } catch (const clo::error &error) {
        CHECK(error.status() == CLO_ERR_TASK && error.task() == 1 && error.code() == 77);
        CHECK(std::strstr(error.what(), "bad") != nullptr);
    }
}

/* An exception whose copy of the list is gone is still a failure of its task. */
static void more_exceptions_than_are_kept_leave_an_error()
{
    place here;
    clo::graph graph;
    graph.add("throw", [] { throw 1; });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job first(here.runtime, cost), other(here.runtime, cost);
    first.submit();
    while (clo_job_wait_for(first.get(), INT64_MAX, nullptr) != CLO_ERR_TASK)
        ;
    for (int i = 0; i < 256; i++)
        CHECK(thrown_by([&other] { other.run(); }) == 1);
    CHECK(refuses(CLO_ERR_TASK, [&first] { first.wait(); }));
    CHECK(thrown_by([&first] { first.run(); }) == 1);
}

static void a_copied_graph_gives_its_exceptions_to_the_job_of_the_other()
{
    place here;
    clo::graph outer("outer");
    auto alive = std::make_shared<int>(9);
    {
        clo::graph module("module");
        module.add("quiet", [] {});
        module.add("inner", [alive] { throw *alive; });
        module.seal();
        CHECK(clo_graph_add_module(outer.get(), module.get(), nullptr, nullptr) == CLO_OK);
        outer.keep(module);
    }
    outer.seal();
    clo::cost cost(outer, here.platform);
    clo::job job(here.runtime, cost);
    CHECK(thrown_by([&job] { job.run(); }) == 9);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&outer] { outer.keep(outer); }));
    clo::graph open;
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { outer.keep(open); })); /* both may still change: a circle is never freed */
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { open.keep(clo::graph(std::move(open))); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { open.keep(outer); }));
}

static void pthread_exit_ends_a_body_and_no_more()
{
    place here;
    clo::graph graph;
    int exits = 1;
    graph.add("exits", [&exits] {
        if (exits)
            pthread_exit(nullptr);
    });
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    try {
        job.run();
        CHECK(false);
    } catch (const clo::error &error) {
        CHECK(error.code() == CLO_FAILED_EXITED);
    }
    exits = 0;
    job.run();
}

static void cancel_and_timeout_are_told_apart()
{
    place here;
    clo::graph graph;
    std::atomic<bool> may_end{false};
    auto first = graph.add("first", [&may_end] {
        while (!may_end)
            std::this_thread::yield();
    });
    graph.add(
        "never", [] { throw 1; }, first);
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    CHECK(refuses(CLO_ERR_STATE, [&job] { job.wait(); })); /* never submitted */
    job.submit();
    CHECK(job.wait_for(std::chrono::milliseconds(1)) == CLO_ERR_TIMEOUT);
    CHECK(refuses(CLO_ERR_STATE, [&job] { job.submit(); }));
    job.cancel();
    may_end = true;
    CHECK(refuses(CLO_ERR_CANCELLED, [&job] { job.wait(); }));
}

static void calls_that_fail_throw_the_line_of_the_c_call()
{
    place here;
    CHECK(refuses(CLO_ERR_ARGUMENT, [] { clo::platform("no such"); }));
    clo::graph empty;
    CHECK(refuses(CLO_ERR_ARGUMENT, [&empty] { empty.seal(); }));
    CHECK(refuses(CLO_ERR_STATE, [&] { clo::cost(empty, here.platform); }));
    auto a = empty.add("a", [] {});
    empty.seal();
    CHECK(refuses(CLO_ERR_STATE, [&empty] { empty.add("late", [] {}); }));
    CHECK(refuses(CLO_ERR_STATE, [&] { empty.edge(a, a); }));
    clo::job(here.runtime, clo::cost(empty, here.platform)).run(); /* what came too late has changed nothing */
    clo::graph bad;
    CHECK(refuses(CLO_ERR_ARGUMENT, [&bad] { bad.add({"t", clo::nanoseconds(-1)}, [] {}); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&bad] { bad.seal(); })); /* a declaration has failed */
    CHECK(bad.status() == CLO_ERR_ARGUMENT);
    clo::graph parts; /* as many elements each */
    auto four = parts.add_data<int>("four", 4, true);
    auto odd = parts.add_data<int64_t>("odd", 3, true);
    parts.add_each(
        "even", 2, [](uint32_t, clo::span<int> part) { part[1] = 1; }, clo::update(four, true));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] {
        parts.add_each(
            "uneven", 2, [](uint32_t, clo::span<int64_t>) {}, clo::update(odd, true));
    }));
    CHECK(refuses(CLO_ERR_IO, [] { clo::check(CLO_ERR_IO); }));
    clo::graph sizes;
    CHECK(refuses(CLO_ERR_ARGUMENT, [&sizes] { sizes.add_array<int>("a", SIZE_MAX, [](clo::span<int>) {}); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&sizes] { sizes.add_array<int>("a", 0, [](clo::span<int>) {}); }));
    CHECK(refuses(CLO_ERR_LIMIT, [&sizes] { sizes.add_data<int>("d", SIZE_MAX / 2); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&sizes] { sizes.add_data<int>("d", 0); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&sizes] { sizes.add_each("e", 0, [](uint32_t) {}); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&sizes] {
        sizes.add_each(clo::about("e").grain(2).may_pend(), 4, [](uint32_t) { return clo::pending; });
    }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&sizes] { sizes.add(clo::about("d").demand(CLO_RESOURCES_MAX, 1), [] {}); }));
}

static void handles_of_other_graphs_and_jobs_are_refused()
{
    place here;
    clo::graph one, two;
    auto of_one = one.add("one", [] { return 1; });
    auto data_of_one = one.add_data<int>("data", 1, true);
    auto each_of_one = one.add_each("each", 3, [](uint32_t) { return 1; });
    auto shared_of_one = one.share([] {});
    two.add("own", [] {});
    two.seal();
    clo::cost cost(two, here.platform);
    clo::job job(here.runtime, cost);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.output(of_one); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.output(each_of_one, 0); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.content(data_of_one); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] {
        clo::graph().add(
            "t", [](int) {}, of_one);
    }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] {
        clo::graph().add(
            "t", [](clo::span<const int>) {}, clo::read(data_of_one));
    }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] {
        clo::graph().add(
            "t", [] {}, clo::after(of_one));
    }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] {
        clo::graph().add(
            "t", [](const int *) {}, clo::maybe<int>(of_one));
    }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] {
        clo::graph().add(
            "t", [](int) {}, clo::task<int>());
    }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::graph().on(of_one, "k", clo::nanoseconds(1)); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::graph().on(of_one, "k", clo::nanoseconds(1), [] { return 1; }); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::graph().edge(of_one, of_one); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::graph().add_shared("t", shared_of_one); }));
    one.seal();
    clo::cost own_cost(one, here.platform);
    clo::job own(here.runtime, own_cost);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { own.output(each_of_one, 3); }));
}

static void what_was_moved_from_holds_nothing_and_says_so()
{
    place here;
    clo::graph graph("graph");
    auto task = graph.add("t", [] { return 4; });
    clo::graph taken = std::move(graph);
    CHECK(!graph && graph.get() == nullptr && graph.status() == CLO_ERR_ARGUMENT && taken && taken.status() == CLO_OK);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.add("u", [] {}); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] {
        graph.add(
            "u", [](int) {}, task);
    }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.edge(task, task); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.on(task, "k", clo::nanoseconds(1)); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.on(task, "k", clo::nanoseconds(1), [] { return 1; }); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.share([] {}); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.add_data<int>("d"); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.keep(taken); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { graph.seal(); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::cost(graph, here.platform); }));
    taken.seal();
    clo::cost cost(taken, here.platform), cost_taken = std::move(cost);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::plan{cost}; }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::plan(cost, clo::nanoseconds(0)); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::plan(cost, clo_planner_deft); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::job(here.runtime, cost); }));
    clo::plan plan(cost_taken), plan_taken = std::move(plan);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::job(here.runtime, cost_taken, plan); }));
    clo::job job(here.runtime, cost_taken, plan_taken), job_taken = std::move(job);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.submit(); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.run(); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.wait(); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { (void)job.wait_for(clo::nanoseconds(0)); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.timing(); }));
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { job.output(task); }));
    job.cancel();
    job_taken.run();
    CHECK(*job_taken.output(task) == 4);
    job_taken = clo::job(here.runtime, cost_taken); /* the other one is destroyed */
    job_taken.run();
    clo::job &itself = job_taken;
    job_taken = std::move(itself);
    CHECK(!job_taken || *job_taken.output(task) == 4);
    clo::runtime runtime_taken = std::move(here.runtime);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::job(here.runtime, cost_taken); }));
    clo::platform platform_taken = std::move(here.platform);
    CHECK(refuses(CLO_ERR_ARGUMENT, [&] { clo::runtime{here.platform}; }));
}

/* A capture that cannot be copied when the body is declared: the graph is as before. */
static void a_capture_that_throws_leaves_the_graph_as_it_was()
{
    struct bomb {
        int fuse;
        explicit bomb(int length) : fuse(length)
        {
        }
        bomb(const bomb &other) : fuse(other.fuse - 1)
        {
            if (fuse < 0)
                throw 5;
        }
    };
    place here;
    clo::graph graph;
    auto alive = std::make_shared<int>(0);
    auto first = graph.add("first", [alive] { return 1; });
    for (int fuse = 0; fuse < 6; fuse++) {
        bomb own(fuse);
        (void)thrown_by([&] {
            graph.add(
                "bomb", [own, alive](int) { (void)own; }, first);
        });
    }
    graph.seal();
    clo::cost cost(graph, here.platform);
    clo::job(here.runtime, cost).run();
    CHECK(clo_graph_tasks(graph.get()) > 1);
    graph = clo::graph();
}

int main()
{
    TEST(an_exception_of_a_body_comes_out_of_every_wait);
    TEST(a_series_of_releases_ends_with_what_a_body_threw);
    TEST(a_body_may_throw_though_it_has_taken_its_token);
    TEST(a_token_that_is_refused_fails_its_task);
    TEST(anything_may_be_thrown_by_every_kind_of_body);
    TEST(of_several_bodies_that_throw_at_once_one_comes_out_and_none_is_lost_or_leaked);
    TEST(jobs_of_one_graph_get_their_own_exceptions_in_any_order_of_waits);
    TEST(several_threads_wait_for_one_job);
    TEST(an_outcome_fails_without_an_exception_and_its_error_says_where);
    TEST(more_exceptions_than_are_kept_leave_an_error);
    TEST(a_copied_graph_gives_its_exceptions_to_the_job_of_the_other);
    TEST(pthread_exit_ends_a_body_and_no_more);
    TEST(cancel_and_timeout_are_told_apart);
    TEST(calls_that_fail_throw_the_line_of_the_c_call);
    TEST(handles_of_other_graphs_and_jobs_are_refused);
    TEST(what_was_moved_from_holds_nothing_and_says_so);
    TEST(a_capture_that_throws_leaves_the_graph_as_it_was);
    return checks_end();
}
