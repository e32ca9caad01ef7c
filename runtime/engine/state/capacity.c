/* capacity.c - see capacity.h. */
#include "engine/state/capacity.h"

#include <string.h>

static bool is_limited(const clo_platform *platform, uint32_t machine)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (platform->capacities[(size_t)machine * CLO_RESOURCES_MAX + r] >= 0)
            return true;
    return false;
}

size_t clo_capacity_pages(const clo_platform *platform, uint32_t threads)
{
    size_t pages = 0;

    for (uint32_t m = 0; m < platform->machines_count; m++)
        pages += is_limited(platform, m) ? clo_semaphore_pages(threads) : 0;
    return pages;
}

void clo_capacity_open(const clo_platform *platform, uint32_t machine, clo_semaphore *semaphore,
                       clo_semaphore_page **pages, uint32_t threads)
{
    bool has_pages = is_limited(platform, machine);

    clo_semaphore_init(semaphore, &platform->capacities[(size_t)machine * CLO_RESOURCES_MAX], CLO_RESOURCES_MAX, *pages,
                       has_pages ? threads : 0);
    *pages += has_pages ? clo_semaphore_pages(threads) : 0;
}

void clo_line_carve(clo_line *line, const clo_program *program, clo_block *block)
{
    line->program = program;
    if (!program->graph->has_demands)
        return;
    clo_carve(block, &line->semaphores, program->platform->machines_count);
    clo_carve(block, &line->pages, clo_capacity_pages(program->platform, 1));
    clo_carve(block, &line->tickets, program->executions);
    clo_carve(block, &line->waiting, program->executions);
    clo_carve(block, &line->executor, program->executions);
}

void clo_line_begin(clo_line *line)
{
    line->waiting_count = 0;
    if (line->semaphores == NULL)
        return;
    clo_semaphore_page *pages = line->pages;
    for (uint32_t m = 0; m < line->program->platform->machines_count; m++)
        clo_capacity_open(line->program->platform, m, &line->semaphores[m], &pages, 1);
    memset(line->tickets, 0xff, line->program->executions * sizeof *line->tickets); /* CLO_SEMAPHORE_NEW */
}

static clo_semaphore *semaphore_of(const clo_line *line, uint32_t executor)
{
    return &line->semaphores[line->program->platform->executors[executor].machine];
}

static bool try_to_take(clo_line *line, uint32_t execution, uint32_t executor)
{
    int64_t demand[CLO_RESOURCES_MAX];

    clo_program_demand(line->program, clo_program_task(line->program, execution), demand);
    return clo_semaphore_acquire_or_watch(semaphore_of(line, executor), demand, &line->tickets[execution], 0);
}

bool clo_line_take(clo_line *line, uint32_t execution, uint32_t executor)
{
    if (line->semaphores == NULL || try_to_take(line, execution, executor))
        return true;
    line->waiting[line->waiting_count] = execution;
    line->executor[line->waiting_count++] = executor;
    return false;
}

bool clo_line_give(clo_line *line, uint32_t execution, uint32_t executor)
{
    int64_t demand[CLO_RESOURCES_MAX];

    if (line->semaphores == NULL)
        return false;
    clo_program_demand(line->program, clo_program_task(line->program, execution), demand);
    return clo_semaphore_release(semaphore_of(line, executor), demand, 0);
}

/* Takes number `at` out of the line. */
static void leave(clo_line *line, uint32_t at)
{
    uint32_t behind = --line->waiting_count - at;

    memmove(&line->waiting[at], &line->waiting[at + 1], behind * sizeof *line->waiting);
    memmove(&line->executor[at], &line->executor[at + 1], behind * sizeof *line->executor);
}

uint32_t clo_line_next(clo_line *line, uint32_t executor, uint32_t *cursor)
{
    const clo_semaphore *semaphore = semaphore_of(line, executor);

    for (; *cursor < line->waiting_count; ++*cursor) {
        uint32_t execution = line->waiting[*cursor], where = line->executor[*cursor];
        if (semaphore_of(line, where) != semaphore || !try_to_take(line, execution, where))
            continue;
        leave(line, *cursor);
        return execution;
    }
    return CLO_NONE;
}
