/* report/page/frame.c - the frame of a page: head, picture, tables, platform, data, script. */
#include "report/page/page.h"

#include "base/memory.h"
#include "base/status.h"
#include "report/page/assets.h"

#include <string.h>

enum { COLUMNS = 100, DESCRIBED_MAX = 512 /* executors of a platform that is described */ };

static void add_head(const clo_page *page, clo_text *out)
{
    clo_text_add(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        clo_page_script_hash);
    clo_text_add_xml(out, page->title);
    clo_text_add(out, "</title>\n<style>\n");
    clo_text_add_bytes(out, (const char *)clo_page_style, clo_page_style_bytes);
    for (uint32_t c = 0; c < CLO_KIND_SHADES; c++)
        clo_text_add(out, ".k%u{background:%s}", c, clo_kind_fill(c));
    clo_text_add(out, "\n</style>\n</head>\n<body>\n<header>\n<h1>");
    clo_text_add_xml(out, page->title);
    clo_text_add(out, "</h1>\n");
    if (page->note != NULL) {
        clo_text_add(out, "<p class=\"note\">");
        clo_text_add_xml(out, page->note);
        clo_text_add(out, "</p>\n");
    }
    clo_page_add_facts(page, out);
    clo_text_add(out, "</header>\n");
}

static void add_legend(const clo_page *page, clo_text *out)
{
    char name[CLO_KIND_NAME_BYTES];

    clo_text_add(out, "<ul class=\"legend\" id=\"legend\" hidden>");
    for (uint32_t color = 0; color < CLO_KIND_COLORS; color++) {
        uint32_t k = clo_task_kinds_with_color(&page->kinds, color);
        if (k == CLO_NONE)
            break;
        clo_text_add(out, "<li><i class=\"k%u\"></i>", color);
        clo_text_add_xml(out, clo_kind_name(page->kinds.kinds[k].name, page->kinds.kinds[k].bytes, 40, name));
        clo_text_add(out, "</li>");
    }
    if (clo_task_kinds_others(&page->kinds) > 0)
        clo_text_add(out, "<li><i class=\"k%d\"></i>other</li>", CLO_KIND_COLORS);
    clo_text_add(out, "</ul>\n");
}

/* clo_text_add_xml shows an end of line as what it is not: a character that XML does not have. */
static void add_xml_lines(clo_text *out, char *text)
{
    for (char *line = text, *end; *line != '\0'; line = end) {
        size_t bytes = strcspn(line, "\n");
        end = line + bytes + (line[bytes] != '\0');
        line[bytes] = '\0';
        clo_text_add_xml(out, line);
        clo_text_add(out, "\n");
    }
}

static void add_platform(const clo_page *page, clo_text *out)
{
    char *text = NULL;

    if (clo_platform_executors(page->platform) > DESCRIBED_MAX)
        return;
    if (clo_platform_describe(page->platform, COLUMNS, &text) != CLO_OK) {
        out->failed = 1;
        return;
    }
    clo_text_add(out, "<section id=\"platform\">\n<h2>Platform</h2>\n<div class=\"wide\"><pre>");
    add_xml_lines(out, text);
    clo_text_add(out, "</pre></div>\n</section>\n");
    clo_free(text);
}

/* JSON has '<' only in strings: none is left that could end the block. */
static void add_data(const clo_page *page, clo_text *out)
{
    clo_text data = {0};

    clo_page_add_data(page, &data);
    clo_text_add(out, "<script type=\"application/json\" id=\"data\">");
    for (size_t at = 0; at < data.bytes;) {
        const char *less = memchr(data.data + at, '<', data.bytes - at);
        size_t bytes = less != NULL ? (size_t)(less - data.data) - at : data.bytes - at;
        clo_text_add_bytes(out, data.data + at, bytes);
        if (less != NULL)
            clo_text_add_bytes(out, "\\u003c", 6);
        at += bytes + (less != NULL);
    }
    clo_text_add(out, "</script>\n");
    out->failed |= data.failed;
    clo_text_free(&data);
}

clo_status clo_page_write(const clo_page *page, const clo_text *svg, const char *path)
{
    clo_text out = {0};

    add_head(page, &out);
    clo_text_add(&out, "<section id=\"schedule\">\n<h2>Schedule</h2>\n<div id=\"chart\" hidden></div>\n"
                       "<div id=\"picture\" class=\"wide\">");
    clo_text_add_bytes(&out, svg->data != NULL ? svg->data : "", svg->bytes);
    clo_text_add(&out, "</div>\n");
    add_legend(page, &out);
    clo_text_add(&out, "</section>\n<section id=\"distributions\" hidden>\n<h2>Distributions</h2>\n</section>\n");
    clo_page_add_tables(page, &out);
    add_platform(page, &out);
    add_data(page, &out);
    clo_text_add(&out, "<script>");
    clo_text_add_bytes(&out, (const char *)clo_page_script, clo_page_script_bytes);
    clo_text_add(&out, "</script>\n</body>\n</html>\n");
    clo_status status = out.failed ? clo_fail_memory("a report") : clo_file_write(path, out.data, out.bytes);
    clo_text_free(&out);
    return status;
}
