/* input.c - see input.h. */
#define _POSIX_C_SOURCE 200809L /* stat */
#include "clotho/common/input.h"
#include "clotho/common/operands.h"
#include "clotho/common/options.h"
#include "clotho/common/planner_file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 512 };

static const char CSV[] = "job_id,task_id,"; /* of the Alibaba trace v2017 */

static const char *name_at(const char *registry, uint32_t index)
{
    clo_entry entry = CLO_ENTRY_INIT;

    return clo_registry_entry(registry, index, &entry) ? entry.name : NULL;
}

const char *planner_at(uint32_t index)
{
    return name_at("planners", index);
}

const char *policy_at(uint32_t index)
{
    return name_at("policies", index);
}

const char *format_at(uint32_t index)
{
    return name_at("formats", index);
}

const char *family_at(uint32_t index)
{
    return name_at("families", index);
}

static const char *shipped_at(uint32_t index)
{
    return name_at("platforms", index);
}

static int known(const char *what, const char *name, const char *(*at)(uint32_t), const char *list)
{
    const char *entry;

    for (uint32_t i = 0; (entry = at(i)) != NULL; i++)
        if (strcmp(entry, name) == 0)
            return EXIT_GOOD;
    if (name[0] == '\0')
        return misuse("the name of the %s is empty; see 'clotho list %s'", what, list);
    if (strpbrk(name, ", ;") != NULL)
        return misuse("'%s' is no %s; give one name at a time", name, what);
    const char *near = nearest_name(name, at);
    if (near != NULL)
        return misuse("'%s' is no %s; did you mean '%s'?", name, what, near);
    return misuse("'%s' is no %s; see 'clotho list %s'", name, what, list);
}

static bool is_policy(const char *name)
{
    return strcmp(name, "steal") == 0 || clo_policy_find(name) != NULL; /* some are not listed */
}

int known_planner(const char **name)
{
    char plain[64];

    if (is_planner_file(*name))
        return load_planner(name);
    if (clo_planner_find(*name) != NULL)
        return EXIT_GOOD;
    if (strcmp(*name, "all") == 0)
        return misuse("--planner is 'all', but here one planner makes the plan; 'clotho plan' compares them all");
    if (strcasecmp(*name, "all") == 0)
        return misuse("'%s' is no planner; did you mean 'all'?", *name);
    if (is_policy(*name))
        return misuse("'%s' is a policy, no planner; 'clotho run' and 'clotho simulate' take it: --policy %s", *name,
                      *name);
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(*name, ":"), *name);
    if (strchr(*name, ':') != NULL && clo_planner_find(plain) != NULL)
        return misuse("'%s' is no planner: '%s' takes no argument; write --planner %s", *name, plain, plain);
    return known("planner", *name, planner_at, "planners");
}

int known_policy(const char *name)
{
    if (is_policy(name))
        return EXIT_GOOD;
    if (clo_planner_find(name) != NULL)
        return misuse("'%s' is a planner, no policy; 'clotho plan' and 'clotho run' take it: --planner %s", name, name);
    return known("policy", name, policy_at, "policies");
}

int known_family(const char *name)
{
    return known("family", name, family_at, "families");
}

int known_format(const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "x.%.50s", name);
    if (strcmp(name, "json") == 0)
        return misuse("'json' is no format; did you mean 'clotho'?");
    if (ending_names_kind(path, "dot")) /* "svg" is no slip of "stg" */
        return misuse("'%s' is no format; see 'clotho list formats'", name);
    return known("format", name, format_at, "formats");
}

/* "clotho, wfformat, ...": the formats that can be written. */
static const char *formats_written(char *text, size_t bytes)
{
    clo_entry entry = CLO_ENTRY_INIT;
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; clo_registry_entry("formats", i, &entry) && used < bytes; i++)
        if (strchr(entry.directions, 'w') != NULL)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "", entry.name);
    return text;
}

static bool is_written(const char *name)
{
    clo_entry entry = CLO_ENTRY_INIT;

    for (uint32_t i = 0; clo_registry_entry("formats", i, &entry); i++)
        if (strcmp(entry.name, name) == 0)
            return strchr(entry.directions, 'w') != NULL;
    return false;
}

int known_output(const char *path, const char *format)
{
    char text[128];

    if (format != NULL && known_format(format) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    if (format != NULL && !is_written(format))
        return misuse("format '%s' can only be read; those that can be written are %s", format,
                      formats_written(text, sizeof text));
    if (format != NULL || !ending_names_kind(path, "json dot gv"))
        return EXIT_GOOD;
    return misuse("'%s' is no name of a graph file; write .json or .dot, or say what it holds with --format: %s", path,
                  formats_written(text, sizeof text));
}

static const char *platform_at(uint32_t index)
{
    static const char *const computed[] = {"native", "own", "slots"}; /* "uniform" is listed */
    enum { COMPUTED = sizeof computed / sizeof computed[0] };

    return index < COMPUTED ? computed[index] : shipped_at(index - COMPUTED);
}

/* A name that is no platform: what was meant? */
static int refuse_platform(const char *spec, clo_status status)
{
    size_t letters = strcspn(spec, ":=0123456789"), digits = strcspn(spec, "0123456789");
    char name[64];

    if (strspn(spec, "0123456789") == strlen(spec) && spec[0] != '\0')
        return complain("--platform", "'%s' is no platform; did you mean 'uniform:%s'?", spec, spec);
    snprintf(name, sizeof name, "%.*s", (int)letters, spec);
    const char *near = letters < digits || digits < strlen(spec) ? nearest_name(name, platform_at) : NULL;
    if (near != NULL && (strcmp(near, "uniform") == 0 || strcmp(near, "slots") == 0) && spec[digits] != '\0')
        return complain("--platform", "'%s' is no platform; did you mean '%s:%s'?", spec, near, spec + digits);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    near = strlen(name) > 2 ? nearest_name(name, platform_at) : NULL;
    if (strcmp(spec, "own") == 0)
        return complain("--platform", "'own' is the platform in a file of a graph, and here is none; name one");
    return near == NULL ? complain_status(NULL, status)
                        : complain("--platform", "'%s' is no platform; did you mean '%s'?", spec, near);
}

static const char *platform_file(const char *spec)
{
    static const char ADDED[] = "native+";

    return strncmp(spec, ADDED, sizeof ADDED - 1) == 0 ? spec + sizeof ADDED - 1 : spec;
}

/* A file that is not there: "rk3588.xml" is shipped, by its name. */
static int refuse_platform_file(const char *spec)
{
    const char *name;

    for (uint32_t i = 0; (name = shipped_at(i)) != NULL; i++)
        if (strncmp(spec, name, strlen(name)) == 0 && strcmp(spec + strlen(name), ".xml") == 0)
            return complain("--platform", "there is no file '%s'; did you mean '%s'?", spec, name);
    return complain_missing(platform_file(spec));
}

int platform_open(const char *spec, clo_platform **out)
{
    clo_status status = clo_cluster_open_platform(spec, out);
    bool is_number = strncmp(spec, "uniform:", 8) == 0 || strncmp(spec, "slots:", 6) == 0; /* that is wrong */

    if (status == CLO_OK)
        return EXIT_GOOD;
    if (status == CLO_ERR_IO && access(platform_file(spec), F_OK) != 0)
        return refuse_platform_file(spec);
    return status == CLO_ERR_ARGUMENT && !is_number ? refuse_platform(spec, status) : complain_status(NULL, status);
}

static int choose_platform(input *in)
{
    const char *spec = in->config->spec;
    bool own = spec == NULL ? clo_document_platform(in->document) != NULL : strcmp(spec, "own") == 0;

    if (own && clo_document_platform(in->document) == NULL)
        return complain(in->place, "carries no platform; name one with --platform SPEC");
    if (!own && in->opened == NULL) {
        int code = platform_open(spec != NULL ? spec : "native", &in->opened);
        if (code != EXIT_GOOD)
            return code;
    }
    in->platform = own ? clo_document_platform(in->document) : in->opened;
    return EXIT_GOOD;
}

static clo_load_config load_config(const input_config *config)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;

    load.scale = config->scale;
    load.body = config->body;
    load.instance = config->instance;
    return load;
}

/* Kinds that the platform lacks: a warning, or an error if wanted. */
static int check_kinds(const input *in)
{
    const char *kind;
    char kinds[400] = "";
    size_t used = 0;

    for (uint32_t k = 0; (kind = clo_cost_unmatched_kind(in->cost, k)) != NULL && used < sizeof kinds; k++)
        used += (size_t)snprintf(kinds + used, sizeof kinds - used, "%s'%.60s'", k > 0 ? ", " : "", kind);
    if (used == 0)
        return EXIT_GOOD;
    const char *platform = clo_platform_name(in->platform);
    if (in->config->strict)
        return complain(in->place, "platform '%s' has no executor of kind %s; correct the names or leave --strict out",
                        platform, kinds);
    warn("%s: platform '%s' has no executor of kind %s; what the graph says for that is not used", in->place, platform,
         kinds);
    return EXIT_GOOD;
}

bool is_untimed(const clo_graph *graph, const clo_cost *cost)
{
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_cost_mean_execution_ns(cost, t) > 0)
            return false;
    return true;
}

void warn_untimed(const char *place)
{
    warn("%s: no task takes any time, so every order is as good and all is planned as 0 ns; give the tasks times "
         "(docs/FORMATS.md)",
         place);
}

void input_warn_untimed(const input *in)
{
    if (is_untimed(clo_document_graph(in->document), in->cost))
        warn_untimed(in->place);
}

/* Once for all instances of a file. One that cannot be read is none: no instance does without it. */
static int open_profile(input *in)
{
    const input_config *config = in->config;

    if (config->profile == NULL || in->profile != NULL)
        return EXIT_GOOD;
    clo_status status = clo_profile_create(CLO_PROFILE_ENTRIES_MAX, &in->profile);
    if (status == CLO_OK)
        status = clo_profile_load(in->profile, config->profile, config->foreign ? CLO_PROFILE_FOREIGN : 0);
    if (status == CLO_OK)
        return EXIT_GOOD;
    clo_profile_destroy(in->profile);
    in->profile = NULL;
    return complain_status(config->profile, status);
}

bool input_has_parts(const clo_profile *profile)
{
    for (uint32_t i = 0; i < clo_profile_entries(profile); i++)
        if (clo_profile_memory_part(profile, i).share_q16 > 0)
            return true;
    return false;
}

int input_check_alone(const clo_profile *profile, const char *path)
{
    if (input_has_parts(profile))
        return complain(path, "its times are of tasks that were alone (calibrate --contention), and runs would mix "
                              "into them what tasks lose to each other; learn into another file");
    return EXIT_GOOD;
}

void input_warn_together(const char *path)
{
    warn(
        "%s: its times have no memory parts; where they are of runs, what their tasks lose to each other counts twice: "
        "keep them apart from those of calibrate --contention",
        show_name(path));
}

clo_status input_cost(const input *in, const clo_graph *graph, clo_measured *measured, clo_cost **out)
{
    clo_measured unused = CLO_MEASURED_INIT;

    if (in->profile == NULL)
        return clo_cost_create(graph, in->platform, out);
    if (measured != NULL)
        *measured = unused;
    return clo_cost_create_measured(graph, in->platform, in->profile, measured != NULL ? measured : &unused, out);
}

/* The document is there: the platform and the cost. */
static int complete(input *in)
{
    if (clo_document_line(in->document) != 0)
        snprintf(in->place, sizeof in->place, "%.450s:%zu", in->path, clo_document_line(in->document));
    if (clo_document_note(in->document) != NULL)
        note("%s", clo_document_note(in->document));
    int code = choose_platform(in);
    if (code != EXIT_GOOD)
        return code;
    code = open_profile(in);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = input_cost(in, clo_document_graph(in->document), &in->measured, &in->cost);
    return status == CLO_OK ? check_kinds(in) : complain_status(in->place, status);
}

static void begin(input *in, const char *path, const input_config *config)
{
    *in = (input){.path = path, .config = config, .count = 1};
    snprintf(in->place, sizeof in->place, "%.500s", path);
}

clo_status workload_load(const char *path, const clo_load_config *config, clo_workload **out)
{
    clo_status status = clo_workload_load(path, config, out);

    if (status == CLO_OK && clo_workload_note(*out) != NULL)
        note("%s", clo_workload_note(*out));
    return status;
}

bool is_read_once(const char *path)
{
    struct stat about;

    return strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

bool is_empty_file(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0;
}

/* The first bytes of a regular file, terminated; what is read from a pipe would be gone. Returns their number. */
static size_t read_head(const char *path, char head[HEAD_BYTES + 1])
{
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    size_t bytes = file != NULL ? fread(head, 1, HEAD_BYTES, file) : 0;

    if (file != NULL)
        fclose(file);
    head[bytes] = '\0';
    return bytes;
}

bool is_log_file(const char *path)
{
    char head[HEAD_BYTES + 1];
    size_t bytes = read_head(path, head);

    return clo_log_is_log(head, bytes);
}

/* Whether a member "format" of a JSON text says that it is a workload. */
static bool says_workload(const char *head)
{
    static const char KEY[] = "\"format\"", VALUE[] = "\"clotho.workload/";

    for (const char *at = head; (at = strstr(at, KEY)) != NULL;) {
        at += sizeof KEY - 1;
        const char *value = at + strspn(at, " \t\r\n");
        if (*value != ':')
            continue;
        value += 1 + strspn(value + 1, " \t\r\n");
        if (strncmp(value, VALUE, sizeof VALUE - 1) == 0)
            return true;
    }
    return false;
}

bool names_workload(const char *path)
{
    char head[HEAD_BYTES + 1];

    return read_head(path, head) > 0 && (says_workload(head) || strncmp(head, CSV, sizeof CSV - 1) == 0);
}

int refuse_log(const char *path)
{
    if (!is_log_file(path))
        return EXIT_GOOD;
    return complain(path, "this is the log of a run, no graph and no workload; 'clotho check WORKLOAD LOG' judges it, "
                          "'clotho simulate WORKLOAD --replay LOG' repeats it");
}

/* Each line of a log or of a workload would be an instance with an error of its own. */
static int refuse_others(const char *path)
{
    if (names_workload(path))
        return complain(path, "this is a workload, no graph; 'clotho simulate' and 'clotho run --policy' run its jobs, "
                              "'clotho check --admission' tests them");
    return refuse_log(path);
}

int input_open(input *in, const char *path, const input_config *config)
{
    clo_load_config load = load_config(config);

    begin(in, path, config);
    int code = refuse_others(path);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = clo_document_load(path, &load, &in->document);
    code = status == CLO_OK ? complete(in) : complain_status(path, status);
    if (code != EXIT_GOOD)
        input_close(in);
    return code;
}

int input_open_all(input *in, const char *path, const input_config *config)
{
    clo_load_config load = load_config(config);

    if (config->instance != NULL)
        return input_open(in, path, config);
    begin(in, path, config);
    int code = refuse_others(path);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = clo_documents_open(path, &load, &in->documents);
    if (status == CLO_ERR_IO && strcmp(path, "-") != 0 && access(path, F_OK) != 0)
        return complain_missing(path);
    if (status != CLO_OK)
        return complain_status(path, status);
    in->count = clo_documents_count(in->documents);
    return EXIT_GOOD;
}

static void close_instance(input *in)
{
    clo_cost_destroy(in->cost);
    clo_document_destroy(in->document);
    in->document = NULL;
    in->cost = NULL;
    in->platform = NULL;
}

int input_next(input *in)
{
    if (in->documents == NULL) /* one instance by name: it is there */
        return EXIT_GOOD;
    close_instance(in);
    clo_status status = clo_documents_next(in->documents, &in->document);
    int code = status == CLO_OK ? complete(in) : complain_status(in->path, status);
    if (code != EXIT_GOOD)
        close_instance(in);
    return code;
}

/* Published values are of equal executors of speed 1 that share all data. */
static bool is_uniform(const clo_platform *platform)
{
    for (uint32_t e = 0; e < clo_platform_executors(platform); e++)
        if (clo_platform_executor(platform, e)->speed_q16[CLO_CLASS_GENERIC] != CLO_SPEED_ONE)
            return false;
    return true;
}

const clo_reference *input_reference(const input *in)
{
    uint32_t count;
    const clo_reference *references = clo_document_references(in->document, &count);
    bool own = in->platform == clo_document_platform(in->document);

    for (uint32_t i = 0; i < count; i++) {
        const clo_reference *r = &references[i];
        if (r->executors == 0 ? own : r->executors == clo_platform_executors(in->platform) && is_uniform(in->platform))
            return r;
    }
    return NULL;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void print_measured(const input *in)
{
    static const char *const names[CLO_TIME_BASES] = {"measured", "of another machine", "from other sizes",
                                                      "from another kind", "as the graph says"};
    const char *before = "";

    printf("times        ");
    for (int i = 0; i < CLO_TIME_BASES; i++)
        if (in->measured.tasks_by[i] > 0) {
            printf("%s%u %s", before, in->measured.tasks_by[i], names[i]);
            before = ", ";
        }
    printf("; snapshot %016llx\n", (unsigned long long)in->measured.snapshot);
}

void input_add_measured(const input *in, json *out)
{
    static const char *const names[CLO_TIME_BASES] = {"measured", "assumed", "sized", "scaled", "typed"};
    char snapshot[17];

    if (in->profile == NULL)
        return;
    json_open(out, "times", '{');
    for (int i = 0; i < CLO_TIME_BASES; i++)
        json_count(out, names[i], in->measured.tasks_by[i]);
    snprintf(snapshot, sizeof snapshot, "%016llx", (unsigned long long)in->measured.snapshot);
    json_text(out, "snapshot", snapshot);
    json_close(out, '}');
}

void input_add_prediction(const clo_prediction *prediction, json *out)
{
    if (prediction->median_ns == 0)
        return;
    json_open(out, "prediction", '{');
    json_integer(out, "median_ns", prediction->median_ns);
    json_integer(out, "low_ns", prediction->low_ns);
    json_integer(out, "high_ns", prediction->high_ns);
    json_count(out, "memory_tasks", prediction->memory_tasks);
    json_close(out, '}');
}

void input_print_prediction(const clo_prediction *prediction)
{
    if (prediction->median_ns > 0)
        printf("prediction   %s; 9 of 10 runs take %s to %s\n", show_ns(prediction->median_ns),
               show_ns(prediction->low_ns), show_ns(prediction->high_ns));
    if (prediction->memory_tasks > 0)
        printf("contention   %u task%s share%s the memory in this prediction\n", prediction->memory_tasks,
               plural(prediction->memory_tasks), prediction->memory_tasks == 1 ? "s" : "");
}

void input_print(const input *in)
{
    const clo_graph *graph = clo_document_graph(in->document);
    uint32_t tasks = clo_graph_tasks(graph), instances = clo_graph_instances(graph), edges = clo_graph_edges(graph);
    uint32_t executors = clo_platform_executors(in->platform), kinds = clo_platform_kinds(in->platform);

    printf("graph        %s: %u task%s, ", show_name(clo_graph_name(graph)), tasks, plural(tasks));
    if (instances != tasks)
        printf("%u instance%s, ", instances, plural(instances));
    printf("%u edge%s (%s)\n", edges, plural(edges), clo_document_format(in->document));
    printf("platform     %s: %u executor%s of %u kind%s\n", show_name(clo_platform_name(in->platform)), executors,
           plural(executors), kinds, plural(kinds));
    if (in->profile != NULL)
        print_measured(in);
}

void input_close(input *in)
{
    close_instance(in);
    clo_platform_destroy(in->opened);
    clo_documents_close(in->documents);
    clo_profile_destroy(in->profile);
    *in = (input){0};
}
