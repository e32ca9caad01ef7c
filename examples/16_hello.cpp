/* 16_hello.cpp - 01_hello_graph.c in C++: bodies are lambdas, an input is an argument, an output is what is returned.
 * A second run shows what an exception out of a body does: it fails its task, and comes out of wait. */
#include <clotho/clotho.hpp>

#include <cstdio>
#include <stdexcept>

int main()
{
    int answer = 0;
    try {
        clo::platform machine;
        clo::runtime runtime(machine);
        clo::graph graph("hello");
        bool throws = false;
        auto six = graph.add("six", [] { return 6; });
        auto square = graph.add(
            "square", [](int x) { return x * x; }, six);
        auto sum = graph.add(
            "add",
            [&throws](int a, int b) {
                if (throws)
                    throw std::runtime_error("too much");
                return a + b;
            },
            six, square);
        graph.seal();
        clo::cost cost(graph, machine);
        clo::plan plan(cost);
        clo::job job(runtime, cost, plan);
        job.run(); /* submit and wait */
        answer = *job.output(sum);
        std::printf("6 * 6 + 6 = %d, planned by %s\n", answer, clo_plan_planner(plan.get()));
        throws = true;
        job.run();
    } catch (const std::exception &e) { /* also those of clotho.hpp: clo::error */
        std::printf("then: %s\n", e.what());
    }
    return answer == 42 ? 0 : 1;
}
