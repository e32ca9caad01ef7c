/* embed.c - see embed.h. */
#include "clotho/plan/embed.h"

#include "clotho/common/options.h"
#include "clotho/common/output_write.h"
#include "clotho/common/report.h"
#include "clotho/common/symbol.h"

#include <clotho/pipeline.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct embedded {
    const input *in;
    const clo_plan *plan;
    char symbol[SYMBOL_BYTES];
} embedded;

/* The file's name without folders and ending; behind "plan_" where a program cannot have that name, or has it from the
 * library. */
static void name_symbol(const char *path, char *out)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);

    symbol_make("", base, length, out);
    if (strcmp(path, "-") == 0)
        symbol_make("plan", "", 0, out);
    else if (!is_symbol(out) || strncmp(out, "clo_", 4) == 0 || strncmp(out, "CLO_", 4) == 0)
        symbol_make("plan_", base, length, out);
}

/* The CPU number on the board: platforms of other machines have it in the name only. -1: it is not known. */
static int32_t cpu_of(const clo_platform *platform, uint32_t executor)
{
    int32_t cpu = clo_platform_executor(platform, executor)->os_index;
    const char *name = clo_platform_executor_name(platform, executor);
    uint64_t number;

    if (cpu == -1 && strncmp(name, "cpu", 3) == 0 && parse_u64(name + 3, &number) && number <= INT32_MAX)
        return (int32_t)number;
    return cpu;
}

static void put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        if (*at == '"' || *at == '\\' || *at == '?' || *at < ' ' || *at > '~')
            fprintf(file, "\\%03o", *at);
        else
            fputc(*at, file);
    fputc('"', file);
}

/* A name inside a comment, which it must not end. */
static void put_comment(FILE *file, const char *name)
{
    for (; *name != '\0'; name++)
        fputc(isalnum((unsigned char)*name) || strchr(" -_.:()[],=+#", *name) != NULL ? *name : '_', file);
}

static void put_head(FILE *file, const embedded *e, size_t count)
{
    const char *s = e->symbol;

    fprintf(file, "/* Made by `clotho plan --embed`: the graph \"");
    put_comment(file, clo_graph_name(clo_document_graph(e->in->document)));
    fprintf(file, "\" on \"");
    put_comment(file, clo_platform_name(e->in->platform));
    fprintf(file, "\", makespan %" PRId64 " ns. A program that builds the\n", clo_plan_makespan_ns(e->plan));
    fprintf(file,
            " * same graph, with tasks in the same order, takes the plan so; the check refuses it for another graph:\n"
            " *     clo_platform_create(&%s_platform, &platform)\n"
            " *     clo_cost_create(graph, platform, &cost)\n"
            " *     clo_plan_from_placements(cost, %s_planner, %s, %s_count, &plan)\n"
            " *     clo_plan_check(plan, cost, %s)\n"
            " * The platform has no links: what the cost says of transfers is 0. */\n"
            "#include <clotho/plan.h>\n\n"
            "extern const clo_placement %s[%zu];\n"
            "extern const size_t %s_count;\n"
            "extern const char %s_planner[];\n"
            "extern const clo_platform_desc %s_platform;\n\n",
            s, s, s, s, e->in->profile != NULL ? "CLO_CHECK_MEASURED" : "CLO_CHECK_FULL", s, count, s, s, s);
}

static void put_placements(FILE *file, const embedded *e)
{
    const clo_graph *graph = clo_document_graph(e->in->document);
    size_t count;
    const clo_placement *p = clo_plan_placements(e->plan, &count);
    char scratch[16];

    put_head(file, e, count);
    fprintf(file, "/* task, instance, executor, is_replica, start_ns, finish_ns */\nconst clo_placement %s[%zu] = {\n",
            e->symbol, count);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "    {%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRId64 ", %" PRId64 "}, /* ",
                p[i].task, p[i].instance, p[i].executor, p[i].is_replica, p[i].start_ns, p[i].finish_ns);
        put_comment(file, clo_graph_task_name(graph, p[i].task, scratch));
        fprintf(file, " */\n");
    }
    fprintf(file, "};\nconst size_t %s_count = %zu;\nconst char %s_planner[] = ", e->symbol, count, e->symbol);
    put_string(file, clo_plan_planner(e->plan));
    fprintf(file, ";\n\n");
}

/* "static const char *const plan_kinds[] = {...};" */
static void put_names(FILE *file, const char *symbol, const char *table, const clo_platform *platform, uint32_t count,
                      const char *(*name)(const clo_platform *platform, uint32_t index))
{
    fprintf(file, "static const char *const %s_%s[] = {", symbol, table);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, "%s", i == 0 ? "" : ", ");
        if (name(platform, i) != NULL)
            put_string(file, name(platform, i));
        else
            fprintf(file, "NULL");
    }
    fprintf(file, "};\n");
}

static void put_executors(FILE *file, const char *symbol, const clo_platform *platform)
{
    fprintf(file, "/* kind, machine, memory, CPU number, speeds */\nstatic const clo_executor %s_executors[] = {\n",
            symbol);
    for (uint32_t e = 0; e < clo_platform_executors(platform); e++) {
        const clo_executor *x = clo_platform_executor(platform, e);
        fprintf(file, "    {%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRId32 ", {", x->kind, x->machine, x->memory,
                cpu_of(platform, e));
        for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
            fprintf(file, "%s%" PRIu32, c == 0 ? "" : ", ", x->speed_q16[c]);
        fprintf(file, "}},\n");
    }
    fprintf(file, "};\n");
}

static void put_capacities(FILE *file, const char *symbol, const clo_platform *platform)
{
    fprintf(file, "static const int64_t %s_capacities[] = {", symbol);
    for (uint32_t m = 0; m < clo_platform_machines(platform); m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            fprintf(file, "%s%" PRId64, m + r == 0 ? "" : ", ", clo_platform_capacity(platform, m, r));
    fprintf(file, "};\n");
}

static bool put_plan(FILE *file, const void *content)
{
    const embedded *e = content;
    const char *s = e->symbol;
    const clo_platform *platform = e->in->platform;
    uint32_t executors = clo_platform_executors(platform), kinds = clo_platform_kinds(platform);

    put_placements(file, e);
    put_executors(file, s, platform);
    put_names(file, s, "executor_names", platform, executors, clo_platform_executor_name);
    put_names(file, s, "kind_names", platform, kinds, clo_platform_kind_name);
    put_names(file, s, "resource_names", platform, CLO_RESOURCES_MAX, clo_platform_resource_name);
    put_capacities(file, s, platform);
    fprintf(file, "const clo_platform_desc %s_platform = {\n    .size = sizeof(clo_platform_desc),\n    .name = ", s);
    put_string(file, clo_platform_name(platform));
    fprintf(file,
            ",\n    .executors_count = %" PRIu32 ",\n    .executors = %s_executors,\n"
            "    .executor_names = %s_executor_names,\n    .kinds_count = %" PRIu32 ",\n"
            "    .kind_names = %s_kind_names,\n    .machines_count = %" PRIu32 ",\n    .capacities = %s_capacities,\n"
            "    .resource_names = %s_resource_names,\n    .coherent = %d};\n",
            executors, s, s, kinds, s, clo_platform_machines(platform), s, s, clo_platform_is_coherent(platform));
    return ferror(file) == 0;
}

int embed_plan(const char *path, const input *in, const clo_plan *plan)
{
    embedded e = {.in = in, .plan = plan};

    if (clo_plan_interval_ns(plan) > 0)
        return complain(path, "cannot hold a plan with an interval; leave --pipeline out, or use --out");
    for (uint32_t x = 0; x < clo_platform_executors(in->platform); x++)
        if (cpu_of(in->platform, x) == -1)
            return complain(path,
                            "'%.200s' of the platform '%.200s' is neither a CPU by its number nor a slot; take the "
                            "platform file of a board, with clotho.slots for what is no CPU",
                            show_name(clo_platform_executor_name(in->platform, x)),
                            show_name(clo_platform_name(in->platform)));
    name_symbol(path, e.symbol);
    return output_write(path, put_plan, &e);
}
