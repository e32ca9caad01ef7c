/* clotho.hpp without exceptions: calls return a status, what could not be made holds nothing, and what is made of it
 * fails with the same status. Compiled with -fno-exceptions.
 * Mutation: in object::lacking return CLO_OK always (the status becomes CLO_ERR_ARGUMENT). */
#include "checks.hpp"

static_assert(CLO_HAS_EXCEPTIONS == 0, "this test is for code without exceptions");

static void a_good_run_returns_ok()
{
    place here;
    clo::graph graph;
    auto six = graph.add("six", [] { return 6; });
    auto square = graph.add(
        "square", [](int x) { return x * x; }, six);
    CHECK(graph.seal() == CLO_OK);
    clo::cost cost(graph, here.platform);
    clo::plan plan(cost);
    clo::job job(here.runtime, cost, plan);
    CHECK(job.submit() == CLO_OK && job.wait() == CLO_OK && job.wait_for(clo::nanoseconds(0)) == CLO_OK);
    CHECK(job.run() == CLO_OK && *job.output(square) == 36 && job.timing().finished == 1);
}

static void a_failure_goes_through_all_that_is_made_of_it()
{
    clo::platform platform("no such platform");
    CHECK(!platform && platform.status() == CLO_ERR_ARGUMENT && clo_last_error()[0] != '\0');
    char kept[512] = "";
    std::snprintf(kept, sizeof kept, "%s", clo_last_error());
    clo::runtime runtime(platform);
    clo::graph open;
    open.add("a", [] {});
    clo::cost cost(open, platform);
    clo::plan plan(cost);
    clo::job job(runtime, cost, plan);
    CHECK(!runtime && !cost && !plan && !job);
    CHECK(job.run() == CLO_ERR_ARGUMENT && std::strcmp(kept, clo_last_error()) == 0);

    place here;
    clo::cost of_open(open, here.platform);
    CHECK(!of_open && of_open.status() == CLO_ERR_STATE);
    clo::plan of_nothing(of_open);
    clo::job late(here.runtime, of_open, of_nothing);
    CHECK(of_nothing.status() == CLO_ERR_STATE && late.status() == CLO_ERR_STATE);
    CHECK(late.submit() == CLO_ERR_STATE && late.wait() == CLO_ERR_STATE && late.run() == CLO_ERR_STATE);
    CHECK(late.wait_for(clo::nanoseconds(0)) == CLO_ERR_STATE);
    CHECK(late.timing().released == 0);
    late.cancel();
}

static void one_failed_declaration_fails_seal()
{
    clo::graph graph, other;
    auto foreign = other.add("foreign", [] { return 1; });
    auto bad = graph.add(
        "bad", [](int) { return 2; }, foreign);
    auto next = graph.add(
        "next", [](int) {}, bad);
    graph.edge(bad, next);
    CHECK(bad.graph == 0 && next.graph == 0 && graph.status() == CLO_ERR_ARGUMENT);
    CHECK(graph.seal() == CLO_ERR_ARGUMENT && other.seal() == CLO_OK);
}

static void handles_of_others_and_moved_objects_are_refused()
{
    place here;
    clo::graph one, two;
    auto of_one = one.add("one", [] { return 1; });
    auto each = two.add_each("two", 2, [](uint32_t i) { return i; });
    CHECK(two.seal() == CLO_OK);
    clo::cost cost(two, here.platform);
    clo::job job(here.runtime, cost);
    CHECK(job.run() == CLO_OK && job.output(of_one) == nullptr && job.output(each, 2) == nullptr);
    CHECK(*job.output(each, 1) == 1);
    clo::job taken = std::move(job);
    CHECK(job.run() == CLO_ERR_ARGUMENT && job.output(each, 1) == nullptr && taken.run() == CLO_OK);
    clo::plan plan(cost), plan_taken = std::move(plan);
    clo::job of_moved(here.runtime, cost, plan);
    CHECK(!of_moved && of_moved.run() == CLO_ERR_ARGUMENT);
    clo::graph moved = std::move(one);
    one.add("more", [] {});
    CHECK(one.seal() == CLO_ERR_ARGUMENT && moved.status() == CLO_OK && moved.seal() == CLO_OK);
}

static void an_outcome_fails_its_job()
{
    place here;
    clo::graph graph;
    graph.add("fails", [] { return clo::outcome{5}; });
    CHECK(graph.seal() == CLO_OK);
    clo::cost cost(graph, here.platform);
    clo::job job(here.runtime, cost);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    CHECK(job.run(&result) == CLO_ERR_TASK && result.failed_code == 5 && job.wait() == CLO_ERR_TASK);
}

int main()
{
    TEST(a_good_run_returns_ok);
    TEST(a_failure_goes_through_all_that_is_made_of_it);
    TEST(one_failed_declaration_fails_seal);
    TEST(handles_of_others_and_moved_objects_are_refused);
    TEST(an_outcome_fails_its_job);
    return checks_end();
}
