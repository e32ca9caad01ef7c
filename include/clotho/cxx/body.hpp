/* cxx/body.hpp - how clotho.hpp keeps and calls bodies. No part of the API: names in clo::detail may change.
 *
 * A body and what it sees of its inputs lie in one node, in blocks of memory that belong to its graph; the C body is
 * node::run, and its argument the node. An exception is caught there and kept under a code of failure that is unique,
 * because a body does not know its job: by that code the job finds it again (clo_job_result.failed_code). */
#ifndef CLOTHO_CXX_BODY_HPP
#define CLOTHO_CXX_BODY_HPP

#include <clotho/cxx/handle.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#if CLO_HAS_EXCEPTIONS
#include <cxxabi.h>
#endif

namespace clo
{
inline namespace CLO_NAMESPACE
{
namespace detail
{

#if CLO_HAS_EXCEPTIONS
/* What bodies threw, by the code of failure that they returned then. */
class thrown
{
  public:
    /* In a handler: keeps its exception. Returns a code that no other exception of the last 2^24 has. */
    int keep(uint32_t of) noexcept
    {
        try {
            std::exception_ptr what = std::current_exception();
            std::lock_guard<std::mutex> hold(lock_);
            if (list_.empty())
                list_.resize(kept);
            entry &place = list_[next_ % kept];
            next_++;
            place.code = INT32_MIN + (1 << 24) + static_cast<int>(number() % (1u << 24));
            place.of = of;
            place.what.swap(what); /* what was there is destroyed after the lock is given back */
            return place.code;
        } catch (...) {
            return CLO_FAILED_THROWN;
        }
    }
    std::exception_ptr take(int code, uint32_t of)
    {
        std::exception_ptr what;
        std::lock_guard<std::mutex> hold(lock_);
        for (entry &each : list_)
            if (each.what && each.code == code && each.of == of)
                what.swap(each.what);
        return what;
    }

  private:
    static constexpr uint32_t kept = 256;

    static uint32_t number()
    {
        static std::atomic<uint32_t> last{0};
        return ++last;
    }
    struct entry {
        int code = 0;
        uint32_t of = CLO_NONE;
        std::exception_ptr what;
    };
    std::mutex lock_;
    std::vector<entry> list_;
    uint32_t next_ = 0;
};
#endif

/* Blocks of memory for bodies: they are destroyed together. */
class arena
{
  public:
    arena() = default;
    arena(const arena &) = delete;
    arena &operator=(const arena &) = delete;
    ~arena()
    {
        while (!ends_.empty()) {
            if (ends_.back().destroy != nullptr)
                ends_.back().destroy(ends_.back().what);
            ends_.pop_back();
        }
    }
    template <class N, class... A> N *make(A &&...arguments)
    {
        if constexpr (!std::is_trivially_destructible_v<N>)
            ends_.push_back({nullptr, nullptr});
        N *made = ::new (take(sizeof(N), alignof(N))) N{std::forward<A>(arguments)...};
        if constexpr (!std::is_trivially_destructible_v<N>)
            ends_.back() = {[](void *what) { static_cast<N *>(what)->~N(); }, made};
        return made;
    }

  private:
    struct end {
        void (*destroy)(void *);
        void *what;
    };
    void *take(std::size_t bytes, std::size_t alignment)
    {
        void *at = at_;
        if (at == nullptr || std::align(alignment, bytes, at, left_) == nullptr) {
            std::size_t size = bytes + alignment > block_ ? bytes + alignment : block_;
            blocks_.emplace_back(new unsigned char[size]);
            block_ = block_ < (std::size_t{1} << 20) ? 2 * block_ : block_;
            at = blocks_.back().get();
            left_ = size;
            std::align(alignment, bytes, at, left_);
        }
        at_ = static_cast<unsigned char *>(at) + bytes;
        left_ -= bytes;
        return at;
    }
    std::vector<std::unique_ptr<unsigned char[]>> blocks_;
    std::vector<end> ends_;
    void *at_ = nullptr;
    std::size_t left_ = 0, block_ = 1024;
};

/* A graph with its bodies. */
struct store {
    store() = default;
    store(const store &) = delete;
    store &operator=(const store &) = delete;
    ~store()
    {
        clo_graph_destroy(graph);
    }
    static uint32_t next()
    {
        static std::atomic<uint32_t> last{0};
        return ++last;
    }
    clo_graph *graph = nullptr;
    uint32_t number = next();
    arena bodies;
    std::vector<std::shared_ptr<store>> others; /* whose bodies this graph calls too */
#if CLO_HAS_EXCEPTIONS
    thrown exceptions;
    std::exception_ptr take(int code, uint32_t task)
    {
        std::exception_ptr what = exceptions.take(code, task);
        for (std::size_t i = 0; i < others.size() && !what; i++)
            what = others[i]->take(code, task);
        return what;
    }
#endif
};

/* Gives a new task its edges and uses, in the order of its inputs. */
struct wiring {
    struct place {
        uint32_t id, at;
    };
    clo_graph *graph;
    uint32_t to;
    uint32_t instances;
    place *seen; /* room for all inputs */
    uint32_t seen_count = 0, inputs = 0, uses = 0;
    clo_status status = CLO_OK;
    const char *wrong = nullptr; /* what clo_last_error does not say of the status */

    /* Returns where the inputs from the task begin in clo_call.inputs. A task that is named twice has one edge. */
    uint32_t from(uint32_t id, uint32_t executions, uint64_t bytes)
    {
        for (uint32_t i = 0; i < seen_count; i++)
            if (seen[i].id == id)
                return seen[i].at;
        if (status == CLO_OK)
            status = clo_graph_add_edge(graph, id, to, bytes);
        seen[seen_count++] = {id, inputs};
        inputs += executions;
        return seen[seen_count - 1].at;
    }
    uint32_t use(uint32_t handle, uint32_t mode, std::size_t size)
    {
        if (status == CLO_OK && (mode & CLO_ACCESS_PARTS) != 0 && size % instances != 0) {
            status = CLO_ERR_ARGUMENT;
            wrong = "clo::graph: the parts of a data handle are not as many elements each";
        }
        if (status == CLO_OK)
            status = clo_graph_add_access(graph, to, handle, mode);
        return uses++;
    }
};

/* What a body gets of an input: `see` makes a tuple of its arguments, of none or of one. */
struct sees_nothing {
    std::tuple<> see(const clo_call &, uint32_t) const
    {
        return {};
    }
};
template <class T> struct sees_one {
    uint32_t at = 0;
    std::tuple<const T &> see(const clo_call &call, uint32_t) const
    {
        return std::tuple<const T &>(*static_cast<const T *>(call.inputs[at]));
    }
};
template <class T> struct sees_pointer {
    uint32_t at = 0;
    std::tuple<const T *> see(const clo_call &call, uint32_t) const
    {
        return {static_cast<const T *>(call.inputs[at])};
    }
};
template <class T> struct sees_array {
    uint32_t at = 0;
    std::tuple<span<const T>> see(const clo_call &call, uint32_t) const
    {
        return {span<const T>(static_cast<const T *>(call.inputs[at]), call.inputs_bytes[at] / sizeof(T))};
    }
};
template <class T> struct sees_stage {
    uint32_t at = 0;
    stage<T> of{};
    std::tuple<outputs<T>> see(const clo_call &call, uint32_t) const
    {
        return {outputs<T>(call.inputs + at, of)};
    }
};
template <class T> struct sees_data {
    uint32_t at = 0;
    bool is_in_parts = false;
    std::tuple<span<T>> see(const clo_call &call, uint32_t instance) const
    {
        std::size_t size = call.data_bytes[at] / sizeof(T), part = size / (is_in_parts ? call.instances : 1);
        return {span<T>(static_cast<T *>(call.data[at]) + (is_in_parts ? instance * part : 0), part)};
    }
};

inline uint32_t executions(uint32_t count, uint32_t grain)
{
    return count / grain + (count % grain != 0);
}
template <class T> auto bind(wiring &w, const task<T> &of)
{
    if constexpr (std::is_void_v<T>)
        return w.from(of.id, 1, 0), sees_nothing{};
    else
        return sees_one<T>{w.from(of.id, 1, sizeof(T))};
}
template <class T> auto bind(wiring &w, const array<T> &of)
{
    return sees_array<T>{w.from(of.id, 1, of.size * sizeof(T))};
}
template <class T> auto bind(wiring &w, const stage<T> &of)
{
    if constexpr (std::is_void_v<T>)
        return w.from(of.id, executions(of.count, of.grain), 0), sees_nothing{};
    else
        return sees_stage<T>{w.from(of.id, executions(of.count, of.grain), of.count * uint64_t{sizeof(T)}), of};
}
template <class T> auto bind(wiring &w, const uncertain<T> &of)
{
    return sees_pointer<T>{bind(w, of.of).at};
}
template <class H> auto bind(wiring &w, const order<H> &of)
{
    return (void)bind(w, of.of), sees_nothing{};
}
template <class T> auto bind(wiring &w, const use<T> &of)
{
    return sees_data<T>{w.use(of.of.id, of.mode, of.of.size), (of.mode & CLO_ACCESS_PARTS) != 0};
}
template <class I> auto graph_of(const I &input, int) -> decltype(input.of.graph)
{
    return input.of.graph;
}
template <class I> auto graph_of(const I &input, long) -> decltype(input.graph)
{
    return input.graph;
}

/* How the output of a body is made: it returns it, it fills an array, or it returns it for each instance. */
struct returned {
    using lead = std::tuple<>;
};
template <class T> struct filled {
    using lead = std::tuple<span<T>>;
};
struct each {
    using lead = std::tuple<uint32_t>;
};
struct deduced;

/* What a body's result takes of the output. */
template <class R> constexpr std::size_t bytes_of()
{
    if constexpr (std::is_void_v<R> || std::is_same_v<R, outcome>) {
        return 0;
    } else {
        static_assert(std::is_trivially_copyable_v<R>,
                      "outputs are copied between memories: trivially copyable types only");
        static_assert(alignof(R) <= 64, "outputs are aligned to 64 bytes");
        return sizeof(R);
    }
}
template <class F, class... A> decltype(auto) invoke(F &body, const clo_call &call, A &&...arguments)
{
    if constexpr (std::is_invocable_v<F &, const clo_call &, A...>)
        return body(call, std::forward<A>(arguments)...);
    else
        return body(std::forward<A>(arguments)...);
}

/* A body with what it sees: the argument of its C function. */
template <class Out, class F, class... See> struct node {
    store *home;
    F body;
    std::tuple<See...> see;

    template <class... Lead> decltype(auto) call_it(const clo_call &call, uint32_t instance, Lead... lead)
    {
        return std::apply(
            [&](const auto &...sight) -> decltype(auto) {
                return std::apply(
                    [&](auto &&...arguments) -> decltype(auto) {
                        return invoke(body, call, std::forward<decltype(arguments)>(arguments)...);
                    },
                    std::tuple_cat(std::tuple<Lead...>(lead...), sight.see(call, instance)...));
            },
            see);
    }
    template <class... Lead> int settle(const clo_call &call, uint32_t instance, void *output, Lead... lead)
    {
        using R = std::decay_t<decltype(call_it(call, instance, lead...))>;
        if constexpr (std::is_void_v<R>)
            return call_it(call, instance, lead...), 0;
        else if constexpr (std::is_same_v<R, outcome>)
            return call_it(call, instance, lead...).code;
        else
            return ::new (output) R(call_it(call, instance, lead...)), 0;
    }
    int serve(const clo_call &call, returned)
    {
        return settle(call, 0, call.output);
    }
    template <class T> int serve(const clo_call &call, filled<T>)
    {
        return settle(call, 0, nullptr, span<T>(static_cast<T *>(call.output), call.output_bytes / sizeof(T)));
    }
    int serve(const clo_call &call, each)
    {
        constexpr std::size_t bytes = bytes_of<std::decay_t<decltype(call_it(call, 0u, 0u))>>();
        int code = 0;
        for (uint32_t i = 0; i < call.count && code == 0; i++)
            code = settle(call, call.instance + i, static_cast<char *>(call.output) + i * bytes, call.instance + i);
        return code;
    }
    static int run(const clo_call *call)
    {
        node *own = static_cast<node *>(call->argument);
#if CLO_HAS_EXCEPTIONS
        try {
            return own->serve(*call, Out{});
        }
#ifdef __GLIBCXX__
        catch (const abi::__forced_unwind &) { /* pthread_exit: the library ends it */
            throw;
        }
#endif
        catch (...) {
            return own->home->exceptions.keep(call->task);
        }
#else
        return own->serve(*call, Out{});
#endif
    }
};

/* What the body F returns, given its leading arguments and what it sees; of no body: an outcome. */
template <class F, class... A>
std::decay_t<decltype(invoke(std::declval<F &>(), std::declval<const clo_call &>(), std::declval<A>()...))> returns(
    const std::tuple<A...> &);
template <class F, class... A> constexpr bool takes(const std::tuple<A...> *)
{
    return std::is_invocable_v<F &, const clo_call &, A...> || std::is_invocable_v<F &, A...>;
}
template <class Out, class F, class... See> struct result {
    using arguments = decltype(std::tuple_cat(std::declval<typename Out::lead>(),
                                              std::declval<See>().see(std::declval<const clo_call &>(), 0)...));
    static_assert(
        takes<F>(static_cast<const arguments *>(nullptr)),
        "the body takes other arguments than: const clo_call & (if it wants that), what it fills or its number, "
        "and what it sees of each input");
    using type = decltype(returns<F>(std::declval<arguments>()));
};
template <class Out, class... See> struct result<Out, std::nullptr_t, See...> {
    using type = outcome;
};
template <class In> using see_of = decltype(bind(std::declval<wiring &>(), std::declval<const In &>()));
/* The type of an output: T, or what the body returns. */
template <class T, class R>
using output_type =
    std::conditional_t<!std::is_same_v<T, deduced>, T, std::conditional_t<std::is_same_v<R, outcome>, void, R>>;
template <class Value, class R> constexpr bool fits = std::is_same_v<R, outcome> || std::is_same_v<R, Value>;

} // namespace detail

} // namespace CLO_NAMESPACE
} // namespace clo

#endif
