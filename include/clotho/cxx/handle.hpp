/* cxx/handle.hpp - what clotho.hpp declares graphs with: handles of tasks and data, inputs of bodies, what a task is.
 *
 * Plain values that own nothing. Threads: any. Real time: yes, O(1); take_token and token::complete are as the calls of
 * token.h. */
#ifndef CLOTHO_CXX_HANDLE_HPP
#define CLOTHO_CXX_HANDLE_HPP

#include <clotho/cxx/error.hpp>
#include <clotho/handle.h>
#include <clotho/token.h>

#include <chrono>
#include <cstddef>
#include <type_traits>

namespace clo
{
inline namespace CLO_NAMESPACE
{
using std::chrono::nanoseconds;

/* A contiguous array that others own; a std::span can be made of it. */
template <class T> class span
{
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr bool empty() const noexcept
    {
        return size_ == 0;
    }
    constexpr T &operator[](std::size_t i) const
    {
        return data_[i];
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* What a body returns that may fail without an exception, or finish later (`clo::pending`, token.h). Codes below
 * INT32_MIN + 2^25 are the library's. */
struct outcome {
    int code;
};
inline constexpr outcome ok{0}, pending{CLO_PENDING};

/* The right to end a pending execution; plain values that may be copied. */
struct token {
    clo_token of;
    /* Returns true if this completion has ended the execution, as clo_token_complete. */
    bool complete(int code = 0) const noexcept
    {
        return clo_token_complete(of, code) == CLO_OK;
    }
};

/* In the body of a task that may_pend: its token. Without exceptions `complete` of what could not be had fails. */
inline token take_token(const clo_call &call, clo_cancel_fn cancel = nullptr, void *argument = nullptr)
{
    token taken{};
    (void)check(clo_token_take(&call, cancel, argument, &taken.of));
    return taken;
}

/* ---- handles: which task, of which graph ---- */

template <class T> struct task { /* its output is one T; void: none */
    using value = T;
    uint32_t id = CLO_NONE, graph = 0;
};
template <class T> struct array { /* its output is an array of T */
    using value = void;
    uint32_t id = CLO_NONE, graph = 0;
    std::size_t size = 0;
};
template <class T> struct stage { /* `count` instances, each with an output T (or void) */
    using value = T;
    uint32_t id = CLO_NONE, graph = 0;
    uint32_t count = 0, grain = 1;
};
template <class T> struct data { /* a buffer of `size` T that tasks use in place (handle.h) */
    uint32_t id = CLO_NONE, graph = 0;
    std::size_t size = 0;
};

/* The outputs of a stage, as the body of another task sees them. */
template <class T> class outputs
{
  public:
    outputs(const void *const *ranges, const stage<T> &of) noexcept : ranges_(ranges), of_(of)
    {
    }
    uint32_t size() const noexcept
    {
        return of_.count;
    }
    const T &operator[](uint32_t i) const
    {
        return static_cast<const T *>(ranges_[i / of_.grain])[i % of_.grain];
    }

  private:
    const void *const *ranges_;
    stage<T> of_;
};

/* Inputs that are no plain handles.
 *   after                order alone: the body gets no argument.
 *   maybe                the body gets const T *, which is NULL if the edge is dead (branch.h).
 *   read, write, update  the body gets span<const T> or span<T>; with is_in_parts instance i of n gets part i of n parts
 *                        of the buffer, whose elements are a multiple of n. */
template <class H> struct order {
    H of;
};
template <class T> struct uncertain {
    task<T> of;
};
template <class T> struct use {
    data<std::remove_const_t<T>> of;
    uint32_t mode;
};
namespace detail
{
constexpr uint32_t mode(uint32_t access, bool is_in_parts)
{
    return is_in_parts ? access | uint32_t{CLO_ACCESS_PARTS} : access;
}
} // namespace detail
template <class H> order<H> after(const H &of)
{
    return {of};
}
template <class T> uncertain<T> maybe(const task<T> &of)
{
    return {of};
}
template <class T> use<const T> read(const data<T> &of, bool is_in_parts = false)
{
    return {of, detail::mode(CLO_ACCESS_READ, is_in_parts)};
}
template <class T> use<T> write(const data<T> &of, bool is_in_parts = false)
{
    return {of, detail::mode(CLO_ACCESS_WRITE, is_in_parts)};
}
template <class T> use<T> update(const data<T> &of, bool is_in_parts = false)
{
    return {of, detail::mode(CLO_ACCESS_UPDATE, is_in_parts)};
}

/* What a task is besides its body: a clo_task in parts. A name alone will do; it is copied when the task is added. */
class about
{
  public:
    about(const char *name = nullptr, nanoseconds work = nanoseconds(0)) : task_()
    {
        task_.name = name;
        task_.work_ns = work.count();
    }
    about &grain(uint32_t instances)
    {
        return task_.grain = instances, *this;
    }
    about &kind(uint16_t task_class)
    {
        return task_.task_class = task_class, *this;
    }
    about &duplicable()
    {
        return task_.duplicable = 1, *this;
    }
    about &may_pend()
    {
        return task_.may_pend = 1, *this;
    }
    about &executors(uint64_t mask)
    {
        return task_.executors_mask = mask, *this;
    }
    /* resource: below CLO_RESOURCES_MAX; any other is refused by graph::add. */
    about &demand(uint32_t resource, int64_t amount)
    {
        return task_.demand[resource < CLO_RESOURCES_MAX ? resource : 0] = resource < CLO_RESOURCES_MAX ? amount : -1,
                                                                      *this;
    }
    const clo_task &get() const noexcept
    {
        return task_;
    }

  private:
    clo_task task_;
};

} // namespace CLO_NAMESPACE
} // namespace clo

#endif
