/* input.h - what most verbs begin with: a graph file, a platform, and the cost of the one on the other. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_INPUT_H
#define CLO_TOOLS_CLOTHO_COMMON_INPUT_H

#include "clotho/common/json.h"
#include "clotho/common/report.h"

#include <clotho/memory.h>

typedef struct input_config {
    const char *spec;     /* platform; NULL: the file's own if it has one, else native */
    const char *body;     /* for tasks that name none; may be NULL                     */
    const char *instance; /* of a file with many; may be NULL                          */
    double scale;         /* of times and bytes                                        */
    bool strict;          /* what is worth a warning is an error                       */
    const char *profile;  /* file of measured times; NULL: none                        */
    bool foreign;         /* the profile may be of another machine                     */
} input_config;

/* Of a file with many instances, `document` and `cost` are those of the last one that was read. */
typedef struct input {
    const char *path;
    const input_config *config;
    clo_documents *documents;     /* NULL: one instance, which is read */
    size_t count;                 /* instances in the file             */
    char place[512];              /* for error lines: the file, with the line where it has many instances */
    clo_document *document;       /* NULL: none is read */
    clo_platform *opened;         /* owned; NULL where the file's own platform is used */
    const clo_platform *platform; /* the one in use                                    */
    clo_profile *profile;         /* owned; NULL: none                                 */
    clo_measured measured;        /* of `cost`, with a profile                         */
    clo_cost *cost;
} input;

/* For help texts: the options that set input_config.profile and input_config.foreign. */
#define INPUT_PROFILE_HELP "measured times in place of those of the graph (see 'clotho profile')"
#define INPUT_FOREIGN_HELP "with --profile: take times that were measured on another machine, too"

/* Some entry has a memory part: its times are of tasks that were alone. */
bool input_has_parts(const clo_profile *profile);

/* Of a file without memory parts, whose times meet some with. */
void input_warn_together(const char *path);

/* Refuses a profile with memory parts, of which more is to be learned where tasks are not alone. */
int input_check_alone(const clo_profile *profile, const char *path);

/* The cost of a graph on the platform in use: with the times of the profile, where there is one. `measured` receives
 * what was found of them; may be NULL. */
clo_status input_cost(const input *in, const clo_graph *graph, clo_measured *measured, clo_cost **out);

/* For help texts: the option that sets input_config.strict. */
#define INPUT_STRICT_HELP "a kind of the graph that the platform lacks is an error, not a warning"

/* Loads the graph at `path`, opens the platform and builds the cost. `config` is borrowed until input_close.
 * Returns EXIT_GOOD, or an exit code after an error line (then nothing is to be closed). */
int input_open(input *in, const char *path, const input_config *config);
/* Opens a file with any number of instances, in->count; none is read yet. The same exit codes. */
int input_open_all(input *in, const char *path, const input_config *config);
/* One line on standard error if no task of the instance takes any time on the platform: before a plan is made of it. */
void input_warn_untimed(const input *in);

/* No task takes any time on the platform of the cost. The warning about it: plans say nothing then. */
bool is_untimed(const clo_graph *graph, const clo_cost *cost);
void warn_untimed(const char *place);
/* Lets go of the instance at hand and reads the next one; at most in->count times. Returns EXIT_GOOD, or an exit code
 * after an error line: then only this instance is lost. */
int input_next(input *in);
void input_close(input *in);

/* clo_workload_load, with its note on standard error where there is one. */
clo_status workload_load(const char *path, const clo_load_config *config, clo_workload **out);

/* Standard input and pipes: what is read to see what it is would be gone. */
bool is_read_once(const char *path);

/* True if the path is a regular file that begins like a log. False also where it cannot be read: who reads it next says
 * why. */
bool is_log_file(const char *path);

/* Returns EXIT_GOOD, or an exit code after an error line where is_log_file says so. */
int refuse_log(const char *path);

/* True if the path is a regular file whose beginning names a format of workloads. */
bool names_workload(const char *path);

/* A file of no bytes. */
bool is_empty_file(const char *path);

/* What is published about this graph on the platform in use; NULL: nothing. */
const clo_reference *input_reference(const input *in);

/* The first lines of every report: the graph, the platform, and where the times come from if a profile was given. */
void input_print(const input *in);
/* The median and the interval, where there is a prediction (median_ns > 0). */
void input_print_prediction(const clo_prediction *prediction);
/* Likewise, as a member "prediction" of an object. */
void input_add_prediction(const clo_prediction *prediction, json *out);
/* The last of the first lines as a member "times" of an object; nothing without a profile. */
void input_add_measured(const input *in, json *out);

/* Opens a platform by SPEC; the same exit codes. */
int platform_open(const char *spec, clo_platform **out);

/* Each returns EXIT_GOOD if the name is known, else EXIT_BAD_USAGE after a line with the nearest name. */
int known_planner(const char **name);    /* that of a file: loaded, and *name becomes its name */
int known_policy(const char *name);      /* "steal" included */
int known_format(const char *name);
int known_family(const char *name);

/* The same for a graph file to write: `format` (may be NULL) must be one that can be written; without it the ending of
 * the path must not be that of another kind of file. */
int known_output(const char *path, const char *format);

/* Names by index, NULL past the end: for nearest_name. */
const char *planner_at(uint32_t index);
const char *policy_at(uint32_t index);
const char *format_at(uint32_t index);
const char *family_at(uint32_t index);

#endif
