/* cmd_profile.c - `clotho profile show | check | merge`. */
#include "clotho/common/actions.h"
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/report.h"

#include <clotho/memory.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NAME_COLUMNS = 28, KIND_COLUMNS = 14, NOTE_BYTES = 160 };
enum { MIXED_PART = 5 }; /* of the location */

/* Returns EXIT_GOOD, or an exit code after an error line. */
static int load(char **paths, int count, bool foreign, clo_profile **out)
{
    clo_profile *profile = NULL;
    clo_status status = clo_profile_create(CLO_PROFILE_ENTRIES_MAX, &profile);

    for (int i = 0; i < count && status == CLO_OK; i++) {
        status = clo_profile_load(profile, paths[i], foreign ? CLO_PROFILE_FOREIGN : 0);
        if (status != CLO_OK) {
            int code = complain_status(paths[i], status);
            clo_profile_destroy(profile);
            return code;
        }
    }
    if (status != CLO_OK)
        return complain_status(NULL, status);
    uint64_t evicted = clo_profile_evicted(profile);
    if (evicted > 0)
        warn("%llu entries have no room, of those whose last sample is oldest; at most %u go together",
             (unsigned long long)evicted, CLO_PROFILE_ENTRIES_MAX);
    *out = profile;
    return EXIT_GOOD;
}

/* Samples are spread as wide as where some are of another size: one noisy level spreads less. */
static bool is_mixed(const clo_profile_entry *e)
{
    return e->samples >= CLO_PROFILE_TRUSTED && e->spread_ns > e->location_ns / MIXED_PART;
}

static int print_entry_json(const clo_profile_entry *e, clo_memory_part part)
{
    char footprint[17];
    json out;

    json_begin(&out);
    json_text(&out, "codelet", e->codelet);
    json_count(&out, "version", e->version);
    json_text(&out, "kind", e->kind);
    snprintf(footprint, sizeof footprint, "%llx", (unsigned long long)e->footprint);
    json_text(&out, "footprint", footprint);
    json_count(&out, "bytes", e->bytes);
    json_count(&out, "samples", e->samples);
    json_integer(&out, "location_ns", e->location_ns);
    json_integer(&out, "spread_ns", e->spread_ns);
    json_integer(&out, "p90_ns", e->high_ns);
    json_integer(&out, "mean_ns", e->mean_ns);
    json_integer(&out, "max_ns", e->most_ns);
    json_count(&out, "level_changes", e->level_changes);
    json_bool(&out, "trusted", e->samples >= CLO_PROFILE_TRUSTED);
    json_bool(&out, "assumed", e->is_assumed != 0);
    json_bool(&out, "mixed", is_mixed(e));
    json_integer(&out, "newest", e->newest_s);
    json_real(&out, "memory_share", (double)part.share_q16 / CLO_MEMORY_SHARE_ONE);
    json_count(&out, "memory_MBps", part.mbps);
    return json_print(&out);
}

static const char *note_of(const clo_profile_entry *e, clo_memory_part part, char text[NOTE_BYTES])
{
    char changes[40], memory[60];
    snprintf(changes, sizeof changes, "level changed %ux", e->level_changes);
    snprintf(memory, sizeof memory, "%.0f %% memory at %u MB/s", 100.0 * part.share_q16 / CLO_MEMORY_SHARE_ONE,
             part.mbps);
    const struct {
        bool holds;
        const char *text;
    } notes[] = {{e->is_assumed != 0, "other machine"},
                 {part.share_q16 > 0, memory},
                 {e->level_changes > 0, changes},
                 {e->samples < CLO_PROFILE_TRUSTED, "few samples"},
                 {is_mixed(e), "two sizes in one? tell them apart by a footprint"}};
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (notes[i].holds)
            used += (size_t)snprintf(text + used, NOTE_BYTES - used, "%s%s", used > 0 ? ", " : "", notes[i].text);
    return text;
}

static void print_entry(const clo_profile_entry *e, clo_memory_part part)
{
    char name[300], text[NOTE_BYTES];

    snprintf(name, sizeof name, e->version > 0 ? "%s (%u)" : "%s", show_name(e->codelet), e->version);
    printf("%-*s %-*s %10s %8llu %10s %10s %10s %10s  %s\n", NAME_COLUMNS, name, KIND_COLUMNS, show_name(e->kind),
           show_bytes(e->bytes), (unsigned long long)e->samples, show_ns(e->location_ns), show_ns(e->spread_ns),
           show_ns(e->high_ns), show_ns(e->most_ns), note_of(e, part, text));
}

static int show(int argc, char **argv)
{
    static const command cmd = {
        "profile show",
        "FILE...",
        1,
        1 << 20,
        "Prints what codelets take on each kind of executor, as the files have it together.",
        "'time' is a robust location: the median of the first nine samples, then a mean that spikes do not move.\n"
        "'spread' is the mean deviation from it, 'p90' is above nine of ten samples, 'largest' is the largest sample\n"
        "that was seen, and no worst case.\n"
        "Example: clotho run steps.json --learn p.json && clotho profile show p.json"};
    bool as_json = false, foreign = false;
    const option_spec options[] = {
        {"foreign", 0, NULL, OPTION_FLAG, &foreign, "take files that were measured on another machine, too"},
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object per line on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 2, argc, argv, &operands, &count);
    clo_profile *profile = NULL;
    clo_profile_entry entry;

    if (code != OPTIONS_GO_ON)
        return code;
    code = load(operands, count, foreign, &profile);
    if (code != EXIT_GOOD)
        return code;
    const clo_run_spread runs = clo_profile_run_spread(profile);
    if (!as_json && runs.runs > 0)
        printf("%llu runs take %.3f times what their tasks say, spread %.3f\n", (unsigned long long)runs.runs,
               (double)runs.location_q16 / 65536, (double)runs.spread_q16 / 65536);
    if (!as_json)
        printf("%u entries; snapshot %016llx\n\n%-*s %-*s %10s %8s %10s %10s %10s %10s\n", clo_profile_entries(profile),
               (unsigned long long)clo_profile_snapshot(profile), NAME_COLUMNS, "codelet", KIND_COLUMNS, "kind",
               "bytes", "samples", "time", "spread", "p90", "largest");
    for (uint32_t i = 0; code == EXIT_GOOD && clo_profile_entry_at(profile, i, &entry) == CLO_OK; i++) {
        if (as_json)
            code = print_entry_json(&entry, clo_profile_memory_part(profile, i));
        else
            print_entry(&entry, clo_profile_memory_part(profile, i));
    }
    clo_profile_destroy(profile);
    return code;
}

static int check(int argc, char **argv)
{
    static const command cmd = {
        "profile check",
        "FILE...",
        1,
        1 << 20,
        "Checks that files of measured times are whole, and of this machine. Prints a line for each.",
        NULL};
    char **operands;
    int count, worst = EXIT_GOOD, code = options_parse(&cmd, NULL, 0, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    for (int i = 0; i < count; i++) {
        clo_profile *profile = NULL;
        clo_profile_entry entry;
        uint32_t few = 0;
        code = load(&operands[i], 1, false, &profile);
        worst = code > worst ? code : worst;
        if (code != EXIT_GOOD)
            continue;
        for (uint32_t k = 0; clo_profile_entry_at(profile, k, &entry) == CLO_OK; k++)
            few += entry.samples < CLO_PROFILE_TRUSTED;
        printf("%s: good, %u entries, %u of them of fewer than %d samples\n", show_name(operands[i]),
               clo_profile_entries(profile), few, CLO_PROFILE_TRUSTED);
        clo_profile_destroy(profile);
    }
    return worst;
}

/* Warns of files without memory parts beside files with them. */
static int look_for_parts(char **paths, int count, bool foreign)
{
    bool has_parts = false;
    const char *without = NULL;

    for (int i = 0; i < count; i++) {
        clo_profile *profile = NULL;
        int code = load(&paths[i], 1, foreign, &profile);
        if (code != EXIT_GOOD)
            return code;
        if (input_has_parts(profile))
            has_parts = true;
        else if (without == NULL && clo_profile_entries(profile) > 0)
            without = paths[i];
        clo_profile_destroy(profile);
    }
    if (has_parts && without != NULL)
        input_warn_together(without);
    return EXIT_GOOD;
}

static int merge(int argc, char **argv)
{
    static const command cmd = {
        "profile merge",
        "FILE...",
        1,
        1 << 20,
        "Writes one file of measured times in place of several. The order of two files does not matter.",
        "Times that agree are averaged by their samples; of those that do not, the younger one stands.\n"
        "Example: clotho profile merge a.json b.json -o both.json"};
    bool foreign = false;
    const char *path = NULL;
    const option_spec options[] = {
        {"output", 'o', "F.json", OPTION_OUTPUT, &path, "write the file there"},
        {"foreign", 0, NULL, OPTION_FLAG, &foreign, "take files that were measured on another machine, too"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 2, argc, argv, &operands, &count);
    clo_profile *profile = NULL;

    if (code != OPTIONS_GO_ON)
        return code;
    if (path == NULL)
        return misuse("no output named; add --output F.json");
    code = look_for_parts(operands, count, foreign);
    if (code == EXIT_GOOD)
        code = load(operands, count, foreign, &profile);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = clo_profile_save(profile, path);
    if (status != CLO_OK)
        code = complain_status(path, status);
    clo_profile_destroy(profile);
    return code;
}

int cmd_profile(int argc, char **argv)
{
    static const action actions[] = {
        {"show", show, "print what codelets take on each kind of executor"},
        {"check", check, "whether files are whole, and of this machine"},
        {"merge", merge, "write one file in place of several"},
        {NULL, NULL, NULL},
    };

    return actions_run("profile", actions, argc, argv);
}
