/* random_scene.h - a random graph, a random platform that can run it, and the cost of both. */
#ifndef CLO_TEST_RANDOM_SCENE_H
#define CLO_TEST_RANDOM_SCENE_H

#include "support.h"

#include "random.h"

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} scene;

static inline scene make_scene(uint64_t seed, unsigned features)
{
    scene s = {.graph = random_graph(seed, features), .platform = random_platform(seed, features)};

    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    return s;
}

static inline void drop_scene(scene *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

#endif
