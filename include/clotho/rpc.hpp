/* rpc.hpp - the C++17 face of rpc.h: services and workflows that free themselves, lambdas as handlers.
 *
 *     clo::rpc::service shop;
 *     shop.add("price", [](const clo_rpc_request &r) { return "12 for " + clo::rpc::body(r); });
 *     std::thread serves([&] { shop.run(); });
 *
 *     clo::rpc::workflow workflow(("shop=" + std::string(shop.endpoint())).c_str());
 *     auto price = workflow.add("shop", "price", "a book");
 *     workflow.run();
 *     std::string_view text = workflow.answer(price);
 *
 * A thin layer, all of it in headers; what rpc.h and clotho.hpp say holds here. A handler gets a const clo_rpc_request &
 * and returns bytes: std::string, std::string_view, or what becomes one. It is kept as long as the object that it was
 * given to, and may be called on several threads at once. What it throws is told to the caller: clo::error as its
 * status, std::invalid_argument as CLO_ERR_ARGUMENT, anything else as CLO_ERR_TASK, which may go better another time.
 *
 * Without exceptions, a call that cannot be added has the number CLO_NONE, and all that follows on the workflow fails
 * with its status.
 *
 * Library: libclotho-rpc. */
#ifndef CLOTHO_RPC_HPP
#define CLOTHO_RPC_HPP

#include <clotho/cxx/object.hpp>
#include <clotho/rpc.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clo
{
inline namespace CLO_NAMESPACE
{
namespace rpc
{
/* The body of a request. */
inline std::string body(const clo_rpc_request &request)
{
    return std::string(static_cast<const char *>(request.body), request.body_bytes);
}

namespace detail
{
using kept = std::shared_ptr<std::vector<std::shared_ptr<void>>>;

inline void tell(clo_rpc_answer *answer, const char *why)
{
    std::strncpy(answer->text, why, sizeof answer->text - 1);
}

template <class F> clo_status call(F &handler, const clo_rpc_request &request, clo_rpc_answer *answer)
{
    const auto said = handler(request);
    const std::string_view bytes(said);
    answer->count = bytes.size();
    if (bytes.size() > 0 && bytes.size() <= answer->room)
        std::memcpy(answer->bytes, bytes.data(), bytes.size());
    return CLO_OK;
}

template <class F> clo_status enter(void *own, const clo_rpc_request *request, clo_rpc_answer *answer)
{
    F &handler = *static_cast<F *>(own);
#if CLO_HAS_EXCEPTIONS
    try {
        return call(handler, *request, answer);
    } catch (const error &e) {
        tell(answer, e.what());
        return e.status();
    } catch (const std::invalid_argument &e) {
        tell(answer, e.what());
        return CLO_ERR_ARGUMENT;
    } catch (const std::exception &e) {
        tell(answer, e.what());
    } catch (...) {
        tell(answer, "the handler has thrown what is no std::exception");
    }
    return CLO_ERR_TASK;
#else
    return call(handler, *request, answer);
#endif
}

/* Keeps a handler; its address. NULL: of an object that was moved from. */
template <class F> void *keep(const kept &all, F &&handler)
{
    if (!all)
        return nullptr;
    auto own = std::make_shared<std::decay_t<F>>(std::forward<F>(handler));
    all->push_back(own);
    return own.get();
}
} // namespace detail

/* A service that listens, and answers while run() is called. */
class service : public object<clo_rpc_service>
{
  public:
    explicit service(const clo_rpc_service_config &config = CLO_RPC_SERVICE_CONFIG_INIT)
    {
        clo_rpc_service *made = nullptr;
        clo_status status = clo_rpc_service_create(&config, &made);
        (void)own(status, made, clo_rpc_service_destroy, kept_);
    }

    /* By clo_rpc_service_add: on the pool, or (is_short) on the thread of run(). */
    template <class F> done add(const char *method, F &&handler, bool is_short = false)
    {
        void *own = detail::keep(kept_, std::forward<F>(handler));
        return check(why_ == CLO_OK
                         ? clo_rpc_service_add(get(), method, detail::enter<std::decay_t<F>>, own, is_short ? 1 : 0)
                         : why_);
    }
    const char *endpoint() const noexcept
    {
        return clo_rpc_service_endpoint(get());
    }
    /* Until stop(), of any thread. */
    done run()
    {
        return check(why_ == CLO_OK ? clo_rpc_service_run(get()) : why_);
    }
    void stop() noexcept
    {
        clo_rpc_service_stop(get());
    }

  private:
    detail::kept kept_ = std::make_shared<std::vector<std::shared_ptr<void>>>();
};

/* A graph of calls. */
class workflow : public object<clo_rpc_workflow>
{
  public:
    /* What clo_rpc_config.services says; `config` has the rest. */
    explicit workflow(const char *services, clo_rpc_config config = CLO_RPC_CONFIG_INIT)
    {
        clo_rpc_workflow *made = nullptr;
        config.services = services;
        clo_status status = clo_rpc_workflow_create(&config, &made);
        (void)own(status, made, clo_rpc_workflow_destroy, kept_);
    }

    /* Adds a call and returns its number; `more` has what else a clo_rpc_call says. */
    uint32_t add(const char *service, const char *method, std::string_view body = {},
                 std::initializer_list<uint32_t> after = {}, clo_rpc_call more = CLO_RPC_CALL_INIT)
    {
        uint32_t number = CLO_NONE;
        more.service = service;
        more.method = method;
        more.body = body.data();
        more.body_bytes = body.size();
        more.after = after.begin();
        more.after_count = static_cast<uint32_t>(after.size());
        if (why_ == CLO_OK)
            why_ = clo_rpc_workflow_add(get(), &more, &number);
        (void)raise();
        return number;
    }
    /* The same, answered by a function of this process, on a worker. */
    template <class F>
    uint32_t add_here(F &&handler, std::string_view body = {}, std::initializer_list<uint32_t> after = {},
                      clo_rpc_call more = CLO_RPC_CALL_INIT)
    {
        more.here_argument = detail::keep(kept_, std::forward<F>(handler));
        more.here = detail::enter<std::decay_t<F>>;
        return add(nullptr, nullptr, body, after, more);
    }
    done after(uint32_t call, uint32_t before)
    {
        return check(why_ == CLO_OK ? clo_rpc_workflow_after(get(), call, before) : why_);
    }
    done seal()
    {
        return check(why_ == CLO_OK ? clo_rpc_workflow_seal(get()) : why_);
    }
    done run()
    {
        return check(why_ == CLO_OK ? clo_rpc_workflow_run(get()) : why_);
    }
    /* Any thread. */
    void cancel() noexcept
    {
        clo_rpc_workflow_cancel(get());
    }
    done move(const char *service, uint32_t replica, const char *endpoint)
    {
        return check(why_ == CLO_OK ? clo_rpc_workflow_move(get(), service, replica, endpoint) : why_);
    }
    /* What a call was answered with; valid until the next run. Empty, without exceptions, where there is no answer. */
    std::string_view answer(uint32_t call, uint32_t instance = 0) const
    {
        const void *bytes = nullptr;
        size_t count = 0;
        (void)raise(why_ == CLO_OK ? clo_rpc_workflow_answer(get(), call, instance, &bytes, &count) : why_);
        return std::string_view(static_cast<const char *>(bytes), count);
    }
    clo_rpc_result result() const
    {
        clo_rpc_result out = CLO_RPC_RESULT_INIT;
        (void)raise(why_ == CLO_OK ? clo_rpc_workflow_result(get(), &out) : why_);
        return out;
    }

  private:
    /* Throws, where there are exceptions. After a throw the workflow is as it was before. */
    int raise()
    {
#if CLO_HAS_EXCEPTIONS
        check(std::exchange(why_, CLO_OK));
#endif
        return 0;
    }
    static int raise(clo_status status)
    {
#if CLO_HAS_EXCEPTIONS
        check(status);
#endif
        return static_cast<int>(status);
    }

    detail::kept kept_ = std::make_shared<std::vector<std::shared_ptr<void>>>();
};
} // namespace rpc
} // namespace CLO_NAMESPACE
} // namespace clo

#endif
