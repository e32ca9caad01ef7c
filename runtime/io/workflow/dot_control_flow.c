/* dot_control_flow.c - see dot_control_flow.h. */
#include "io/workflow/dot_control_flow.h"

#include "base/status.h"
#include "graph/control_flow.h"
#include "graph/shape/branch.h"
#include "io/text/json_scan.h"

#include <clotho/branch.h>

#include <stdio.h>

static clo_status wrong(const clo_dot_lexer *l, size_t at, const char *what)
{
    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s", l->file, clo_text_line(l->text, at), what);
}

static clo_status place(const clo_dot_lexer *l, size_t at, clo_status status)
{
    char prefix[300];

    if (status == CLO_OK || status == CLO_ERR_MEMORY)
        return status;
    snprintf(prefix, sizeof prefix, "%.256s:%zu: ", l->file, clo_text_line(l->text, at));
    return clo_fail_prefix(status == CLO_ERR_ARGUMENT ? CLO_ERR_FORMAT : status, prefix);
}

/* "49152,16384": one number for each arm. */
static clo_status read_chances(const clo_dot_lexer *l, const clo_dot_attributes *a, size_t at, uint32_t *chances)
{
    const char *text = a->chances;
    char what[160];

    for (uint32_t k = 0; k < a->arms; k++) {
        uint32_t digits = 0;
        chances[k] = 0;
        while (*text == ' ')
            text++;
        for (; *text >= '0' && *text <= '9' && digits < 6; digits++)
            chances[k] = chances[k] * 10 + (uint32_t)(*text++ - '0');
        while (*text == ' ')
            text++;
        bool is_end = k + 1 == a->arms ? *text == '\0' : *text == ',';
        if (digits == 0 || !is_end) {
            snprintf(what, sizeof what, "chances is '%.60s'; write %u numbers with commas between, %u in all",
                     a->chances, a->arms, CLO_CHANCES_ONE);
            return wrong(l, at, what);
        }
        text += *text == ',';
    }
    return CLO_OK;
}

clo_status clo_dot_add_control_flow(const clo_dot_lexer *l, clo_graph *graph, const clo_dot_attributes *a, size_t at)
{
    uint32_t task = clo_graph_tasks(graph) - 1, chances[CLO_ARMS_MAX];
    bool has_arms = a->has & CLO_DOT_HAS_ARMS, has_bound = a->has & CLO_DOT_HAS_BOUND, has_chances = a->chances != NULL;
    clo_status status = CLO_OK;

    if (a->merge)
        status = place(l, at, clo_graph_set_merge(graph, task));
    if (status != CLO_OK || (!has_arms && !has_bound && !has_chances))
        return status;
    if (has_bound && (has_arms || has_chances))
        return wrong(l, at, "bound is for the last condition of a loop, which has one arm; remove arms and chances");
    if (!has_arms && !has_bound)
        return wrong(l, at, "chances without arms; write arms=NUMBER too");
    if (a->instances > 1 || a->duplicable)
        return wrong(l, at,
                     a->duplicable ? "a branch that is duplicable; remove one of the two"
                                   : "a branch with several instances; remove one of the two");
    if (has_bound)
        return place(l, at, clo_graph_set_last(graph, task, a->bound));
    if (has_chances)
        status = read_chances(l, a, at, chances);
    return status == CLO_OK ? place(l, at, clo_graph_set_branch(graph, task, a->arms, has_chances ? chances : NULL))
                            : status;
}

clo_status clo_dot_check_arm(const clo_dot_lexer *l, const clo_dot_attributes *from, uint32_t arm, size_t at)
{
    uint32_t arms = from->has & CLO_DOT_HAS_BOUND ? 1 : from->has & CLO_DOT_HAS_ARMS ? from->arms : 0;
    char what[120];

    if (arm < arms)
        return CLO_OK;
    if (arms == 0)
        return wrong(l, at, "an arm of a node that is no branch; write arms=NUMBER there");
    snprintf(what, sizeof what, "arm is %u; the node has the arms 0 .. %u", arm, arms - 1);
    return wrong(l, at, what);
}

void clo_dot_write_control_flow(const clo_graph *graph, uint32_t task, clo_text *text)
{
    uint32_t arms = clo_graph_arms(graph, task);
    bool has_chances = clo_graph_has_chances(graph, task);

    if (arms > 0)
        clo_text_add(text, ", shape=diamond");
    if (clo_graph_is_merge(graph, task))
        clo_text_add(text, arms > 0 ? ", merge=true" : ", shape=invhouse, merge=true");
    if (clo_graph_bound(graph, task) > 0)
        clo_text_add(text, ", bound=%u", clo_graph_bound(graph, task));
    else if (arms > 0)
        clo_text_add(text, ", arms=%u", arms);
    for (uint32_t a = 0; has_chances && a < arms; a++)
        clo_text_add(text, "%s%u%s", a == 0 ? ", chances=\"" : ",", clo_graph_chance(graph, task, a),
                     a + 1 == arms ? "\"" : "");
}
