/* pylot.c - the dataflow graph of Pylot, an autonomous-driving pipeline: 17 operators from cameras, lidar and
 * positioning to the control of the car, 23 edges, one run for each frame.
 *
 * The operators' times were measured on the real pipeline (callbacks of 553 frames; origin: the simulator of the ERDOS
 * project, MIT licence) and are replayed frame by frame, all multiplied by one scale, by bodies that compute until
 * their time is over. Without the file of measurements every frame takes the medians. */
#define _POSIX_C_SOURCE 200809L
#include "pylot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPERATORS = 17, FRAMES_MAX = 4096 };
enum { OPTION_SCALE };

/* In topological order, with the median time of a frame. */
static const struct {
    const char *name;
    int64_t median_us;
} operators[OPERATORS] = {{"gnss_operator", 442},
                          {"imu_operator", 481},
                          {"front_center_lidar_operator", 1576},
                          {"center_camera_operator", 31185},
                          {"traffic_light_camera_operator", 31092},
                          {"localization_operator", 1786},
                          {"faster_rcnn", 84366},
                          {"lanenet_lane_detection", 167266},
                          {"traffic_light_detector_operator", 93575},
                          {"behavior_planning", 543},
                          {"tracker_sort", 2468},
                          {"traffic_light_camera_location_finder_operator", 1374},
                          {"center_camera_location_finder_history_operator", 3900},
                          {"linear_prediction_operator", 452},
                          {"planning_operator", 145558},
                          {"pid_control_operator", 1172},
                          {"simulator_bridge_operator", 79159}};

static const uint32_t edges[][2] = {{0, 5},  {1, 5},   {2, 11},  {2, 12},  {3, 6},   {3, 7},   {3, 10}, {4, 8},
                                    {5, 11}, {5, 12},  {5, 9},   {5, 14},  {5, 15},  {6, 10},  {7, 14}, {8, 11},
                                    {9, 14}, {10, 12}, {11, 14}, {12, 13}, {13, 14}, {14, 15}, {15, 16}};

typedef struct pylot pylot;

typedef struct step {
    pylot *owner;
    uint32_t index;
    uint32_t frame; /* the next one; only this operator's body touches it */
    uint64_t state; /* what it computes */
} step;

struct pylot {
    step steps[OPERATORS];
    uint32_t frames;
    int64_t *duration_us; /* [frames][OPERATORS] */
    double scale;
    uint64_t check;
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int run_operator(const clo_call *call)
{
    step *s = call->argument;
    const pylot *p = s->owner;
    double us = (double)p->duration_us[(uint64_t)(s->frame++ % p->frames) * OPERATORS + s->index];
    int64_t end_ns = now_ns() + (int64_t)(us * 1000 * p->scale);

    do
        s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    while (now_ns() < end_ns);
    return 0;
}

/* "operator.callback,frame,moment,microseconds" */
static bool read_line(pylot *p, char *line, int64_t *first_frame)
{
    char *frame_text = strchr(line, ','), *moment = frame_text != NULL ? strchr(frame_text + 1, ',') : NULL;
    char *us_text = moment != NULL ? strchr(moment + 1, ',') : NULL, *end;

    if (us_text == NULL)
        return false;
    int64_t frame = strtoll(frame_text + 1, &end, 10), us = strtoll(us_text + 1, NULL, 10);
    if (end == frame_text + 1)
        return false; /* the header */
    *frame_text = '\0';
    line[strcspn(line, ".")] = '\0';
    if (*first_frame < 0)
        *first_frame = frame;
    int64_t index = (frame - *first_frame) / 50; /* frames come 50 simulated milliseconds apart */
    if (index < 0 || index >= FRAMES_MAX)
        return false;
    for (uint32_t i = 0; i < OPERATORS; i++)
        if (strcmp(line, operators[i].name) == 0) {
            p->duration_us[index * OPERATORS + i] += us;
            if (index >= p->frames)
                p->frames = (uint32_t)index + 1;
        }
    return true;
}

static void read_measurements(pylot *p, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    int64_t first_frame = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        (void)read_line(p, line, &first_frame);
    if (file != NULL)
        fclose(file);
    if (p->frames == 0)
        p->frames = 1;
    for (uint32_t i = 0; i < p->frames * OPERATORS; i++) /* what a frame lacks */
        if (p->duration_us[i] == 0)
            p->duration_us[i] = operators[i % OPERATORS].median_us;
}

static const char *pylot_open(application *app)
{
    pylot *p = calloc(1, sizeof *p);

    app->data = p;
    if (p == NULL || (p->duration_us = calloc((size_t)FRAMES_MAX * OPERATORS, sizeof *p->duration_us)) == NULL)
        return "out of memory";
    p->scale = (double)app->options[OPTION_SCALE].value / 1e6;
    for (uint32_t i = 0; i < OPERATORS; i++)
        p->steps[i] = (step){.owner = p, .index = i};
    const char *path = getenv("PYLOT_CALLBACKS");
    read_measurements(p, path != NULL ? path : "../shared/data/pylot_av/pylot_callbacks.csv");
    return NULL;
}

static void pylot_close(application *app)
{
    pylot *p = app->data;

    if (p != NULL)
        free(p->duration_us);
    free(p);
    app->data = NULL;
}

static void pylot_build(application *app, application_graph *graph)
{
    pylot *p = app->data;

    for (uint32_t i = 0; i < OPERATORS; i++)
        application_add_task(graph, i,
                             &(clo_task){.name = operators[i].name, .body = run_operator, .argument = &p->steps[i]});
    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++)
        application_add_edge(graph, edges[e][0], edges[e][1], 0);
}

/* Right if every operator has seen as many frames as every other: none was left out or run twice. */
static bool pylot_check(application *app, char *line, char *json, size_t bytes)
{
    const pylot *p = app->data;
    bool is_right = true;

    for (uint32_t i = 0; i < OPERATORS; i++)
        is_right = is_right && p->steps[i].frame == p->steps[0].frame;
    snprintf(line, bytes, "%" PRIu32 " frames through %d operators: %s", p->steps[0].frame, OPERATORS,
             is_right ? "all alike" : "NOT ALIKE");
    snprintf(json, bytes, "\"frames\": %" PRIu32 ", \"frames_measured\": %" PRIu32, p->steps[0].frame, p->frames);
    return is_right;
}

void pylot_describe(application *app, application_option *options)
{
    static const char *kernels[OPERATORS];

    for (uint32_t i = 0; i < OPERATORS; i++)
        kernels[i] = operators[i].name;
    options[OPTION_SCALE] = (application_option){.name = "scale",
                                                 .help = "millionths of the measured times",
                                                 .value = 2000,
                                                 .quick_value = 500,
                                                 .low = 1,
                                                 .high = 1000000};
    *app = (application){.name = "pipeline pylot",
                         .summary = "an autonomous-driving pipeline at a fixed rate",
                         .kernels = kernels,
                         .kernels_count = OPERATORS,
                         .options = options,
                         .options_count = PYLOT_OPTIONS,
                         .open = pylot_open,
                         .close = pylot_close,
                         .build = pylot_build,
                         .check = pylot_check};
}
