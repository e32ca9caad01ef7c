// Services and workflows of clotho/rpc.hpp.
#include "checks.hpp"

#include <clotho/rpc.hpp>
#include <thread>

namespace rpc = clo::rpc;

static void thrown_by_what_was_moved_from(rpc::workflow &workflow)
{
    bool thrown = false;
    try {
        workflow.add_here([](const clo_rpc_request &) { return std::string(); });
    } catch (const clo::error &e) {
        thrown = e.status() == CLO_ERR_ARGUMENT;
    }
    CHECK(thrown);
}

static void lambdas_answer()
{
    int count = 0;
    rpc::service shop;
    shop.add("price", [](const clo_rpc_request &r) { return "12 for " + rpc::body(r); });
    shop.add(
        "count", [&count](const clo_rpc_request &) { return std::to_string(++count); }, true);
    shop.add("odd", [](const clo_rpc_request &) -> std::string { throw std::invalid_argument("no such book"); });
    shop.add("", [](const clo_rpc_request &r) { return std::string_view(r.method); });
    std::thread serves([&shop] { shop.run(); });

    {
        rpc::workflow workflow(("shop=" + std::string(shop.endpoint())).c_str());
        clo_rpc_call once = CLO_RPC_CALL_INIT;
        once.effect = CLO_RPC_KEYED;
        auto price = workflow.add("shop", "price", "a book");
        auto counted = workflow.add("shop", "count", {}, {price}, once);
        auto here =
            workflow.add_here([](const clo_rpc_request &r) { return "<" + rpc::body(r) + ">"; }, "x", {price, counted});
        auto other = workflow.add("shop", "other");
        workflow.after(other, here);
        rpc::workflow moved = std::move(workflow);
        moved.run();
        CHECK(moved.answer(here) == "<x12 for a book1>");
        CHECK(moved.answer(other) == "other");
        CHECK(moved.result().calls == 3 && count == 1);
        CHECK(!workflow);
        thrown_by_what_was_moved_from(workflow);
    }
    {
        rpc::workflow workflow(("shop=" + std::string(shop.endpoint())).c_str());
        workflow.add("shop", "odd");
        bool thrown = false;
        try {
            workflow.run();
        } catch (const clo::error &e) {
            thrown = e.status() == CLO_ERR_TASK && std::strstr(e.what(), "no such book") != nullptr;
        }
        CHECK(thrown);
        thrown = false;
        try {
            workflow.add("bank", "pay");
        } catch (const clo::error &e) {
            thrown = e.status() == CLO_ERR_STATE || e.status() == CLO_ERR_ARGUMENT;
        }
        CHECK(thrown);
    }
    shop.stop();
    serves.join();
}

int main()
{
    TEST(lambdas_answer);
    return checks_end();
}
