/* drivers.c - the drivers of this library, by name. A new one is a file like drivers/null.c and a row here. */
#include "device/registry.h"

#include "base/status.h"
#include "device/drivers/drivers.h"

#include <string.h>

static const clo_driver *const drivers[] = {
    &clo_driver_null,
#ifdef CLO_HAS_OPENCL
    &clo_driver_opencl,
#endif
    NULL,
};

CLO_REGISTRY_ROW(clo_driver);

static bool is_usable(const void *row)
{
    const clo_driver *driver = row;

    return driver->is_usable == NULL || driver->is_usable();
}

const clo_registry clo_drivers = {.name = "drivers", .rows = drivers, .is_used = is_usable};

const clo_driver *clo_driver_find(const char *name)
{
    for (const clo_driver *const *d = drivers; *d != NULL && name != NULL; d++)
        if (strcmp((*d)->name, name) == 0)
            return *d;
    if (name == NULL)
        (void)clo_fail_null("clo_driver_find", "name");
    else
        (void)clo_fail(CLO_ERR_ARGUMENT, "unknown driver '%.100s'; `clotho list drivers` shows their names", name);
    return NULL;
}
