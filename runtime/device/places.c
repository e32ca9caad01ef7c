/* places.c - see places.h. */
#include "device/places.h"

#include "base/status.h"

void clo_places_drop(clo_device *device)
{
    for (uint32_t i = 0; i < device->facts.depth && device->place_bytes > 0 && device->driver->release != NULL; i++)
        device->driver->release(device->opened, device->places[i].arena.arena);
    device->place_bytes = 0;
}

/* All places, or none. There are none before. */
static clo_status reserve_places(clo_device *device, size_t bytes)
{
    clo_status status = CLO_OK;
    uint32_t made = 0;

    for (; made < device->facts.depth && status == CLO_OK; made += status == CLO_OK)
        status = device->driver->reserve(device->opened, bytes, &device->places[made].arena);
    if (status == CLO_OK) {
        device->place_bytes = bytes;
        return CLO_OK;
    }
    while (made-- > 0 && device->driver->release != NULL)
        device->driver->release(device->opened, device->places[made].arena.arena);
    return status;
}

clo_status clo_places_make(clo_device *device, uint64_t bytes)
{
    uint32_t depth = device->facts.depth;

    if (bytes <= device->place_bytes)
        return CLO_OK;
    if (bytes > SIZE_MAX / depth || (device->facts.memory_bytes > 0 && bytes * depth > device->facts.memory_bytes))
        return clo_fail(CLO_ERR_LIMIT,
                        "%u executions of %llu bytes do not fit into device '%s', which has %llu; lower depth", depth,
                        (unsigned long long)bytes, device->facts.name, (unsigned long long)device->facts.memory_bytes);
    size_t before = device->place_bytes;
    clo_places_drop(device);
    clo_status status = reserve_places(device, (size_t)bytes);
    if (status != CLO_OK && before > 0) { /* what earlier graphs had */
        clo_fail_text kept;
        clo_fail_keep(&kept);
        (void)!reserve_places(device, before);
        clo_fail_put_back(&kept);
    }
    return status;
}
