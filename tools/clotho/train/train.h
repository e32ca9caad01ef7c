/* train.h - `clotho train`: its options, and what is trained. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_TRAIN_H
#define CLO_TOOLS_CLOTHO_TRAIN_TRAIN_H

#include "clotho/common/options.h"
#include "clotho/common/report.h"
#include "train/search/seeds.h"
#include "train/trainer/trainer.h"

typedef struct train_options {
    const char *policy, *spec, *environment, *arrivals, *goal, *baseline, *start, *checkpoint, *output, *deadlines;
    option_list scenes; /* SPEC/JOBS/ARRIVALS, in place of spec, jobs and arrivals */
    uint32_t jobs, generations, population, seeds_each, threads; /* threads 0: as many as CPUs */
    seed_list seeds, validation;
    uint64_t seed;
    double scale;
    bool as_json;
} train_options;

/* Reads the list of seeds of option `name`. Returns EXIT_GOOD, or an exit code after an error line: it is no list, or
 * holds seeds of tests. */
int train_read_list(const char *name, const char *text, seed_list *out);

/* Reads --seeds, --validation and --compare (NULL: it was not given). Returns EXIT_GOOD, or an exit code after an error
 * line: one is no list, holds seeds of tests, or they share seeds. */
typedef struct train_seeds {
    const char *seeds, *validation, *compare;
} train_seeds;
int train_read_seeds(const train_seeds *texts, seed_list *training, seed_list *judging, seed_list *aside);

/* Options that all trainings have. */
typedef struct train_shared {
    uint64_t *seed;
    uint32_t *threads;
    const char **checkpoint, **output;
    bool *as_json;
} train_shared;

/* As options_parse, with the rows of the shared options behind a training's own. */
int train_parse(const command *cmd, const option_spec *own, size_t own_count, const train_shared *shared, int argc,
                char **argv, char ***operands, int *count);

/* Returns EXIT_GOOD, or an exit code after an error line: a model cannot have that name. */
int train_check_name(const char *name);

/* All jobs of all files in one workload, without their arrivals; `loaded`, [count], owns the graphs. The caller destroys
 * what was made in any case. Returns EXIT_GOOD, or an exit code after an error line. */
int train_load_jobs(char *const *paths, int count, double scale, clo_workload **loaded, clo_workload **jobs);

/* Of the decisions among four candidates or more without ties, the share in which the integers of a model must choose
 * as real numbers do, in percent; and how much worse they may make the objective, as a share. */
#define TRAIN_AGREE_LEAST 99.0
#define TRAIN_CHANGE_MOST 0.002

/* Draws the learning curve into a file. Returns an exit code, after an error line where it is not EXIT_GOOD. */
int train_write_curve(const train_point *points, uint32_t count, const char *title, const char *path);

/* Returns an exit code. */
int train_parametric(const char *path, const train_options *options);

/* Actions of `clotho train`: argv[0] is the action's name. */
int train_decima(int argc, char **argv);
int train_easy_residual(int argc, char **argv);
int train_decima_network(int argc, char **argv);
int train_edges(int argc, char **argv);
int train_lachesis(int argc, char **argv);

#endif
