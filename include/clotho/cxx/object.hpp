/* cxx/object.hpp - what all objects of clotho.hpp have: get, status, moves, and what they keep alive. */
#ifndef CLOTHO_CXX_OBJECT_HPP
#define CLOTHO_CXX_OBJECT_HPP

#include <clotho/cxx/body.hpp>

namespace clo
{
inline namespace CLO_NAMESPACE
{
/* What all objects have. */
template <class T> class object
{
  public:
    /* The C object; NULL: nothing is held. */
    auto get() const noexcept
    {
        if constexpr (std::is_same_v<T, detail::store>)
            return own_ ? own_->graph : nullptr;
        else
            return own_.get();
    }
    explicit operator bool() const noexcept
    {
        return own_ != nullptr;
    }
    /* CLO_OK, or why there is no object (without exceptions), or that a declaration of the graph has failed. */
    clo_status status() const noexcept
    {
        return own_ || why_ != CLO_OK ? why_ : CLO_ERR_ARGUMENT;
    }

  protected:
    object() = default;
    object(object &&other) noexcept : own_(std::move(other.own_)), why_(std::exchange(other.why_, CLO_OK))
    {
    }
    object &operator=(object &&other) noexcept
    {
        std::shared_ptr<T> old = std::exchange(own_, std::move(other.own_)); /* destroyed once this object is whole */
        why_ = std::exchange(other.why_, CLO_OK);
        return *this;
    }
    ~object() = default;

    template <class... Keep> struct ending { /* destroys the object, and then lets go what it needed */
        void (*destroy)(T *);
        std::tuple<Keep...> keep;
        void operator()(T *what) const
        {
            destroy(what);
        }
    };
    /* Takes over what a C call has made. */
    template <class... Keep> done own(clo_status status, T *made, void (*destroy)(T *), Keep... keep)
    {
        why_ = status;
        if (status == CLO_OK)
            own_ = std::shared_ptr<T>(made, ending<Keep...>{destroy, {std::move(keep)...}});
        return check(status);
    }
    /* Why something could not be made of `others`; CLO_OK: ask the C call. */
    template <class... O> static clo_status lacking(const O &...others)
    {
        clo_status first = CLO_OK;
        ((first = first == CLO_OK ? others.why_ : first), ...);
        return first;
    }
    template <class O> static auto held(const O &other)
    {
        return other.own_;
    }
    template <class> friend class object;

    std::shared_ptr<T> own_;
    clo_status why_ = CLO_OK;
};

} // namespace CLO_NAMESPACE
} // namespace clo

#endif
