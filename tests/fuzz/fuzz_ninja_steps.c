/* fuzz_ninja_steps.c - .clotho_steps, what builds have learned of their steps. */
#include "fuzz.h"
#include "ninja/logs/history.h"
#include "ninja/manifest/manifest.h"

#include <string.h>

static int read_manifest(void *argument, const char *path, char **text, size_t *bytes)
{
    static const char manifest[] = "rule r\n  command = x\nrule l__a_b\n  command = y\nbuild a.o: r a.c\nbuild b.o: r\n"
                                   "build l: l__a_b a.o\n";

    (void)argument;
    (void)path;
    *text = malloc(sizeof manifest);
    PROMISE(*text != NULL);
    memcpy(*text, manifest, sizeof manifest);
    *bytes = sizeof manifest - 1;
    return 0;
}

static bool is_sound(const step_history *h, const history_entry *e)
{
    return e->wall_ms >= 0 && e->cpu_ms >= 0 && e->peak_kib >= 0 && e->held_kib >= 0 && e->class_ < h->classes_count &&
           e->output.bytes > 0 && e->how <= HISTORY_EXACT;
}

static void ask_of_each_edge(step_history *h, ninja_manifest *m)
{
    for (uint32_t e = 0; e < m->edges_count; e++) {
        uint32_t class_ = history_take_class(h, m, e);
        PROMISE(class_ < h->classes_count);
        history_guess before = history_guess_of(h, class_);
        PROMISE(before.mean_kib >= 0 && before.square_kib >= 0 && (before.count > 0 || before.mean_ms == 0));
        const history_entry taken = {.hash = 7, .peak_kib = 1000 * ((int64_t)e + 1), .wall_ms = 5};
        for (int i = 0; i < 3; i++)
            PROMISE(history_add(h, m, e, &taken));
        const history_entry *found = history_find(h, m, e, 7);
        PROMISE(found != NULL && found->peak_kib == taken.peak_kib && found->held_kib >= taken.peak_kib);
        const history_guess guess = history_guess_of(h, class_);
        PROMISE(history_find(h, m, e, 8) == NULL && guess.count > 0 && guess.mean_ms > 0);
        PROMISE(history_sum_kib(&guess, 2) >= 2 * guess.mean_kib && history_sum_kib(&guess, 2) < 1e18);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ninja_options options = {.read = read_manifest, .memory_max = 1 << 24};
    ninja_manifest m;
    step_history h;
    char *text = malloc(bytes + 1);

    PROMISE(text != NULL && ninja_open(&m, "m", &options));
    if (bytes > 0)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    PROMISE(history_parse(&h, &m, text, bytes));
    PROMISE(h.good_bytes <= bytes && h.count <= h.lines && (!h.is_foreign || h.lines == 0));
    for (size_t i = 0; i < h.count; i++)
        PROMISE(is_sound(&h, &h.entries[i]));
    ask_of_each_edge(&h, &m);
    history_close(&h);
    ninja_close(&m);
    free(text);
    return 0;
}
