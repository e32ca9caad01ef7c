/* scene_list.c - all scenes, in the order in which they are played. */
#include "online/scenes.h"

const scene *const online_scenes[] = {
    &online_decima_batch,           &online_decima_stream,    &online_lachesis_stream,        &online_graphene_tpch,
    &online_graphene_tpch_batch,    &online_graphene_alibaba, &online_graphene_alibaba_batch, &online_graphene_cluster,
    &online_graphene_cluster_batch, &online_memory_tpch,      &online_memory_alibaba,         NULL};
