/* native.c - this machine: hwloc writes it as XML, and our reader reads that. Apart from open.c, so that a program that
 * wants nothing else is linked without the files below platforms/. */
#include "platform/build/native.h"
#include "base/memory.h"
#include "base/status.h"
#include "platform/build/build.h"
#include "platform/build/discover.h"

clo_status clo_native_text(const char *name, char **xml, size_t *bytes)
{
    clo_native *native;
    char here[256];
    clo_status status = clo_native_open(&native);

    if (status != CLO_OK)
        return status;
    clo_native_describe(here, sizeof here);
    status = clo_native_add_info(native, -1, "clotho.schema", "1");
    if (status == CLO_OK)
        status = clo_native_add_info(native, -1, "clotho.platform", name);
    if (status == CLO_OK)
        status = clo_native_add_info(native, -1, "clotho.summary", here);
    if (status == CLO_OK)
        status = clo_native_add_info(native, -1, "clotho.machine", here);
    if (status == CLO_OK)
        status = clo_native_add_info(native, -1, "clotho.coherent", "1");
    if (status == CLO_OK)
        status = clo_native_export(native, xml, bytes);
    clo_native_close(native);
    return status;
}

clo_status clo_platform_native(clo_platform **out)
{
    char *xml;
    size_t bytes;

    if (out == NULL)
        return clo_fail_null("clo_platform_native", "out");
    clo_status status = clo_native_text("native", &xml, &bytes);

    if (status != CLO_OK)
        return status;
    status = clo_platform_parse("native", xml, bytes, out);
    clo_free(xml);
    return status;
}
