/* read.c - reads the own format, "clotho.graph/1" (docs/FORMATS.md). Strict: an unknown key is an error, since a
 * misspelt "work_ns" would silently change every plan. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/clotho/loop.h"
#include "io/clotho/task.h"

#include <string.h>

static clo_status read_handle(clo_clotho_source *s, const cJSON *object)
{
    static const char *const known[] = {"name", "bytes", "kept", NULL};
    clo_handle handle = {0};
    const cJSON *item;
    bool kept = false;
    uint32_t id = 0;
    clo_status status = clo_json_keys(s->json, object, known);

    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "name", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_json_text(s->json, item, &handle.name);
    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "bytes", true, &item);
    if (status == CLO_OK)
        status = clo_reader_bytes(s->reader, s->json, item, 1, &handle.bytes);
    if (status == CLO_OK)
        status = clo_json_get_boolean(s->json, object, "kept", &kept);
    handle.kept = kept;
    if (status == CLO_OK)
        status = clo_json_place(s->json, object, clo_graph_add_handle(s->reader->graph, &handle, &id));
    if (status == CLO_OK && handle.name != NULL && clo_names_add(&s->handles, handle.name, id) != 0)
        return clo_fail_memory(s->json->file);
    return status;
}

static clo_status read_handles(clo_clotho_source *s)
{
    const cJSON *list, *item;
    clo_status status = clo_json_get_array(s->json, s->json->root, "handles", false, &list);

    if (status != CLO_OK || list == NULL)
        return status;
    cJSON_ArrayForEach (item, list)
        if ((status = read_handle(s, item)) != CLO_OK)
            return status;
    return CLO_OK;
}

static clo_status read_kinds(clo_clotho_source *s)
{
    const cJSON *item;
    const char *name;
    uint32_t kind, count = 0;
    clo_status status = clo_json_get_array(s->json, s->json->root, "kinds", false, &s->kinds);

    if (status != CLO_OK || s->kinds == NULL)
        return status;
    cJSON_ArrayForEach (item, s->kinds) {
        status = clo_json_text(s->json, item, &name);
        if (status == CLO_OK)
            status = clo_json_place(s->json, item, clo_graph_kind(s->reader->graph, name, &kind));
        if (status == CLO_OK && kind != count++)
            status = clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is there twice; remove one");
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

/* Names of the resources by index; null leaves one unnamed. */
static clo_status read_resources(const clo_clotho_source *s)
{
    const cJSON *list, *item;
    const char *name;
    uint32_t index = 0;
    clo_status status = clo_json_get_array(s->json, s->json->root, "resources", false, &list);

    if (status != CLO_OK || list == NULL)
        return status;
    cJSON_ArrayForEach (item, list) {
        if (index == CLO_RESOURCES_MAX)
            return clo_json_fail(s->json, CLO_ERR_LIMIT, item, "is one too many; there are at most %d resources",
                                 CLO_RESOURCES_MAX);
        uint32_t r = index++;
        if (cJSON_IsNull(item))
            continue;
        if ((status = clo_json_text(s->json, item, &name)) != CLO_OK)
            return status;
        for (uint32_t k = 0; k < r; k++)
            if (clo_graph_resource_name(s->reader->graph, k) != NULL &&
                strcmp(clo_graph_resource_name(s->reader->graph, k), name) == 0)
                return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is there twice; remove one");
        if ((status = clo_json_place(s->json, item, clo_graph_set_resource(s->reader->graph, r, name))) != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_head(clo_clotho_source *s)
{
    static const char *const known[] = {"format", "name",  "description", "unit_ns", "kinds", "resources",
                                        "tasks",  "edges", "platform",    "handles", "loops", NULL};
    const char *name = NULL;
    const cJSON *item;
    clo_status status = clo_json_keys(s->json, s->json->root, known);

    if (status == CLO_OK)
        status = clo_json_get(s->json, s->json->root, "format", true, &item); /* known; but is it there twice? */
    if (status == CLO_OK)
        status = clo_json_get(s->json, s->json->root, "name", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_json_text(s->json, item, &name);
    if (status == CLO_OK)
        status = clo_json_get(s->json, s->json->root, "unit_ns", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_json_number(s->json, item, &s->reader->unit_ns);
    if (status == CLO_OK && item != NULL && !(s->reader->unit_ns > 0))
        status = clo_json_want(s->json, item, "a number > 0");
    if (status == CLO_OK)
        status = clo_graph_create(name, &s->reader->graph);
    if (status == CLO_OK)
        status = read_kinds(s);
    if (status == CLO_OK)
        status = read_resources(s);
    return status == CLO_OK ? read_handles(s) : status;
}

clo_status clo_clotho_read(clo_reader *reader, const clo_json *json)
{
    clo_clotho_source s = {.reader = reader, .json = json};
    const cJSON *platform;

    reader->format = "clotho.graph/1";
    reader->unit_ns = 1;
    clo_status status = read_head(&s);
    if (status == CLO_OK)
        status = clo_clotho_read_tasks(&s, json->root);
    if (status == CLO_OK)
        status = clo_clotho_read_loops(&s);
    if (status == CLO_OK)
        status = clo_clotho_read_edges(&s, json->root);
    clo_clotho_source_close(&s);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "platform", false, &platform);
    if (status == CLO_OK && platform != NULL)
        status = clo_platform_read(json, platform, &reader->platform);
    return status;
}
