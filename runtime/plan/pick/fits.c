/* plan/pick/fits.c - see fits.h. */
#include "plan/pick/fits.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

/* The resources that some task demands. */
static void find_resources(clo_fits *fits, const clo_graph *graph)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        uint32_t t = 0;
        while (t < graph->tasks && clo_graph_demand(graph, t)[r] == 0)
            t++;
        if (t < graph->tasks)
            fits->of[fits->resources++] = r;
    }
}

clo_status clo_fits_open(clo_fits *fits, const clo_cost *cost, const uint32_t *task_at)
{
    const clo_graph *graph = cost->graph;
    clo_block block = {0};

    *fits = (clo_fits){.count = graph->tasks, .words = graph->tasks / 64 + 1};
    find_resources(fits, graph);
    fits->has_levels = fits->count > CLO_FITS_FEW;
    for (uint32_t r = 0; r < fits->resources && fits->has_levels; r++) {
        fits->levels[r] = (clo_levels){.words = fits->words, .amounts_count = CLO_FITS_AMOUNTS};
        clo_carve(&block, &fits->levels[r].amounts, CLO_FITS_AMOUNTS);
        clo_carve(&block, &fits->levels[r].sets, (size_t)CLO_FITS_AMOUNTS * fits->words);
    }
    clo_carve(&block, &fits->present, fits->words);
    clo_carve(&block, &fits->filled, fits->words / 64 + 1);
    clo_carve(&block, &fits->demands, (size_t)fits->count * fits->resources);
    fits->block = clo_block_allocate(&block);
    if (fits->block == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t p = 0; p < fits->count; p++)
        for (uint32_t r = 0; r < fits->resources; r++)
            fits->demands[(size_t)p * fits->resources + r] = clo_graph_demand(graph, task_at[p])[fits->of[r]];
    for (uint32_t r = 0; r < fits->resources && fits->has_levels; r++)
        clo_levels_fill(&fits->levels[r], fits->demands + r, fits->resources, fits->count);
    return CLO_OK;
}

void clo_fits_close(clo_fits *fits)
{
    clo_free(fits->block);
    *fits = (clo_fits){0};
}

void clo_fits_add(clo_fits *fits, uint32_t position)
{
    uint32_t word = position / 64;

    fits->present[word] |= UINT64_C(1) << position % 64;
    fits->filled[word / 64] |= UINT64_C(1) << word % 64;
}

void clo_fits_remove(clo_fits *fits, uint32_t position)
{
    uint32_t word = position / 64;

    fits->present[word] &= ~(UINT64_C(1) << position % 64);
    if (fits->present[word] == 0)
        fits->filled[word / 64] &= ~(UINT64_C(1) << word % 64);
}

void clo_fits_ask(const clo_fits *fits, clo_fits_question *question)
{
    question->sets_count = 0;
    for (uint32_t r = 0; r < fits->resources && fits->has_levels; r++) {
        const uint64_t *set = clo_levels_around(&fits->levels[r], question->room[r]);
        if (set != NULL) /* else all are in it */
            question->sets[question->sets_count++] = set;
    }
}

static bool does_fit(const clo_fits *fits, const clo_fits_question *question, uint32_t position)
{
    const int64_t *demand = fits->demands + (size_t)position * fits->resources;
    int64_t lack = 0;

    for (uint32_t r = 0; r < fits->resources; r++)
        lack |= question->room[r] - demand[r];
    return lack >= 0;
}

/* The first word from `word` on with something present; `words`: there is none. */
static uint32_t next_filled(const clo_fits *fits, uint32_t word)
{
    uint32_t last = fits->words / 64;

    if (word >= fits->words)
        return fits->words;
    uint64_t bits = fits->filled[word / 64] & ~UINT64_C(0) << word % 64;
    for (uint32_t at = word / 64;; bits = fits->filled[at]) { /* ends: behind the last */
        if (bits != 0)
            return at * 64 + (uint32_t)__builtin_ctzll(bits);
        if (at++ == last)
            return fits->words;
    }
}

uint32_t clo_fits_next(const clo_fits *fits, const clo_fits_question *question, uint32_t from, uint32_t end)
{
    uint64_t from_bits = ~UINT64_C(0) << from % 64; /* of the first word only */

    for (uint32_t word = next_filled(fits, from / 64); word * 64 < end; word = next_filled(fits, word + 1)) {
        uint64_t bits = fits->present[word] & (word == from / 64 ? from_bits : ~UINT64_C(0));
        for (uint32_t i = 0; i < question->sets_count; i++)
            bits &= question->sets[i][word];
        for (; bits != 0; bits &= bits - 1) {
            uint32_t position = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (position >= end)
                return end;
            if (does_fit(fits, question, position))
                return position;
        }
    }
    return end;
}

uint32_t clo_fits_first(const clo_fits *fits, uint32_t from)
{
    uint32_t word = from < fits->count ? from / 64 : fits->words;

    for (uint64_t mask = ~UINT64_C(0) << from % 64; (word = next_filled(fits, word)) < fits->words; word++) {
        uint64_t bits = fits->present[word] & (word == from / 64 ? mask : ~UINT64_C(0));
        if (bits != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return fits->count;
}
