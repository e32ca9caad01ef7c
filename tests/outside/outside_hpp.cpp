// outside_hpp.cpp - the C++ face as it is installed: a graph, a plan, an exception; with libclotho alone.
#include <clotho/clotho.hpp>
#include <cstdio>

int main()
{
    clo::graph graph("outside");
    auto one = graph.add("one", [] { return 1; });
    auto two = graph.add(
        "two", [](int in) { return in + 1; }, one);
    graph.add(
        "throws", [](int in) { throw in; }, two);
    graph.seal();
    clo::platform platform;
    clo::runtime runtime(platform);
    clo::cost cost(graph, platform);
    clo::job job(runtime, cost, clo::plan(cost));
    try {
        job.run();
    } catch (int thrown) {
        std::printf("clotho.hpp: %d came out, of %d\n", thrown, *job.output(two));
        return thrown == 2 && *job.output(two) == 2 ? 0 : 1;
    }
    return 1;
}
