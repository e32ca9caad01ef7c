/* platform/build/extend.h - this machine with accelerators of a platform file. */
#ifndef CLO_PLATFORM_BUILD_EXTEND_H
#define CLO_PLATFORM_BUILD_EXTEND_H

#include <clotho/platform.h>

/* As clo_platform_native, and then the accelerators of the platform file whose text is in data[bytes]; `file` names it in
 * error lines. Each of them must have clotho.slots: what runs on it is a body that finishes later (clotho/token.h).
 * Returns as clo_platform_native and clo_platform_parse. */
CLO_NODISCARD clo_status clo_platform_extend_native(const char *file, const char *data, size_t bytes,
                                                    clo_platform **out);

#endif
