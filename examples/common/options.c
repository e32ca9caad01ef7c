/* options.c - the command line of an application. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void help(const application *app)
{
    printf("example-%s: %s\n\nusage: example-%s [options]\n", app->name, app->summary, app->name);
    for (uint32_t i = 0; i < app->options_count; i++)
        printf("  --%-9s N      %s (default %lld, with --quick %lld)\n", app->options[i].name, app->options[i].help,
               (long long)app->options[i].value, (long long)app->options[i].quick_value);
    printf("  --planner NAME     heft, deft, ... (replay of a plan), steal, or a policy (default heft)\n"
           "  --platform SPEC    native, a shipped name, uniform:P, or a platform file (default native)\n"
           "  --device NAME      a device of OpenCL, too: its number or a part of its name (here also a CPU, by PoCL)\n"
           "  --workers N        use the first N executors (default: all); more than the machine has are not pinned\n"
           "  --clock C          real, padded or virtual (default: real on this machine, else virtual)\n"
           "  --repeat N         measured runs (default 11, with --quick 5)\n"
           "  --seed N           seed of the generated problem (default 1)\n"
           "  --trace FILE       write the last run for ui.perfetto.dev\n"
           "  --gantt FILE       write the last run as an SVG picture\n"
           "  --json             print one JSON object and nothing else\n"
           "  --quick            a small problem\n"
           "  --help             this text\n");
}

static int usage(const application *app, const char *what, const char *text)
{
    fprintf(stderr, "example-%s: %s '%s'; see example-%s --help\n", app->name, what, text, app->name);
    return 2;
}

static bool read_number(const char *text, int64_t low, int64_t high, int64_t *out)
{
    char *end;

    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < low || value > high)
        return false;
    *out = value;
    return true;
}

static bool read_clock(const char *text, int *clock)
{
    static const char *const names[] = {"real", "padded", "virtual"};

    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *clock = i;
            return true;
        }
    return false;
}

static bool read_own(application *app, const char *name, const char *text, bool *is_known)
{
    for (uint32_t i = 0; i < app->options_count; i++) {
        application_option *own = &app->options[i];

        if (strcmp(name, own->name) == 0) {
            *is_known = true;
            own->is_set = 1;
            return read_number(text, own->low, own->high, &own->value);
        }
    }
    *is_known = false;
    return false;
}

/* One option with a value. Returns false where the value is bad or the option unknown. */
static bool read_valued(options *o, application *app, const char *name, const char *text, bool *is_known)
{
    int64_t number = 0;
    bool is_good;

    *is_known = true;
    if (strcmp(name, "planner") == 0)
        return o->planner = text, true;
    if (strcmp(name, "platform") == 0)
        return o->platform = text, true;
    if (strcmp(name, "device") == 0)
        return o->device = text, true;
    if (strcmp(name, "trace") == 0)
        return o->trace = text, true;
    if (strcmp(name, "gantt") == 0)
        return o->gantt = text, true;
    if (strcmp(name, "clock") == 0)
        return read_clock(text, &o->clock);
    if (strcmp(name, "workers") == 0) {
        is_good = read_number(text, 1, 1024, &number);
        o->workers = (uint32_t)number;
        return is_good;
    }
    if (strcmp(name, "repeat") == 0) {
        is_good = read_number(text, 1, 10000, &number);
        o->repeat = (uint32_t)number;
        return is_good;
    }
    if (strcmp(name, "seed") == 0) {
        is_good = read_number(text, 0, INT64_MAX, &number);
        app->seed = (uint64_t)number;
        return is_good;
    }
    return read_own(app, name, text, is_known);
}

int options_read(options *o, application *app, int argc, char **argv)
{
    *o = (options){.planner = "heft", .platform = "native", .clock = -1};
    app->seed = 1;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        bool is_known;

        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            help(app);
            return 0;
        }
        if (strcmp(name, "--json") == 0) {
            o->json = true;
        } else if (strcmp(name, "--quick") == 0) {
            o->quick = true;
        } else if (strncmp(name, "--", 2) != 0) {
            return usage(app, "unexpected argument", name);
        } else if (i + 1 == argc) {
            return usage(app, "unknown option, or one without its value:", name);
        } else if (!read_valued(o, app, name + 2, argv[++i], &is_known)) {
            return is_known ? usage(app, "not a value for this option:", argv[i]) : usage(app, "unknown option", name);
        }
    }
    for (uint32_t i = 0; i < app->options_count; i++)
        if (o->quick && !app->options[i].is_set)
            app->options[i].value = app->options[i].quick_value;
    if (o->repeat == 0)
        o->repeat = o->quick ? 5 : 11;
    return -1;
}

clo_status dispatch_find(const char *name, dispatch *out)
{
    clo_entry planner = CLO_ENTRY_INIT;

    *out = (dispatch){.mode = "steal"};
    if (strcmp(name, "steal") == 0)
        return CLO_OK;
    out->mode = "replay";
    for (uint32_t i = 0; clo_registry_entry("planners", i, &planner); i++)
        if (strcmp(name, planner.name) == 0) {
            out->planner = planner.name;
            return CLO_OK;
        }
    out->mode = "policy";
    out->policy = clo_policy_find(name);
    return out->policy != NULL ? CLO_OK : CLO_ERR_ARGUMENT;
}
