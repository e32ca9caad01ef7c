/* refused.cpp - what must not compile, one case for each value of CASE; 0 is right. Read by refused.sh. */
#include <clotho/clotho.hpp>

#include <string>

int main()
{
    clo::graph graph;
    auto one = graph.add<int>("one", [] { return 1; });
#if CASE == 0
    graph.add("takes", [](const int &) {}, one);
#elif CASE == 1 /* trivially copyable types only */
    graph.add("text", [] { return std::string("x"); });
#elif CASE == 2 /* the body takes other arguments */
    graph.add("text", [](std::string) {}, one);
#elif CASE == 3 /* the body takes other arguments */
    graph.add("writes its input", [](int &) {}, one);
#elif CASE == 4 /* the body returns neither */
    graph.on(one, "kind", clo::nanoseconds(1), [] { return 1.5; });
#elif CASE == 5 /* the body of an array fills it */
    graph.add_array<int>("array", 3, [](clo::span<int>) { return 1; });
#elif CASE == 6 /* deleted */
    clo::graph copy = graph;
#elif CASE == 7 /* aligned to 64 bytes */
    struct alignas(128) wide {
        char bytes[128];
    };
    graph.add("wide", [] { return wide(); });
#endif
    return 0;
}
