/* builder.c - see builder.h. */
#include "platform/build/builder.h"

#include "platform/file/parse.h"

uint32_t clo_build_nearest(const clo_topology *t, uint32_t object, clo_object_type type)
{
    while (object != CLO_NONE && t->objects[object].type != type)
        object = t->objects[object].parent;
    return object;
}

uint32_t clo_build_nodes(const clo_builder *b, uint32_t e, uint32_t nodes[CLO_BUILD_NODES_MAX])
{
    const clo_topology *t = b->t;
    uint32_t count = 0;

    nodes[count++] = t->objects[b->object[e]].node;
    if (b->pu[e] == CLO_NONE)
        return count;
    if (b->core_object[b->pu[e]] != b->object[e])
        nodes[count++] = t->objects[b->core_object[b->pu[e]]].node;
    if (t->kind_of_pu[b->pu[e]] != CLO_NONE)
        nodes[count++] = t->kinds[t->kind_of_pu[b->pu[e]]];
    return count;
}

const char *clo_build_key(const clo_builder *b, uint32_t e, const char *key)
{
    uint32_t nodes[CLO_BUILD_NODES_MAX], count = clo_build_nodes(b, e, nodes);
    const char *value = NULL;

    for (uint32_t i = 0; i < count && value == NULL; i++)
        value = clo_topology_info(b->t, nodes[i], key);
    return value;
}

bool clo_build_number(const clo_builder *b, uint32_t e, const char *key, uint64_t max, uint64_t *out)
{
    const char *value = clo_build_key(b, e, key);

    return value != NULL && clo_parse_u64(value, max, out);
}
