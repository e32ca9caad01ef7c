/* places.c - see places.h. */
#include "device/places.h"

#include "base/status.h"
#include "device/kernel.h"

#include <string.h>

/* The operands of a call, without places. */
static bool find_views(const clo_request *request, clo_place *out)
{
    out->operands = clo_kernel_operands(request->kernel, &request->call);
    if (out->operands > CLO_KERNEL_OPERANDS_MAX)
        return false;
    for (uint32_t i = 0; i < out->operands; i++)
        if (!clo_kernel_operand(request->kernel, &request->call, i, &out->views[i]))
            return false;
    return true;
}

static bool is_same(const clo_place *place, uint32_t had, const clo_operand_view *view)
{
    const clo_operand_view *old = &place->views[had];

    return (view->mode & CLO_ACCESS_READ) && view->bytes > 0 && view->address == old->address &&
           view->bytes == old->bytes &&
           memcmp(view->address, (const char *)place->arena.host + place->offsets[had], view->bytes) == 0;
}

/* Which of the wanted operands the place has, and where; each of its own serves one. Returns their bytes. */
static size_t match(const clo_place *place, clo_place *wanted)
{
    bool is_used[CLO_KERNEL_OPERANDS_MAX] = {false};
    size_t bytes = 0;

    for (uint32_t i = 0; i < wanted->operands; i++) {
        wanted->is_kept[i] = false;
        for (uint32_t had = 0; place->is_full && had < place->operands && !wanted->is_kept[i]; had++) {
            if (is_used[had] || !is_same(place, had, &wanted->views[i]))
                continue;
            is_used[had] = wanted->is_kept[i] = true;
            wanted->offsets[i] = place->offsets[had];
            bytes += wanted->views[i].bytes;
        }
    }
    return bytes;
}

/* The first place from `at` on where operand `index` overlaps none of those that are kept and none before it. */
static size_t first_fit(const clo_place *wanted, uint32_t index, size_t at)
{
    size_t room = clo_operand_room(wanted->views[index].bytes);

    for (uint32_t i = 0; i < wanted->operands; i++) {
        size_t end = wanted->offsets[i] + clo_operand_room(wanted->views[i].bytes);
        bool stands = i < index || wanted->is_kept[i];
        if (i == index || !stands || at >= end || at + room <= wanted->offsets[i])
            continue;
        at = end;
        i = CLO_NONE; /* again from the first: `at` grows each time, over at most all operands */
    }
    return at;
}

/* Offsets of what is not kept. False: there is too little room. */
static bool lay_out(clo_place *wanted, size_t place_bytes)
{
    for (uint32_t i = 0; i < wanted->operands; i++) {
        if (!wanted->is_kept[i])
            wanted->offsets[i] = first_fit(wanted, i, 0);
        if (clo_operand_room(wanted->views[i].bytes) > place_bytes ||
            wanted->offsets[i] > place_bytes - clo_operand_room(wanted->views[i].bytes))
            return false;
    }
    return true;
}

uint32_t clo_places_choose(clo_device *device, const clo_request *request)
{
    uint32_t best = CLO_NONE, matched = CLO_NONE;
    size_t most = 0;
    clo_place wanted = {0};

    if (device->place_bytes == 0 || !find_views(request, &wanted))
        return CLO_NONE;
    for (uint32_t p = 0; p < device->facts.depth; p++) {
        const clo_place *place = &device->places[p];
        if (place->request != NULL)
            continue;
        size_t bytes = match(place, &wanted);
        matched = p;
        if (best != CLO_NONE && bytes <= most)
            continue;
        best = p;
        most = bytes;
    }
    clo_place *place = &device->places[best];
    if (matched != best) /* what it compares may be large */
        (void)match(place, &wanted);
    if (!lay_out(&wanted, device->place_bytes)) {
        memset(wanted.is_kept, 0, sizeof wanted.is_kept);
        if (!lay_out(&wanted, device->place_bytes))
            return CLO_NONE;
    }
    place->operands = wanted.operands;
    place->is_full = false;
    memcpy(place->views, wanted.views, sizeof place->views);
    memcpy(place->offsets, wanted.offsets, sizeof place->offsets);
    memcpy(place->is_kept, wanted.is_kept, sizeof place->is_kept);
    return best;
}

void clo_places_drop(clo_device *device)
{
    for (uint32_t i = 0; i < device->facts.depth; i++)
        device->places[i].is_full = false;
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
