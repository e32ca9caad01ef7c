/* support.h - what every test includes: CMocka and a few helpers. */
#ifndef CLO_TEST_SUPPORT_H
#define CLO_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <clotho/clotho.h>

/* 1 in a build with a sanitizer, whose run-time library allocates, sleeps and takes signals for itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* 1 in a cross-build: an emulator runs the tests, twenty times as slowly and more. */
#ifndef EMULATED
#define EMULATED 0
#endif

/* Leaves a test that cannot run here. `./dev test` repeats at its end why, and what mends it. */
#define skip_because(why, mend)                              \
    do {                                                     \
        print_message("skipped: %s; mend: %s\n", why, mend); \
        skip();                                              \
    } while (0)

/* The same where the repository or its list of packages can provide what lacks: with CI in the environment, a
 * failure. */
#define skip_unless_ci(why, mend)                                         \
    do {                                                                  \
        if (getenv("CI") != NULL)                                         \
            fail_msg("%s; in CI this must be here; mend: %s", why, mend); \
        skip_because(why, mend);                                          \
    } while (0)

/* Name `index` of a registry of the library; NULL past the end. */
static inline const char *name_at(const char *registry, uint32_t index)
{
    clo_entry entry = CLO_ENTRY_INIT;

    return clo_registry_entry(registry, index, &entry) ? entry.name : NULL;
}

/* Built-in policy `index`; NULL past the end. */
static inline const clo_policy *policy_at(uint32_t index)
{
    return clo_policy_find(name_at("policies", index));
}

static inline uint32_t policies_count(void)
{
    uint32_t count = 0;

    while (policy_at(count) != NULL)
        count++;
    return count;
}

/* A call that must succeed; the failure text is shown. */
#define ok(call)                                                                         \
    do {                                                                                 \
        clo_status ok_status = (call);                                                   \
        if (ok_status != CLO_OK)                                                         \
            fail_msg("%s: %s: %s", #call, clo_status_text(ok_status), clo_last_error()); \
    } while (0)

/* A call that must fail with `want`, with an error line that contains `text` (may be ""). */
#define fails(want, text, call)                                                                  \
    do {                                                                                         \
        clo_status fails_status = (call);                                                        \
        if (fails_status != (want))                                                              \
            fail_msg("%s: got %s (%s)", #call, clo_status_text(fails_status), clo_last_error()); \
        if (strstr(clo_last_error(), (text)) == NULL)                                            \
            fail_msg("%s: '%s' lacks '%s'", #call, clo_last_error(), (text));                    \
    } while (0)

#endif
