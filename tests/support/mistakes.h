/* mistakes.h - a table of mistakes with the C API: what a program does, its status, and what its one line says. */
#ifndef CLO_TEST_MISTAKES_H
#define CLO_TEST_MISTAKES_H

#include "support.h"

#include <string.h>

/* A graph of two tasks, "a" and "b", that is built anew for each mistake. */
static clo_graph *draft;

/* What clo_last_error said where a mistake was made on another thread; "": it was made on this one. */
static char line_elsewhere[256];

typedef struct mistake {
    const char *name;
    clo_status (*make)(void);
    clo_status status;
    const char *holds[3];
} mistake;

#define MISTAKE(name, status, ...) \
    {                              \
#name, name, status,       \
        {                          \
            __VA_ARGS__            \
        }                          \
    }

static inline void check_mistake(const mistake *m)
{
    const clo_task tasks[2] = {{.name = "a", .work_ns = 10}, {.name = "b", .work_ns = 10}};

    ok(clo_graph_create("open", &draft));
    ok(clo_graph_add_tasks(draft, tasks, 2, NULL));
    line_elsewhere[0] = '\0';
    clo_status status = m->make();
    const char *line = line_elsewhere[0] != '\0' ? line_elsewhere : clo_last_error();
    if (status != m->status)
        fail_msg("%s: got %s: %s", m->name, clo_status_text(status), line);
    if (strchr(line, '\n') != NULL)
        fail_msg("%s: more than one line: %s", m->name, line);
    for (size_t k = 0; k < 3 && m->holds[k] != NULL; k++)
        if (strstr(line, m->holds[k]) == NULL)
            fail_msg("%s: '%s' lacks '%s'", m->name, line, m->holds[k]);
    clo_graph_destroy(draft);
}

#endif
