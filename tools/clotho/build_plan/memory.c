/* memory.c - see memory.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/build_plan/memory.h"
#include "clotho/common/report.h"
#include "ninja/manifest/bindings.h"
#include "ninja/step/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A prediction is a part of what was seen above it, and a little more: by how it was measured. Without groups, what the
 * kernel needs for a few processes is not in it. */
static const struct {
    int64_t share, kib;
} MARGINS[] = {[HISTORY_RUSAGE] = {32, 3072}, [HISTORY_GROUP] = {32, 1024}, [HISTORY_EXACT] = {256, 256}};
/* The group's maximum is what the step has held where samples come so near to it. */
enum { NEAR_SHARE = 16, NEAR_KIB = 1024, SAMPLES_ENOUGH = 2 };
/* The budget is full where less than that part is left. Where that is watched one deviation is kept, not two. */
enum { FULL_SHARE = 32 };
static const double SURE_WATCHED = 1;
enum { CPU_LEAST_MS = 100, CPU_MILLI = 1125 /* of a CPU */ };
enum { LARGER = 4 }; /* than the means of the other classes: as links are larger than compiles */
enum { RESERVE_SHARE = 20, LEAST_RESERVE_KIB = 128 << 10 }; /* of "auto", for all that is no step */
static const int64_t PRESSURE_NS = 200000000, UNSEEN_NS = 1000000000, SAMPLE_NS = MEMORY_SAMPLE_MS * (int64_t)1000000;
static const double PRESSURE_MOST = 10.0; /* percent of the last 10 s in which somebody waited for memory */

bool memory_read_budget(const char *text, int64_t *budget_kib)
{
    static const char suffixes[] = "KMGT";
    char *end;

    if (strcmp(text, "auto") == 0) {
        *budget_kib = MEMORY_AUTO;
        return true;
    }
    size_t digits = strspn(text, "0123456789.");
    double value = strtod(text, &end);
    if (digits == 0 || end != text + digits)
        return false;
    const char *suffix = *end != '\0' ? strchr(suffixes, *end) : NULL;
    if (*end != '\0' && (suffix == NULL || end[1] != '\0'))
        return false;
    value /= suffix == NULL ? 1024 : 1;
    for (const char *s = suffixes; suffix != NULL && s < suffix; s++)
        value *= 1024;
    if (!(value >= 1024 && value <= 1e12)) /* 1 MiB to about 1 PiB */
        return false;
    *budget_kib = (int64_t)value;
    return true;
}

static int64_t kernel_kills(void)
{
    FILE *file = fopen("/proc/vmstat", "re");
    char line[256];
    int64_t kills = -1;

    while (file != NULL && kills < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "oom_kill ", 9) == 0)
            kills = strtoll(line + 9, NULL, 10);
    if (file != NULL)
        fclose(file);
    return kills;
}

/* 0: its command has no value. */
static uint64_t hash_of(build_memory *b, uint32_t edge)
{
    buffer command = {0};

    if (b->hashes[edge] == 0 && ninja_edge_command(&b->folder->manifest, edge, true, &command))
        b->hashes[edge] = murmur64(command.at, command.bytes);
    buffer_free(&command);
    return b->hashes[edge];
}

/* What a step is expected to need. */
static admit_step need_of(build_memory *b, uint32_t edge)
{
    const history_entry *entry = history_find(&b->history, &b->folder->manifest, edge, hash_of(b, edge));
    admit_step need = {.runs = true, .class_ = b->classes[edge]};

    if (entry != NULL) {
        int64_t kib = entry->held_kib > entry->peak_kib ? entry->held_kib : entry->peak_kib;
        need.class_ = ADMIT_KNOWN;
        need.margin_kib = kib / MARGINS[entry->how].share + MARGINS[entry->how].kib;
        need.need_kib = kib < b->budget_kib ? kib : b->budget_kib;
        need.cpus = entry->wall_ms > 0 ? (double)entry->cpu_ms / (double)entry->wall_ms : 1;
    }
    return need;
}

/* Of a step whose class has not been seen: half of the budget, and more where the classes that were seen are large. */
static int64_t unmeasured_kib(const build_memory *b)
{
    double most = (double)b->budget_kib / 2;

    for (uint32_t i = 0; i < b->history.classes_count; i++) {
        const history_guess guess = history_guess_of(&b->history, i);
        most = (double)LARGER * guess.mean_kib > most ? (double)LARGER * guess.mean_kib : most;
    }
    return most < (double)b->budget_kib ? (int64_t)most : b->budget_kib;
}

/* Without that a plan has many steps run beside each other as if each had a CPU. Short ones fill gaps. */
static int64_t cpu_milli(const build_memory *b, double cpus, int64_t wall_ms)
{
    double milli = wall_ms >= CPU_LEAST_MS ? 1000 * cpus : 0;

    return milli < (double)b->cpus_milli ? (int64_t)milli : b->cpus_milli;
}

/* What the graph demands of the machine; what else there is to know may come while the build runs. */
static bool predict_all(build_memory *b)
{
    const ninja_manifest *m = &b->folder->manifest;
    admit_step *known = malloc((m->edges_count + 1) * sizeof *known);

    if (known == NULL)
        return false;
    for (uint32_t e = 0; e < m->edges_count; e++) {
        if (ninja_is_phony(m, e) || b->folder->order.wants[e] < WANT_START)
            continue;
        b->wanted++;
        b->classes[e] = history_take_class(&b->history, m, e);
        if (b->classes[e] == NINJA_NONE) {
            free(known);
            return false;
        }
        admit_step need = need_of(b, e);
        if (need.class_ != ADMIT_KNOWN)
            continue;
        int64_t wall_ms = history_find(&b->history, m, e, hash_of(b, e))->wall_ms;
        b->learned_ns[e] = wall_ms * 1000000;
        b->cpu_ms += need.cpus * (double)wall_ms;
        b->area_ms += (double)wall_ms * (double)need.need_kib / (double)b->budget_kib;
        b->classes[e] = ADMIT_KNOWN;
        b->demand_kib[e] = need.need_kib;
        b->cpu_milli[e] = cpu_milli(b, need.cpus, wall_ms);
        known[b->known++] = need;
    }
    b->capacity_kib = admit_capacity_kib(known, b->known, b->budget_kib, b->jobs);
    for (uint32_t e = 0; e < m->edges_count; e++)
        if (b->demand_kib[e] > b->capacity_kib)
            b->demand_kib[e] = b->capacity_kib;
    free(known);
    return true;
}

/* Half as long: times were learned where steps shared CPUs, so the area is large. */
bool memory_is_cpu_bound(const build_memory *b)
{
    return b->cpu_ms > 0 && 2 * b->cpu_ms / b->cpus >= b->area_ms;
}

static int set_budget(build_memory *b, int64_t budget_kib)
{
    b->budget_kib = budget_kib;
    if (budget_kib != MEMORY_AUTO)
        return EXIT_GOOD;
    int64_t available = groups_available_kib();
    int64_t reserve = available / RESERVE_SHARE > LEAST_RESERVE_KIB ? available / RESERVE_SHARE : LEAST_RESERVE_KIB;
    if (available <= 2 * reserve)
        return complain(NULL, "--memory auto: only %lld KiB of memory are available; give a number, or end something",
                        (long long)available);
    b->budget_kib = available - reserve;
    return EXIT_GOOD;
}

int memory_open(build_memory *b, build_folder *folder, uint32_t jobs, int64_t budget_kib)
{
    ninja_manifest *m = &folder->manifest;
    const char *end = strrchr(folder->log_path, '/');

    *b = (build_memory){.folder = folder, .jobs = jobs, .pressure_path = "/proc/pressure/memory"};
    snprintf(b->path, sizeof b->path, "%.*s.clotho_steps", end != NULL ? (int)(end + 1 - folder->log_path) : 0,
             folder->log_path);
    b->slots = calloc(jobs, sizeof *b->slots);
    b->hashes = calloc(m->edges_count + 1, sizeof *b->hashes);
    b->demand_kib = calloc(m->edges_count + 1, sizeof *b->demand_kib);
    b->cpu_milli = calloc(m->edges_count + 1, sizeof *b->cpu_milli);
    b->cpus = cpus_usable();
    b->cpus_milli = CPU_MILLI * (int64_t)b->cpus;
    b->learned_ns = calloc(m->edges_count + 1, sizeof *b->learned_ns);
    b->classes = malloc((m->edges_count + 1) * sizeof *b->classes);
    b->held = calloc(jobs + 1, sizeof *b->held);
    if (b->slots == NULL || b->hashes == NULL || b->demand_kib == NULL || b->cpu_milli == NULL ||
        b->learned_ns == NULL || b->classes == NULL || b->held == NULL)
        return complain(NULL, "out of memory");
    if (!history_load(&b->history, m, b->path) || !history_open(&b->history, m, b->path))
        return complain(NULL, "%s", show_name(m->error));
    int code = set_budget(b, budget_kib);
    if (code != EXIT_GOOD)
        return code;
    groups_open(&b->groups, jobs, b->budget_kib);
    b->history.sure = b->groups.version != 0 ? SURE_WATCHED : (double)HISTORY_SURE;
    memset(b->classes, 0xff, (m->edges_count + 1) * sizeof *b->classes);
    return b->budget_kib == MEMORY_NONE || predict_all(b) ? EXIT_GOOD : complain(NULL, "out of memory");
}

void memory_close(build_memory *b)
{
    groups_close(&b->groups);
    history_close(&b->history);
    free(b->slots);
    free(b->hashes);
    free(b->demand_kib);
    free(b->cpu_milli);
    free(b->learned_ns);
    free(b->classes);
    free(b->held);
    if (b->live.classes != NULL)
        live_close(&b->live);
    *b = (build_memory){0};
}

/* Whether processes of this machine wait for memory. */
static bool is_pressed(build_memory *b, int64_t now_ns)
{
    static const char some[] = "some avg10=";
    char line[128] = "";

    if (b->pressure_ns != 0 && now_ns - b->pressure_ns < PRESSURE_NS)
        return b->is_pressed;
    b->pressure_ns = now_ns;
    FILE *file = fopen(b->pressure_path, "re");
    b->is_pressed = file != NULL && fgets(line, sizeof line, file) != NULL &&
                    strncmp(line, some, sizeof some - 1) == 0 && strtod(line + sizeof some - 1, NULL) > PRESSURE_MOST;
    if (file != NULL)
        fclose(file);
    return b->is_pressed;
}

/* Whether enough of a class was measured for one more of it to run. */
static bool is_measured(const build_memory *b, const admit_step *need)
{
    uint32_t same = 0,
             count = need->class_ != ADMIT_KNOWN ? history_guess_of(&b->history, need->class_).count : b->jobs;

    for (uint32_t i = 0; i < b->jobs; i++)
        same += b->held[i].runs && b->held[i].class_ == need->class_;
    return need->class_ == ADMIT_KNOWN || same < 2 || same < 2 * count;
}

bool memory_may_begin(build_memory *b, uint32_t edge, bool is_alone, int64_t now_ns)
{
    if (b->running == 0)
        return true;
    if (b->is_alone || is_alone)
        return false;
    if (b->budget_kib == MEMORY_NONE)
        return true;
    if (is_pressed(b, now_ns))
        return false;
    b->held[b->jobs] = need_of(b, edge);
    return is_measured(b, &b->held[b->jobs]) &&
           admit_sum_kib(&b->history, b->held, b->jobs + 1, unmeasured_kib(b)) <= (double)b->budget_kib;
}

static void count_cpus(build_memory *b)
{
    if (b->live.classes != NULL)
        live_write_cpus(&b->live, admit_sum_cpus(&b->history, b->held, b->jobs));
}

void memory_begin(build_memory *b, uint32_t slot, uint32_t edge, bool is_alone)
{
    b->slots[slot] =
        (memory_slot){.runs = true, .is_alone = is_alone, .number = ++b->begun, .vm_kills = kernel_kills()};
    b->held[slot] = b->budget_kib != MEMORY_NONE ? need_of(b, edge) : (admit_step){.class_ = ADMIT_KNOWN};
    b->is_alone |= is_alone;
    b->retries += is_alone;
    b->running++;
    count_cpus(b);
    groups_begin(&b->groups, slot);
}

void memory_cancel(build_memory *b, uint32_t slot)
{
    memory_slot *s = &b->slots[slot];

    b->is_alone = b->is_alone && !s->is_alone;
    b->running--;
    s->runs = b->held[slot].runs = false;
    count_cpus(b);
}

/* The peak of a step that has ended, and how it was measured. */
static int64_t peak_of(const build_memory *b, uint32_t slot, const step_usage *usage, uint8_t *how)
{
    const memory_slot *s = &b->slots[slot];
    int64_t held = groups_held_kib(&b->groups, slot), peak = groups_peak_kib(&b->groups, slot);
    int64_t seen = s->seen_kib > held ? s->seen_kib : held;

    *how = b->groups.version != 0 ? HISTORY_GROUP : HISTORY_RUSAGE;
    if (peak >= seen && peak - seen <= peak / NEAR_SHARE + NEAR_KIB && s->samples >= SAMPLES_ENOUGH) {
        *how = HISTORY_EXACT;
        return peak;
    }
    if (s->samples >= SAMPLES_ENOUGH)
        return seen;
    /* A short step is over before its samples; one process of it is then the better guess, though its pages of files
     * are in it. The group knows an upper bound, as its peak counts the page cache too. */
    int64_t largest = peak >= 0 && usage->peak_kib > peak ? peak : usage->peak_kib;
    return seen > largest ? seen : largest;
}

/* A class that has not been seen takes as long as the mean of the others, else 1 s. */
static bool tell(build_memory *b)
{
    size_t count = b->live.classes_count;
    live_guess *guesses = count > 0 ? malloc(count * sizeof *guesses) : NULL;
    int64_t unmeasured = unmeasured_kib(b);
    double sum_ms = 0;
    uint32_t seen = 0;

    if (count > 0 && guesses == NULL)
        return ninja_no_memory(&b->folder->manifest);
    for (uint32_t i = 0; i < count; i++) {
        const history_guess guess = history_guess_of(&b->history, i);
        sum_ms += guess.mean_ms;
        seen += guess.count > 0;
        guesses[i] = (live_guess){guess.count > 0 ? 1000000 + (int64_t)(guess.mean_ms * 1e6) : 0,
                                  admit_share_kib(&guess, b->capacity_kib, b->jobs, unmeasured)};
    }
    for (uint32_t i = 0; i < count; i++)
        if (guesses[i].time_ns == 0)
            guesses[i].time_ns = seen > 0 ? 1000000 + (int64_t)(sum_ms / seen * 1e6) : UNSEEN_NS;
    if (count > 0)
        live_write(&b->live, guesses);
    free(guesses);
    return true;
}

bool memory_tell(build_memory *b, const uint32_t *tasks, uint32_t tasks_count)
{
    const ninja_manifest *m = &b->folder->manifest;

    if (!live_open(&b->live, (uint32_t)b->history.classes_count, tasks_count))
        return ninja_no_memory(&b->folder->manifest);
    b->live.is_cpu_bound = memory_is_cpu_bound(b);
    for (uint32_t e = 0; e < m->edges_count; e++)
        if (b->classes[e] != ADMIT_KNOWN)
            b->live.classes[tasks[e]] = b->classes[e];
    return tell(b);
}

bool memory_end(build_memory *b, uint32_t slot, uint32_t edge, const step_usage *usage, bool *was_killed)
{
    const memory_slot *s = &b->slots[slot];
    bool is_good = usage->status == 0;

    history_entry taken = {.hash = hash_of(b, edge),
                           .wall_ms = usage->wall_us / 1000,
                           .cpu_ms = (usage->user_us + usage->system_us) / 1000};
    taken.peak_kib = peak_of(b, slot, usage, &taken.how);
    *was_killed = b->groups.version != 0 ? groups_kills(&b->groups, slot) > 0
                                         : !is_good && s->vm_kills >= 0 && kernel_kills() > s->vm_kills;
    b->kills += *was_killed;
    bool was_ended = s->is_ended && !is_good && !*was_killed;
    b->ended += was_ended;
    *was_killed |= was_ended;
    groups_leave(&b->groups, slot);
    memory_cancel(b, slot);
    if (*was_killed && b->groups.has_limit && taken.peak_kib < b->budget_kib)
        taken.peak_kib = b->budget_kib; /* it would have needed more than it was seen with */
    if (s->is_elsewhere || (!is_good && !*was_killed) || was_ended)
        return true; /* what a part of it took, and how far it came, says nothing */
    return history_add(&b->history, &b->folder->manifest, edge, &taken) && tell(b);
}

int memory_sample(build_memory *b, int64_t now_ns)
{
    int64_t sum = 0;

    if (b->running == 0)
        return -1;
    if (b->groups.version == 0)
        return b->is_pressed ? (int)(PRESSURE_NS / 1000000) : -1;
    if (now_ns - b->sampled_ns < SAMPLE_NS)
        return (int)((SAMPLE_NS - (now_ns - b->sampled_ns)) / 1000000) + 1;
    b->sampled_ns = now_ns;
    for (uint32_t i = 0; i < b->jobs; i++) {
        memory_slot *s = &b->slots[i];
        if (!s->runs)
            continue;
        int64_t now = groups_held_kib(&b->groups, i);
        s->samples++;
        b->held[i].now_kib = now > 0 ? now : 0;
        s->seen_kib = now > s->seen_kib ? now : s->seen_kib;
        sum += b->held[i].now_kib;
    }
    b->most_kib = sum > b->most_kib ? sum : b->most_kib;
    return MEMORY_SAMPLE_MS;
}

uint32_t memory_overfull(build_memory *b)
{
    int64_t sum = 0;
    uint32_t last = UINT32_MAX;

    if (b->budget_kib == MEMORY_NONE || b->groups.version == 0 || b->running < 2)
        return UINT32_MAX;
    for (uint32_t i = 0; i < b->jobs; i++) {
        const memory_slot *s = &b->slots[i];
        if (s->runs && s->is_ended)
            return UINT32_MAX; /* what it holds comes back first */
        sum += s->runs ? b->held[i].now_kib : 0;
        if (s->runs && b->held[i].class_ != ADMIT_KNOWN && !s->is_elsewhere &&
            (last == UINT32_MAX || s->number > b->slots[last].number))
            last = i;
    }
    if (last == UINT32_MAX || sum <= b->budget_kib - b->budget_kib / FULL_SHARE)
        return UINT32_MAX;
    b->slots[last].is_ended = true;
    return last;
}

void memory_describe(const build_memory *b, buffer *out)
{
    const step_groups *g = &b->groups;

    buffer_add_text(out, "memory: ");
    if (g->version != 0)
        buffer_add_format(out, "at most %s at once, ", show_bytes((uint64_t)b->most_kib * 1024));
    if (b->budget_kib > 0)
        buffer_add_format(out, "budget %s%s, %u of %u steps known before, ", show_bytes((uint64_t)b->budget_kib * 1024),
                          g->has_limit ? " (a limit of the control group)" : " (no limit of the system behind it)",
                          b->known, b->wanted);
    buffer_add_format(out, "%u killed, %u run again alone; ", b->kills, b->retries);
    if (b->ended > 0)
        buffer_add_format(out, "%u ended here as the budget was full; ", b->ended);
    if (g->version != 0)
        buffer_add_format(out, "measured by control groups (version %d)", g->version);
    else
        buffer_add_format(out, "measured as the largest process of each step (%s)", g->why);
}
