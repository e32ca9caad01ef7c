/* outside_io.c - all three libraries: a graph from text, a planner by its name, the simulator, a picture's text. */
#include <clotho/clotho.h>

#include <stdio.h>
#include <string.h>

static const char text[] = "{\"format\": \"clotho.graph/1\", \"name\": \"pair\", \"tasks\": [{\"work_ns\": 9}, "
                           "{\"work_ns\": 9}], \"edges\": [{\"from\": 0, \"to\": 1}]}";

int main(void)
{
    clo_document *document = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_sim_config simulation = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    int exit_status = 1;

    config.planner = clo_planner_find("peft");
    if (clo_document_parse("pair.json", text, strlen(text), NULL, &document) != CLO_OK ||
        clo_platform_open("rk3588", &platform) != CLO_OK ||
        clo_cost_create(clo_document_graph(document), platform, &cost) != CLO_OK ||
        clo_plan_create(cost, &config, &plan) != CLO_OK)
        fprintf(stderr, "outside_io: %s\n", clo_last_error());
    else if (clo_simulate(cost, &simulation, &result, NULL, NULL) != CLO_OK)
        fprintf(stderr, "outside_io: %s\n", clo_last_error());
    else
        exit_status = strcmp(clo_plan_planner(plan), "peft") != 0;
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_document_destroy(document);
    return exit_status;
}
