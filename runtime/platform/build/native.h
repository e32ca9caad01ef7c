/* platform/build/native.h - this machine as the text of a platform file. */
#ifndef CLO_PLATFORM_BUILD_NATIVE_H
#define CLO_PLATFORM_BUILD_NATIVE_H

#include <clotho/status.h>
#include <stddef.h>

/* The text of this machine, as a platform that is called `name`; release with clo_free. Returns CLO_OK,
 * CLO_ERR_PLATFORM, CLO_ERR_SYSTEM or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_native_text(const char *name, char **xml, size_t *bytes);

#endif
