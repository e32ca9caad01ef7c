/* clotho.hpp - the C++17 face: objects that free themselves, lambdas as bodies, typed outputs, exceptions out of wait.
 *
 *     clo::graph graph("hello");
 *     auto six = graph.add("six", [] { return 6; });
 *     auto square = graph.add("square", [](int x) { return x * x; }, six);
 *     graph.seal();
 *
 * A thin layer over the C API, all of it in headers: this one and those in cxx/. `get()` is the C object, for every
 * call that has no name here. What a C header says of it holds, but never destroy it. Config and result structs are
 * C's.
 *
 * Ownership. Objects are moved, not copied. Each keeps alive what it needs, so they may be destroyed in any order: a
 * job keeps its runtime and its cost, a cost its graph and its platform, a graph its bodies with what they captured.
 * What a C struct points to is kept by nobody. An object that was moved from holds nothing: `if (object)` is false, and
 * its calls fail with CLO_ERR_ARGUMENT. Handles (task, array, stage, data) are numbers: they may outlive their graph,
 * and another graph or job refuses them. Pointers and spans into a job live as long as the C API says.
 *
 * Bodies. A body is stored when it is declared, with its captures, and destroyed with its graph. It gets, in this
 * order: const clo_call & (if it takes one first), what it fills (add_array) or its number (add_each), and one argument
 * for each input. It returns its output, nothing, or a clo::outcome. Instances of its task, and jobs of its graph, may
 * call it at once: they share what it captured. Once a job is made nothing is allocated.
 *
 * Failures. A call that fails throws clo::error. If a body throws, its task fails, and the exception comes out of
 * job::wait, on every thread that waits. That alone takes memory, and a lock: a throw does, and for each graph a list
 * of its last 256 exceptions. If several bodies of one run throw, that comes out which failed the job; the others are
 * destroyed when 256 more have come, or with the graph. If 256 came between the failure and the first wait, or there
 * was no memory for the list, wait throws a clo::error of CLO_ERR_TASK. Out of clo_simulate no exception comes, but a
 * status.
 *
 * Without exceptions (-fno-exceptions, or CLO_NO_EXCEPTIONS is defined) calls return a status. What cannot be made
 * holds nothing, and what is made of that fails with the same status: ask once, at the end. If `new` gets no memory,
 * the process ends. Code with and without exceptions may be linked together.
 *
 * Threads and real time: as the C call of that name, where nothing else is said.
 *
 * Library: libclotho; libclotho-decide has the planners but HEFT and DEFT, and plans for an interval. */
#ifndef CLOTHO_CLOTHO_HPP
#define CLOTHO_CLOTHO_HPP

#include <clotho/clotho.h>
#include <clotho/cxx/object.hpp>

namespace clo
{
inline namespace CLO_NAMESPACE
{
/* A task as it was declared: a handle that also knows what its body sees, for graph::on. */
template <class H, class Out, class... See> struct declared : H {
    std::tuple<See...> see;
};

/* A body that several tasks without inputs share, see graph::share. */
template <class F> struct shared {
    detail::node<detail::returned, F> *node = nullptr;
    uint32_t graph = 0;
};

/* A platform: the machine, or another one. */
class platform : public object<clo_platform>
{
  public:
    /* This machine, by clo_platform_native. */
    platform()
    {
        clo_platform *made = nullptr;
        clo_status status = clo_platform_native(&made);
        (void)own(status, made, clo_platform_destroy);
    }
    /* By clo_platform_open: "native", "native+FILE", "rk3588", "uniform:4", FILE ... */
    explicit platform(const char *spec)
    {
        clo_platform *made = nullptr;
        clo_status status = clo_platform_open(spec, &made);
        (void)own(status, made, clo_platform_destroy);
    }
    /* From arrays, by clo_platform_create. */
    explicit platform(const clo_platform_desc &desc)
    {
        clo_platform *made = nullptr;
        clo_status status = clo_platform_create(&desc, &made);
        (void)own(status, made, clo_platform_destroy);
    }
};

/* A graph: tasks, their bodies and their edges. Once a declaration has failed, seal fails with its status. */
class graph : public object<detail::store>
{
  public:
    /* An empty, open graph. */
    explicit graph(const char *name = nullptr)
    {
        auto made = std::make_shared<detail::store>();
        why_ = clo_graph_create(name, &made->graph);
        if (why_ == CLO_OK)
            own_ = std::move(made);
        (void)check(why_);
    }

    /* Adds a task with one instance. Its body returns the output (of a trivially copyable type), nothing, or an
     * outcome. With nullptr for a body, bodies are given by `on`, and T says what they return.
     *
     *   in  earlier tasks of this graph. Each becomes an edge, and an argument of the body: const T & of a task,
     *       span<const T> of an array, outputs<T> of a stage, none of a task without output, and what after, maybe,
     *       read, write and update say. Where an edge may be dead (branch.h), maybe must be used.
     *
     * Returns the handle, a task<T>. Fails as clo_graph_add_task, _add_edge and _add_access, and with CLO_ERR_ARGUMENT
     * for a handle of another graph. Threads: one. Real time: no. Amortised O(inputs). */
    template <class T = detail::deduced, class F, class... In> auto add(const about &what, F &&body, const In &...in)
    {
        using result = result_of<detail::returned, F, In...>;
        using output = detail::output_type<T, result>;
        static_assert(detail::fits<output, result>, "the body returns neither T nor an outcome");
        return declare<clo::task<output>, detail::returned>(what.get(), detail::bytes_of<output>(), nullptr,
                                                            std::forward<F>(body), in...);
    }

    /* Adds a task whose output is an array of `size` T. Its body gets span<T> before its inputs, fills it, and returns
     * nothing or an outcome. Returns an array<T>. Otherwise as `add`; CLO_ERR_ARGUMENT also for a size of 0. */
    template <class T, class F, class... In>
    auto add_array(const about &what, std::size_t size, F &&body, const In &...in)
    {
        using result = result_of<detail::filled<T>, F, In...>;
        static_assert(detail::fits<void, result>, "the body of an array fills it, and returns nothing or an outcome");
        bool is_good = size > 0 && size <= SIZE_MAX / detail::bytes_of<T>();
        auto made = declare<array<T>, detail::filled<T>>(
            what.get(), size * sizeof(T), is_good ? nullptr : "clo::graph::add_array: empty, or too large",
            std::forward<F>(body), in...);
        made.size = size;
        return made;
    }

    /* Adds a task with `count` instances. Its body is called for each, gets its number (uint32_t) before its inputs and
     * returns its output, nothing, or an outcome. With about.grain one execution serves several. Returns a stage<T>.
     * Otherwise as `add`; CLO_ERR_ARGUMENT also for no instances, and for a grain together with may_pend. */
    template <class F, class... In> auto add_each(const about &what, uint32_t count, F &&body, const In &...in)
    {
        using output = detail::output_type<detail::deduced, result_of<detail::each, F, In...>>;
        clo_task task = what.get();
        task.instances = count;
        const char *wrong = count == 0 ? "clo::graph::add_each: no instances" : nullptr;
        if (task.grain > 1 && task.may_pend != 0)
            wrong = "clo::graph::add_each: a grain and may_pend do not go together";
        auto made =
            declare<stage<output>, detail::each>(task, detail::bytes_of<output>(), wrong, std::forward<F>(body), in...);
        made.count = count;
        made.grain = task.grain > 1 ? task.grain : 1;
        return made;
    }

    /* Stores a body for many tasks. add_shared adds one that calls it; such tasks get edges by `edge`. */
    template <class F> shared<std::decay_t<F>> share(F &&body)
    {
        using node = detail::node<detail::returned, std::decay_t<F>>;
        if (!own_)
            return refuse(clo_graph_seal(nullptr)), shared<std::decay_t<F>>{};
        return {own_->bodies.template make<node>(own_.get(), std::forward<F>(body), std::tuple<>()), own_->number};
    }
    template <class F> auto add_shared(const about &what, const shared<F> &body)
    {
        using output = detail::output_type<detail::deduced, result_of<detail::returned, F>>;
        clo_task task = what.get();
        clo::task<output> made;
        task.output_bytes = detail::bytes_of<output>();
        task.body = detail::node<detail::returned, F>::run;
        task.argument = body.node;
        bool is_ours = body.graph == number();
        refuse(is_ours ? clo_graph_add_task(get(), &task, &made.id) : CLO_ERR_ARGUMENT, is_ours ? nullptr : foreign);
        made.graph = made.id != CLO_NONE ? number() : 0;
        return made;
    }

    /* Gives a task a time on executors of `kind`, as clo_graph_set_time; with `body` (and the handle that `add`
     * returned): also a body for them, with the arguments and the result of the task's body. Threads: one. */
    template <class H> void on(const H &of, const char *kind, nanoseconds time)
    {
        uint32_t at = 0;
        refuse(on_kind(of, kind, time, &at), of.graph == number() ? nullptr : foreign);
    }
    template <class H, class Out, class... See, class F>
    void on(const declared<H, Out, See...> &of, const char *kind, nanoseconds time, F &&body)
    {
        using node = detail::node<Out, std::decay_t<F>, See...>;
        using result = typename detail::result<Out, std::decay_t<F>, See...>::type;
        static_assert(detail::fits<typename H::value, result>,
                      "the body returns neither what the task's does nor an outcome");
        uint32_t at = 0;
        clo_status status = on_kind(of, kind, time, &at);
        if (status == CLO_OK)
            status = clo_graph_set_body_argument(
                get(), of.id, at, node::run,
                own_->bodies.template make<node>(own_.get(), std::forward<F>(body), of.see));
        refuse(status, of.graph == number() ? nullptr : foreign);
    }

    /* Adds an edge between two tasks, as clo_graph_add_edge; no body gets an argument for it. */
    template <class A, class B> void edge(const A &from, const B &to, uint64_t bytes = 0)
    {
        bool are_ours = from.graph == number() && to.graph == number();
        refuse(are_ours ? clo_graph_add_edge(get(), from.id, to.id, bytes) : CLO_ERR_ARGUMENT,
               are_ours ? nullptr : foreign);
    }

    /* Adds a buffer of `size` T that tasks use in place, as clo_graph_add_handle. Each job has its own unless `address`
     * gives one, which must outlive the jobs. is_kept: it has content before the first task. Threads: one. */
    template <class T>
    data<T> add_data(const char *name, std::size_t size = 1, bool is_kept = false, T *address = nullptr)
    {
        clo_handle handle{};
        data<T> made;
        handle.name = name;
        handle.bytes = size > SIZE_MAX / sizeof(T) ? UINT64_MAX : uint64_t{size} * detail::bytes_of<T>();
        handle.address = address;
        handle.kept = is_kept;
        refuse(clo_graph_add_handle(get(), &handle, &made.id));
        made.graph = made.id != CLO_NONE ? number() : 0;
        made.size = size;
        return made;
    }

    /* For C calls that copy another graph into this one (clo_graph_add_module, clo_graph_add_loop): its bodies live as
     * long as this graph, and what they throw is found. As these calls: `other` is sealed, and this graph is not. */
    void keep(const graph &other)
    {
        bool is_other = own_ && clo_graph_instances(get()) == 0 && clo_graph_instances(other.get()) > 0;
        if (is_other)
            own_->others.push_back(other.own_);
        refuse(is_other ? CLO_OK : CLO_ERR_ARGUMENT,
               is_other ? nullptr : "clo::graph::keep: the other graph is not sealed, or this one is");
    }

    /* Makes the graph immutable, as clo_graph_seal. */
    done seal()
    {
        return why_ == CLO_OK ? check(clo_graph_seal(get()))
                              : check(why_, "clo::graph: a declaration has failed before");
    }

  private:
    static constexpr const char *foreign = "clo::graph: a handle of another graph, or of none";

    template <class Out, class F, class... In>
    using result_of = typename detail::result<Out, std::decay_t<F>, detail::see_of<In>...>::type;

    uint32_t number() const noexcept
    {
        return own_ ? own_->number : 0;
    }
    /* Notes a failure of a declaration, unless the graph is sealed and so as it was; `text`: what clo_last_error does
     * not say. */
    void refuse(clo_status status, const char *text = nullptr)
    {
        if (!own_)
            text = "clo::graph: it holds nothing";
        else if (status != CLO_OK && why_ == CLO_OK && clo_graph_instances(get()) == 0)
            why_ = status;
        (void)(text == nullptr ? check(status) : check(status, text));
    }
    template <class H> clo_status on_kind(const H &of, const char *kind, nanoseconds time, uint32_t *at)
    {
        clo_status status = of.graph == number() ? clo_graph_kind(get(), kind, at) : CLO_ERR_ARGUMENT;
        return status == CLO_OK ? clo_graph_set_time(get(), of.id, *at, time.count()) : status;
    }
    template <class H, class Out, class F, class... In>
    auto declare(clo_task task, uint64_t bytes, const char *wrong, F &&body, const In &...in)
    {
        using body_type = std::decay_t<F>;
        declared<H, Out, detail::see_of<In>...> made;
        detail::wiring::place places[sizeof...(In) + 1];
        if (wrong == nullptr && !((detail::graph_of(in, 0) == number()) && ...))
            wrong = foreign;
        clo_status status = wrong == nullptr ? CLO_OK : CLO_ERR_ARGUMENT;
        std::tuple<detail::see_of<In>...> *see = &made.see;

        task.output_bytes = bytes;
        if constexpr (!std::is_same_v<body_type, std::nullptr_t>)
            if (status == CLO_OK && own_) {
                using node = detail::node<Out, body_type, detail::see_of<In>...>;
                node *stored = own_->bodies.template make<node>(own_.get(), std::forward<F>(body), made.see);
                task.body = node::run;
                task.argument = stored;
                see = &stored->see;
            }
        if (status == CLO_OK)
            status = clo_graph_add_task(get(), &task, &made.id);
        if (status == CLO_OK) {
            detail::wiring wires{get(), made.id, task.instances > 0 ? task.instances : 1, places};
            *see = made.see = std::tuple<detail::see_of<In>...>{detail::bind(wires, in)...};
            status = wires.status;
            wrong = wires.wrong;
        }
        made.graph = status == CLO_OK ? number() : 0;
        refuse(status, wrong);
        return made;
    }
};

/* Execution and transfer times of one graph on one platform. Keeps both. */
class cost : public object<clo_cost>
{
  public:
    cost(const graph &of, const platform &on)
    {
        clo_cost *made = nullptr;
        clo_status status = lacking(of, on);
        if (status == CLO_OK)
            status = clo_cost_create(of.get(), on.get(), &made);
        graph_ = held(of);
        (void)own(status, made, clo_cost_destroy, held(of), held(on));
    }

  private:
    friend class job;
    std::shared_ptr<detail::store> graph_;
};

/* Which executor runs which instance when. Needs nothing of others. */
class plan : public object<clo_plan>
{
  public:
    /* By clo_plan_create, with all of its configuration. */
    explicit plan(const cost &of, const clo_plan_config &config = CLO_PLAN_CONFIG_INIT)
    {
        make(of, config);
    }
    /* With one of Clotho's planners, or your own. */
    plan(const cost &of, const clo_planner &planner)
    {
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        config.planner = &planner;
        make(of, config);
    }
    /* For releases in flight, one each `interval` (0: the shortest that is found), at most so many at once (0: any
     * number), by clo_plan_pipeline (libclotho-decide). */
    plan(const cost &of, nanoseconds interval, uint32_t releases_in_flight = 0)
    {
        clo_pipeline_config config = CLO_PIPELINE_CONFIG_INIT;
        config.interval_ns = interval.count();
        config.releases_in_flight = releases_in_flight;
        clo_plan *made = nullptr;
        clo_status status = lacking(of);
        if (status == CLO_OK)
            status = clo_plan_pipeline(of.get(), &config, &made);
        (void)own(status, made, clo_plan_destroy);
    }

  private:
    void make(const cost &of, const clo_plan_config &config)
    {
        clo_plan *made = nullptr;
        clo_status status = lacking(of);
        if (status == CLO_OK)
            status = clo_plan_create(of.get(), &config, &made);
        (void)own(status, made, clo_plan_destroy);
    }
};

/* Workers on a platform, which it keeps. The last job of it may be destroyed after it, but not in a body. */
class runtime : public object<clo_runtime>
{
  public:
    explicit runtime(const platform &on, const clo_runtime_config &config = CLO_RUNTIME_CONFIG_INIT)
    {
        clo_runtime *made = nullptr;
        clo_status status = lacking(on);
        if (status == CLO_OK)
            status = clo_runtime_create(on.get(), &config, &made);
        (void)own(status, made, clo_runtime_destroy, held(on));
    }
};

/* One run of a graph, again and again. Keeps its runtime and its cost. Not to be destroyed in a body of its runtime. */
class job : public object<clo_job>
{
  public:
    /* By clo_job_create: by work stealing, or as `config` says. */
    job(const runtime &by, const cost &of, const clo_job_config &config = CLO_JOB_CONFIG_INIT)
    {
        make(by, of, config, nullptr);
    }
    /* Replays a plan, which is copied: config.plan is not looked at. */
    job(const runtime &by, const cost &of, const plan &plan, clo_job_config config = CLO_JOB_CONFIG_INIT)
    {
        config.plan = plan.get();
        why_ = lacking(plan);
        if (!plan && why_ == CLO_OK)
            why_ = CLO_ERR_ARGUMENT;
        if (!plan)
            (void)check(why_, "clo::job: the plan holds nothing");
        make(by, of, config, nullptr);
    }
    /* With a miss handler that is called with the const clo_miss &. It lives as long as the job, and must not throw. */
    template <class F> job(const runtime &by, const cost &of, clo_job_config config, F &&miss)
    {
        using handler = std::decay_t<F>;
        auto kept = std::make_shared<handler>(std::forward<F>(miss));
        config.miss = [](void *own, clo_job *, const clo_miss *what) { (*static_cast<handler *>(own))(*what); };
        config.miss_argument = kept.get();
        make(by, of, config, kept);
    }

    /* Starts a run, as clo_job_submit. */
    done submit()
    {
        return check(why_ == CLO_OK ? clo_job_submit(get()) : why_);
    }

    /* Waits for its end, as clo_job_wait. If a body threw: throws what it threw; every wait until the next submit does.
     * Otherwise a failure is a clo::error: CLO_ERR_TASK, CLO_ERR_CANCELLED, CLO_ERR_ABORTED ...
     *
     *   result  as clo_job_wait; filled also where this throws; may be NULL. */
    done wait(clo_job_result *result = nullptr)
    {
        clo_status status = why_ == CLO_OK ? clo_job_wait(get(), result) : why_;
        return status == CLO_OK ? check(CLO_OK) : fail(status);
    }

    /* The same, for at most `time`, as clo_job_wait_for. Returns CLO_OK, or CLO_ERR_TIMEOUT, which is no failure: the
     * job still runs. Without exceptions any other status, too. */
    clo_status wait_for(nanoseconds time, clo_job_result *result = nullptr)
    {
        clo_status status = why_ == CLO_OK ? clo_job_wait_for(get(), time.count(), result) : why_;
        if (status != CLO_OK && status != CLO_ERR_TIMEOUT)
            (void)fail(status);
        return status;
    }

    /* submit and wait. */
    done run(clo_job_result *result = nullptr)
    {
        clo_status status = why_ == CLO_OK ? clo_job_submit(get()) : why_;
        return status == CLO_OK ? wait(result) : check(status);
    }

    /* As clo_job_cancel. */
    void cancel() noexcept
    {
        clo_job_cancel(get());
    }

    /* As clo_job_timing_read. Without exceptions zeros where that fails. */
    clo_job_timing timing() const
    {
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        (void)check(clo_job_timing_read(get(), &timing));
        return timing;
    }

    /* The output of a task after a run, as clo_job_output. NULL, or an empty span: it was skipped. For a handle of
     * another graph, or no such instance: CLO_ERR_ARGUMENT; without exceptions NULL or an empty span. */
    template <class T> const T *output(const task<T> &of) const
    {
        return is_ours(of.graph, true) ? static_cast<const T *>(clo_job_output(get(), of.id, 0, nullptr)) : nullptr;
    }
    template <class T> span<const T> output(const array<T> &of) const
    {
        const void *at = is_ours(of.graph, true) ? clo_job_output(get(), of.id, 0, nullptr) : nullptr;
        return {static_cast<const T *>(at), at != nullptr ? of.size : 0};
    }
    template <class T> const T *output(const stage<T> &of, uint32_t instance) const
    {
        const void *at = is_ours(of.graph, instance < of.count)
                             ? clo_job_output(get(), of.id, instance / of.grain, nullptr)
                             : nullptr;
        return at != nullptr ? static_cast<const T *>(at) + instance % of.grain : nullptr;
    }
    /* The content of a data handle, as clo_job_data; likewise. */
    template <class T> span<const T> content(const data<T> &of) const
    {
        const void *at = is_ours(of.graph, true) ? clo_job_data(get(), of.id, nullptr) : nullptr;
        return {static_cast<const T *>(at), at != nullptr ? of.size : 0};
    }

  private:
    struct failure { /* what came out of the last wait */
        std::mutex lock;
        int code = 0;
        std::exception_ptr what;
    };
    std::shared_ptr<detail::store> graph_;
    std::unique_ptr<failure> failure_;

    void make(const runtime &by, const cost &of, const clo_job_config &config, std::shared_ptr<void> handler)
    {
        clo_job *made = nullptr;
        clo_status status = why_ != CLO_OK ? why_ : lacking(by, of);
        graph_ = of.graph_;
        failure_ = std::make_unique<failure>();
        if (status == CLO_OK)
            status = clo_job_create(by.get(), of.get(), &config, &made);
        (void)own(status, made, clo_job_destroy, held(of), held(by), std::move(handler));
    }
    bool is_ours(uint32_t number, bool is_there) const
    {
        bool is_good = own_ && graph_->number == number && is_there;
        if (!is_good)
            (void)check(CLO_ERR_ARGUMENT, "clo::job: no job, a handle of another graph, or no such instance");
        return is_good;
    }
    done fail(clo_status status)
    {
#if CLO_HAS_EXCEPTIONS
        clo_job_result result = CLO_JOB_RESULT_INIT;
        if (status != CLO_ERR_TASK || clo_job_wait_for(get(), 0, &result) != status)
            return check(status);
        std::exception_ptr what, old;
        {
            std::lock_guard<std::mutex> hold(failure_->lock);
            if (!failure_->what || failure_->code != result.failed_code) {
                old = std::exchange(failure_->what, graph_->take(result.failed_code, result.failed_task));
                failure_->code = result.failed_code;
            }
            what = failure_->what;
        }
        if (what)
            std::rethrow_exception(what);
        throw error(status, clo_last_error(), result.failed_task, result.failed_code);
#else
        return check(status);
#endif
    }
};

} // namespace CLO_NAMESPACE
} // namespace clo

#endif
