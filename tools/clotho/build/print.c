/* print.c - see print.h. */
#include "clotho/build/print.h"
#include "ninja/manifest/bindings.h"

void printer_step(build_printer *p, uint32_t edge, int64_t now_ns, bool has_console)
{
    buffer line = {0};

    if (p->is_quiet)
        return;
    p->counts.steps = p->folder->order.steps;
    if (build_describe(p->folder, edge, p->is_verbose, &line))
        status_line(&p->status, &p->counts, buffer_piece(&line), now_ns, has_console);
    buffer_free(&line);
}

void printer_failure(build_printer *p, uint32_t edge, const char *why, bool has_console)
{
    const ninja_manifest *m = &p->folder->manifest;
    buffer text = {0};

    buffer_add_text(&text, p->status.has_color ? "\033[31mFAILED: \033[0m" : "FAILED: ");
    for (uint32_t i = 0; i < m->edges[edge].outputs_count; i++) {
        buffer_add_text(&text, m->nodes[m->edges[edge].outputs[i]].path);
        buffer_add_text(&text, " ");
    }
    buffer_add_text(&text, "\n");
    if (ninja_edge_command(&p->folder->manifest, edge, false, &text))
        buffer_add_text(&text, "\n");
    buffer_add_text(&text, why);
    status_text(&p->status, buffer_piece(&text), has_console);
    buffer_free(&text);
}
