/* cxx/error.hpp - how calls of clotho.hpp report a failure: clo::error, or a status. */
#ifndef CLOTHO_CXX_ERROR_HPP
#define CLOTHO_CXX_ERROR_HPP

#include <clotho/graph.h>

#include <stdexcept>

/* 0: compiled with -fno-exceptions, or CLO_NO_EXCEPTIONS was defined. The names of the two are different ones for the
 * linker, so that both may be linked together. */
#if defined(__cpp_exceptions) && !defined(CLO_NO_EXCEPTIONS)
#define CLO_HAS_EXCEPTIONS 1
#define CLO_NAMESPACE with_exceptions
#else
#define CLO_HAS_EXCEPTIONS 0
#define CLO_NAMESPACE without_exceptions
#endif

namespace clo
{
inline namespace CLO_NAMESPACE
{
#if CLO_HAS_EXCEPTIONS
/* A call has failed. what() is the line of clo_last_error, or what this header says. */
class error : public std::runtime_error
{
  public:
    explicit error(clo_status status, const char *text = clo_last_error(), uint32_t task = CLO_NONE, int code = 0)
        : std::runtime_error(text[0] != '\0' ? text : clo_status_text(status)), status_(status), task_(task),
          code_(code)
    {
    }
    clo_status status() const noexcept
    {
        return status_;
    }
    /* Of CLO_ERR_TASK: clo_job_result.failed_task and failed_code; else CLO_NONE and 0. */
    uint32_t task() const noexcept
    {
        return task_;
    }
    int code() const noexcept
    {
        return code_;
    }

  private:
    clo_status status_;
    uint32_t task_;
    int code_;
};

/* What a call that makes nothing returns: nothing, as it throws clo::error. Without exceptions: its clo_status. */
using done = void;

/* The status of a C call, as the calls of this header report it. */
inline done check(clo_status status)
{
    if (status != CLO_OK)
        throw error(status);
}
inline done check(clo_status status, const char *text)
{
    if (status != CLO_OK)
        throw error(status, text);
}
#else
struct [[nodiscard]] done {
    clo_status status;
    operator clo_status() const noexcept
    {
        return status;
    }
};
inline done check(clo_status status, const char * = nullptr)
{
    return {status};
}
#endif

} // namespace CLO_NAMESPACE
} // namespace clo

#endif
