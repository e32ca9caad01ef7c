/* Workload files: what every line may say, what is refused and how, the files that they name, and the way back. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "fault.h"
#include "io/text/parse.h"
#include "io/text/reader.h"
#include "support.h"
#include "workload/workload.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD "{\"format\": \"clotho.workload/1\"}\n"
#define G "{\"format\": \"clotho.graph/1\", \"name\": \"g\", \"tasks\": [{}]}"
#define JOB "{\"graph\": " G "}\n"

static clo_workload *parsed(const char *text)
{
    clo_workload *w;

    ok(clo_workload_parse("f", text, strlen(text), NULL, &w));
    return w;
}

static void a_line_is_a_job(void **state)
{
    clo_workload *w =
        parsed("{\"format\": \"clotho.workload/1\", \"name\": \"stream\", \"description\": \"free\", \"jobs\": 3,"
               " \"platform\": {\"executors\": 4}}\n\n"
               "{\"graph\": " G
               ", \"name\": \"first\", \"arrival_ns\": 7, \"deadline_ns\": 8, \"period_ns\": 9, \"releases\": 10,"
               " \"weight\": 11, \"band\": 5, \"group\": 13, \"limit\": 4}\n"
               "  {\"graph\": 0, \"arrival_ns\": 7}\r\n"
               "{\"graph\": " G ", \"arrival_ns\": 1e2}");
    const clo_workload_job *a = clo_workload_get(w, 0), *b = clo_workload_get(w, 1), *c = clo_workload_get(w, 2);

    (void)state;
    assert_int_equal(clo_workload_jobs(w), 3);
    assert_string_equal(clo_workload_name(w), "stream");
    assert_int_equal(clo_platform_executors(clo_workload_platform(w)), 4);
    assert_string_equal(a->name, "first");
    assert_int_equal(a->arrival_ns, 7);
    assert_int_equal(a->deadline_ns, 8);
    assert_int_equal(a->period_ns, 9);
    assert_int_equal(a->releases, 10);
    assert_int_equal(a->weight, 11);
    assert_int_equal(a->band, 5);
    assert_int_equal(a->group, 13);
    assert_int_equal(a->limit, 4);
    assert_int_equal(a->line, 3);
    assert_string_equal(b->name, "g");
    assert_int_equal(b->weight, 1);
    assert_int_equal(b->limit, 0);
    assert_int_equal(b->line, 4);
    assert_ptr_equal(a->graph, b->graph);
    assert_ptr_not_equal(a->graph, c->graph);
    assert_int_equal(c->arrival_ns, 100);
    assert_true(w->is_sorted);
    clo_workload_destroy(w);
}

static void scale_multiplies_times(void **state)
{
    static const char text[] = HEAD "{\"graph\": {\"format\": \"clotho.graph/1\", \"tasks\": [{\"work_ns\": 6}]},"
                                    " \"arrival_ns\": 10, \"deadline_ns\": 20, \"period_ns\": 30, \"weight\": 4}";
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_workload *w;
    clo_task task;

    (void)state;
    config.scale = 2.5;
    ok(clo_workload_parse("f", text, strlen(text), &config, &w));
    const clo_workload_job *job = clo_workload_get(w, 0);
    ok(clo_graph_task(job->graph, 0, &task));
    assert_int_equal(task.work_ns, 15);
    assert_int_equal(job->arrival_ns, 25);
    assert_int_equal(job->deadline_ns, 50);
    assert_int_equal(job->period_ns, 75);
    assert_int_equal(job->weight, 4);
    clo_workload_destroy(w);
}

typedef struct bad {
    const char *text;
    clo_status status;
    const char *error;
} bad;

static void refuse_each(const bad *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        clo_workload *w = NULL;
        clo_status status = clo_workload_parse("f", rows[i].text, strlen(rows[i].text), NULL, &w);

        if (status != rows[i].status || strcmp(clo_last_error(), rows[i].error) != 0)
            fail_msg("%s\n  gives    %d %s\n  not      %d %s", rows[i].text, status, clo_last_error(), rows[i].status,
                     rows[i].error);
        assert_null(w); /* untouched */
    }
}

#define REFUSE(rows) refuse_each(rows, sizeof(rows) / sizeof(rows)[0])
#define WITH(more) HEAD JOB "{\"graph\": 0, " more "}"

static void numbers_that_cannot_be_are_refused(void **state)
{
    static const bad rows[] = {
        {WITH("\"weight\": 0"), CLO_ERR_FORMAT, "f:3: weight is 0; write a whole number >= 1"},
        {WITH("\"weight\": -1"), CLO_ERR_FORMAT, "f:3: weight is -1; write a whole number >= 0"},
        {WITH("\"weight\": 1.5"), CLO_ERR_FORMAT, "f:3: weight is 1.5; write a whole number >= 0"},
        {WITH("\"weight\": 4294967296"), CLO_ERR_LIMIT,
         "f:3: weight is 4294967296; the largest possible is 4294967295"},
        {WITH("\"weight\": \"high\""), CLO_ERR_FORMAT, "f:3: weight is \"high\"; write a whole number >= 0"},
        {WITH("\"weight\": 2, \"weight\": 3"), CLO_ERR_FORMAT, "f:3: weight is there twice; remove one"},
        {WITH("\"deadline_ns\": 0"), CLO_ERR_FORMAT, "f:3: deadline_ns is 0; write a number > 0, or leave it out"},
        {WITH("\"deadline_ns\": -5"), CLO_ERR_FORMAT, "f:3: deadline_ns is -5; write a number >= 0"},
        {WITH("\"period_ns\": 0"), CLO_ERR_FORMAT, "f:3: period_ns is 0; write a number > 0, or leave it out"},
        {WITH("\"releases\": 0"), CLO_ERR_FORMAT, "f:3: releases is 0; write a number > 0, or leave it out"},
        {WITH("\"releases\": 3"), CLO_ERR_FORMAT, "f:3: job \"g\": has 3 releases but no period_ns; give one"},
        {WITH("\"limit\": 0"), CLO_ERR_FORMAT, "f:3: limit is 0; write a number > 0, or leave it out"},
        {WITH("\"limit\": 1e300"), CLO_ERR_LIMIT, "f:3: limit is 1e+300; the largest possible is 4294967295"},
        {WITH("\"band\": -1"), CLO_ERR_FORMAT, "f:3: band is -1; write a whole number >= 0"},
        {WITH("\"band\": 8"), CLO_ERR_FORMAT, "f:3: job \"g\": band is 8; use 0 to 7"},
        {WITH("\"group\": null"), CLO_ERR_FORMAT, "f:3: group is null; write a whole number >= 0"},
        {WITH("\"arrival_ns\": -1"), CLO_ERR_FORMAT, "f:3: arrival_ns is -1; write a number >= 0"},
        {WITH("\"arrival_ns\": NaN"), CLO_ERR_FORMAT,
         "f:3: JSON has no NaN, Infinity, True, False, None, comments or 'text'; write a number, true, false, null or "
         "\"text\""},
        {WITH("\"arrival_ns\": 1e999"), CLO_ERR_LIMIT,
         "f:3: arrival_ns is too large for a number; write a smaller one"},
        {WITH("\"arrival_ns\": 1e30"), CLO_ERR_LIMIT,
         "f:3: arrival_ns is 1e+30, with scale 1 more than 146 years; write a smaller time"},
        {WITH("\"arrival_ns\": 4e18, \"deadline_ns\": 4e18"), CLO_ERR_LIMIT,
         "f:3: job \"g\": arrival_ns + deadline_ns is more than 146 years; give less"},
        {HEAD "{\"graph\": " G ", \"arrival_ns\": 9}\n{\"graph\": 0, \"arrival_ns\": 8}", CLO_ERR_FORMAT,
         "f:3: arrival_ns is 8 ns, before the job above it (9 ns); put the lines into the order of arrivals"},
        {HEAD "{\"graph\": " G ", \"arrival_ns\": 9}\n{\"graph\": 0}", CLO_ERR_FORMAT,
         "f:3: the line arrives at 0 ns, before the job above it (9 ns); put the lines into the order of arrivals"},
        {"{\"format\": \"clotho.workload/1\", \"platform\": {\"executors\": 2}}\n" JOB "{\"graph\": 0, \"limit\": 3}",
         CLO_ERR_PLATFORM,
         "f:3: job 1 \"g\": limit is 3, but the platform has 2 executors; write at most that, or 0 for no limit"},
    };

    (void)state;
    REFUSE(rows);
}

static void lines_that_cannot_be_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD, CLO_ERR_FORMAT, "f:1: holds no jobs; write one a line below the first line"},
        {HEAD "\n  \n", CLO_ERR_FORMAT, "f:1: holds no jobs; write one a line below the first line"},
        {HEAD "[]", CLO_ERR_FORMAT, "f:2: the line is an array; write a job {\"graph\": ...}"},
        {HEAD "7", CLO_ERR_FORMAT, "f:2: the line is 7; write a job {\"graph\": ...}"},
        {HEAD "{}", CLO_ERR_FORMAT, "f:2: the line has neither \"graph\" nor \"file\"; write one of them"},
        {HEAD "{\"graph\": " G ", \"file\": \"x\"}", CLO_ERR_FORMAT,
         "f:2: the line has \"graph\" and \"file\"; write one of them"},
        {HEAD "{\"graph\": " G ", \"instance\": \"x\"}", CLO_ERR_FORMAT,
         "f:2: instance belongs to \"file\"; remove it"},
        {HEAD "{\"graph\": " G ", \"prio\": 1}", CLO_ERR_FORMAT, "f:2: prio is not a known key; correct or remove it"},
        {HEAD "{\"graph\": " G, CLO_ERR_FORMAT, "f:2: the line ends too early; it is truncated"},
        {HEAD "{\"graph\": " G ", \"name\": \"x", CLO_ERR_FORMAT,
         "f:2: the line ends inside a string; it is truncated"},
        {HEAD JOB "\xff", CLO_ERR_FORMAT, "f:3: byte 0xff is not valid UTF-8; save the file as UTF-8"},
        {HEAD JOB HEAD, CLO_ERR_FORMAT, "f:3: format is not a known key; correct or remove it"},
        {HEAD "{\"file\": \"x\"}", CLO_ERR_FORMAT,
         "f:2: file is \"x\"; write \"graph\": only a workload in a file may name files"},
        {"{\"format\": \"clotho.workload/1\", \"format\": 1}\n" JOB, CLO_ERR_FORMAT,
         "f:1: format is there twice; remove one"},
        {"{\"format\": \"clotho.workload/1\", \"jobs\": 3}\n" JOB JOB, CLO_ERR_FORMAT,
         "f:3: ends after 2 of 3 jobs; it is truncated, or correct \"jobs\""},
        {"{\"format\": \"clotho.workload/1\", \"jobs\": 1}\n" JOB JOB, CLO_ERR_FORMAT,
         "f:3: ends after 2 of 1 jobs; it is truncated, or correct \"jobs\""},
        {"{\"format\": \"clotho.workload/1\", \"name\": 1}\n" JOB, CLO_ERR_FORMAT,
         "f:1: name is 1; write a string in double quotes"},
        {"{\"format\": \"clotho.workload/1\", \"weight\": 1}\n" JOB, CLO_ERR_FORMAT,
         "f:1: weight is not a known key; correct or remove it"},
        {"{\"format\": \"clotho.workload/1\", \"platform\": {\"executors\": 0}}\n" JOB, CLO_ERR_FORMAT,
         "f:1: platform.executors must be a number or a list of 1 .. 65536 executors"},
        {"{\"format\": \"clotho.workload/2\"}\n" JOB, CLO_ERR_FORMAT,
         "f:1: format is \"clotho.workload/2\"; write \"clotho.workload/1\", the one format of workloads that is "
         "known"},
        {"", CLO_ERR_FORMAT, "f:1: the file is empty; write a graph into it"},
    };

    (void)state;
    REFUSE(rows);
}

static void graphs_that_cannot_be_are_refused_where_they_stand(void **state)
{
    static const bad rows[] = {
        {HEAD "{\"graph\": 0}", CLO_ERR_FORMAT,
         "f:2: graph is 0, but 0 jobs are above this line; write the number of one, from 0"},
        {HEAD JOB "{\"graph\": 1}", CLO_ERR_FORMAT,
         "f:3: graph is 1, but 1 job is above this line; write the number of one, from 0"},
        {HEAD JOB "{\"graph\": -1}", CLO_ERR_FORMAT, "f:3: graph is -1; write a whole number >= 0"},
        {HEAD "{\"graph\": \"g\"}", CLO_ERR_FORMAT,
         "f:2: graph is \"g\"; write a graph {\"format\": \"clotho.graph/1\", ...} or the number of a job above"},
        {HEAD "{\"graph\": {}}", CLO_ERR_FORMAT, "f:2: graph has no \"format\"; add it"},
        {HEAD "{\"graph\": {\"format\": \"saga\"}}", CLO_ERR_FORMAT,
         "f:2: graph.format is \"saga\"; write \"clotho.graph/1\"; name graphs of other formats by \"file\""},
        {HEAD "{\"graph\": {\"format\": \"clotho.graph/1\", \"tasks\": []}}", CLO_ERR_FORMAT,
         "f:2: graph.tasks is empty; a graph needs at least one task"},
        {HEAD JOB "{\"graph\": {\"format\": \"clotho.graph/1\", \"tasks\": [{}, {\"work_ns\": -3}]}}", CLO_ERR_FORMAT,
         "f:3: graph.tasks[1].work_ns is -3; write a number >= 0"},
        {HEAD "{\"graph\": {\"format\": \"clotho.graph/1\", \"tasks\": [{}], \"platform\": {\"executors\": 2}}}",
         CLO_ERR_FORMAT, "f:2: graph.platform is the platform of one job; move it to the first line"},
        {HEAD "{\"graph\": {\"format\": \"clotho.graph/1\", \"tasks\": [{}, {}], \"edges\": [{\"from\": 0, \"to\": 1}, "
              "{\"from\": 1, \"to\": 0}]}}",
         CLO_ERR_CYCLE, "f:2: 2 tasks wait for each other: \"t0\" -> \"t1\" -> \"t0\"; remove one of these edges"},
    };

    (void)state;
    REFUSE(rows);
}

/* Deep nesting, and every cut and changed byte of a good file: an error line, or a workload. */
static void hostile_texts_are_handled(void **state)
{
    static const char text[] = "{\"format\": \"clotho.workload/1\", \"jobs\": 2, \"platform\": {\"executors\": 3}}\n"
                               "{\"graph\": " G ", \"arrival_ns\": 1, \"weight\": 2, \"limit\": 2}\n"
                               "{\"graph\": 0, \"arrival_ns\": 5, \"period_ns\": 8, \"releases\": 2}\n";
    static const char bytes[] = "\0\"{}[]0129e.-,:\x80\n";
    char deep[1024] = HEAD "{\"graph\": ";
    clo_workload *w = NULL;

    (void)state;
    memset(deep + strlen(deep), '[', 500);
    fails(CLO_ERR_FORMAT, "f:2: ", clo_workload_parse("f", deep, strlen(deep), NULL, &w));
    for (size_t at = 0; at < sizeof text; at++) {
        char *piece = test_malloc(at + 1);
        memcpy(piece, text, at);
        clo_status status = clo_workload_parse("f", piece, at, NULL, &w);
        assert_true((status == CLO_OK) == (w != NULL));
        assert_true(status == CLO_OK || strncmp(clo_last_error(), "f:", 2) == 0);
        clo_workload_destroy(w);
        w = NULL;
        test_free(piece);
    }
    char copy[sizeof text];
    for (size_t at = 0; at < sizeof text - 1; at++)
        for (size_t b = 0; b < sizeof bytes - 1; b++) {
            memcpy(copy, text, sizeof text);
            copy[at] = bytes[b];
            clo_status status = clo_workload_parse("f", copy, sizeof text - 1, NULL, &w);
            assert_true((status == CLO_OK) == (w != NULL));
            assert_true(status == CLO_OK || strncmp(clo_last_error(), "f:", 2) == 0);
            clo_workload_destroy(w);
            w = NULL;
        }
}

/* A folder with files in it. */
static void put(const char *folder, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void files_are_read_once_and_graphs_shared(void **state)
{
    char folder[] = "/tmp/clotho_workload_XXXXXX", path[128];
    clo_workload *w;

    (void)state;
    assert_non_null(mkdtemp(folder));
    put(folder, "many.jsonl",
        "{\"format\": \"clotho.graph/1\", \"name\": \"a\", \"tasks\": [{}]}\n"
        "{\"format\": \"clotho.graph/1\", \"name\": \"bad\", \"tasks\": []}\n"
        "{\"format\": \"clotho.graph/1\", \"name\": \"b\", \"tasks\": [{}, {}]}\n"
        "{\"format\": \"clotho.graph/1\", \"name\": \"a\", \"tasks\": [{}, {}, {}]}\n");
    put(folder, "one.dot", "digraph one { x -> y }");
    put(folder, "w.jsonl",
        HEAD "{\"file\": \"many.jsonl\", \"instance\": \"b\"}\n"
             "{\"file\": \"many.jsonl\", \"instance\": \"a\", \"arrival_ns\": 3}\n"
             "{\"file\": \"one.dot\", \"arrival_ns\": 3, \"name\": \"dot\"}\n"
             "{\"file\": \"many.jsonl\", \"instance\": \"b\", \"arrival_ns\": 4}\n"
             "{\"file\": \"one.dot\", \"arrival_ns\": 5}\n"
             "{\"graph\": 1, \"arrival_ns\": 5}\n");
    snprintf(path, sizeof path, "%s/w.jsonl", folder);
    ok(clo_workload_load(path, NULL, &w));
    assert_int_equal(clo_workload_jobs(w), 6);
    assert_int_equal(clo_graph_tasks(clo_workload_get(w, 0)->graph), 2);
    assert_int_equal(clo_graph_tasks(clo_workload_get(w, 1)->graph), 1); /* the first of its name */
    assert_string_equal(clo_workload_get(w, 2)->name, "dot");
    assert_ptr_equal(clo_workload_get(w, 3)->graph, clo_workload_get(w, 0)->graph);
    assert_ptr_equal(clo_workload_get(w, 4)->graph, clo_workload_get(w, 2)->graph);
    assert_ptr_equal(clo_workload_get(w, 5)->graph, clo_workload_get(w, 1)->graph);
    assert_null(clo_workload_platform(w));
    clo_workload_destroy(w);
    const char *const names[] = {"many.jsonl", "one.dot", "w.jsonl"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void files_that_cannot_be_are_named_with_the_line_that_names_them(void **state)
{
    static const struct {
        const char *line;
        clo_status status;
        const char *error; /* both %s: the folder */
    } rows[] = {
        {"{\"file\": \"no.json\"}", CLO_ERR_IO, "%s/w:2: file: %s/no.json: "},
        {"{\"file\": \"-\"}", CLO_ERR_FORMAT,
         "%s/w:2: file is \"-\"; write the name of a file; standard input is none"},
        {"{\"file\": \"\"}", CLO_ERR_FORMAT, "%s/w:2: file is \"\"; write a string in double quotes"},
        {"{\"file\": \"two\"}", CLO_ERR_FORMAT,
         "%s/w:2: file: holds 2 instances, one a line; name the one to take by \"instance\""},
        {"{\"file\": \"two\", \"instance\": \"c\"}", CLO_ERR_FORMAT,
         "%s/w:2: file: has no instance \"c\", of 2 that can be read; name one that is there"},
        {"{\"file\": \"two\", \"instance\": 1}", CLO_ERR_FORMAT,
         "%s/w:2: instance is 1; write a string in double quotes"},
        {"{\"file\": \"bad\"}", CLO_ERR_FORMAT, "%s/w:2: file: %s/bad:1: tasks[0].work_ns is -1; write a number >= 0"},
        {"{\"file\": \"w\"}", CLO_ERR_FORMAT, "%s/w:2: file: "},
    };
    char folder[] = "/tmp/clotho_workload_XXXXXX", path[128], text[512], error[512];
    clo_workload *w = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    put(folder, "two", G "\n" G "\n");
    put(folder, "bad", "{\"format\": \"clotho.graph/1\", \"tasks\": [{\"work_ns\": -1}]}");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s%s", HEAD, rows[i].line);
        put(folder, "w", text);
        snprintf(path, sizeof path, "%s/w", folder);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(error, sizeof error, rows[i].error, folder, folder);
#pragma GCC diagnostic pop
        fails(rows[i].status, error, clo_workload_load(path, NULL, &w));
        assert_null(w);
    }
    const char *const names[] = {"two", "bad", "w"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    fails(CLO_ERR_IO, "", clo_workload_load("/nowhere/w", NULL, &w));
}

static void other_formats_become_jobs_that_arrive_as_they_say(void **state)
{
    clo_workload *w = parsed(G "\n" G "\n{\"name\": \"stg\", \"n\": 1, \"proc_time\": [2], \"pred\": [[]]}");

    (void)state;
    assert_int_equal(clo_workload_jobs(w), 3);
    assert_string_equal(clo_workload_get(w, 2)->name, "stg");
    assert_int_equal(clo_workload_get(w, 2)->arrival_ns, 0);
    assert_int_equal(clo_workload_get(w, 2)->line, 3);
    assert_string_equal(clo_workload_name(w), "f");
    clo_workload_destroy(w);

#define BATCH(name, start)                                                                                    \
    "{\"job\": \"" name                                                                                       \
    "\", \"tasks\": [{\"id\": 1, \"name\": \"M1\", \"parents\": [], \"instances\": 1, \"start\": 99, "        \
    "\"dur\": 1, \"cpu\": 1, \"mem\": 1}, {\"id\": 2, \"name\": \"R2\", \"parents\": [1], \"instances\": 3, " \
    "\"start\": " start ", \"dur\": 1, \"cpu\": 1, \"mem\": 1}]}\n"
    w = parsed(BATCH("late", "70") BATCH("early", "4") BATCH("middle", "5.5"));
    assert_string_equal(clo_workload_get(w, 0)->name, "early");
    assert_int_equal(clo_workload_get(w, 0)->arrival_ns, 4000000000);
    assert_int_equal(clo_workload_get(w, 0)->line, 2);
    assert_int_equal(clo_workload_get(w, 1)->arrival_ns, 5500000000);
    assert_int_equal(clo_workload_get(w, 2)->arrival_ns, 70000000000);
    assert_string_equal(clo_platform_name(clo_workload_platform(w)), "alibaba-v2018");
    clo_workload_destroy(w);

    w = parsed("{\"format\": \"clotho.graph/1\", \"tasks\": [{}], \"platform\": {\"executors\": 7}}");
    assert_int_equal(clo_platform_executors(clo_workload_platform(w)), 7);
    clo_workload_destroy(w);
    static const char second[] = G "\n{\"format\": \"clotho.graph/1\", \"tasks\": []}";
    fails(CLO_ERR_FORMAT, "f:2: tasks is empty; a graph needs at least one task",
          clo_workload_parse("f", second, sizeof second - 1, NULL, &w));
}

static void a_workload_is_no_graph(void **state)
{
    clo_document *d = NULL;
    char *text;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "holds 2 instances", clo_document_parse("f", HEAD JOB, strlen(HEAD JOB), NULL, &d));
    fails(CLO_ERR_FORMAT, "f:1: format is \"clotho.workload/1\"; write a graph file here; this is a workload",
          clo_document_parse("f", HEAD, strlen(HEAD), NULL, &d));
    assert_null(d);
    ok(clo_document_parse("f", G, strlen(G), NULL, &d));
    fails(CLO_ERR_UNSUPPORTED, "format 'workload' holds jobs, not one graph; use clo_workload_save",
          clo_document_print(d, "workload", &text));
    clo_document_destroy(d);
}

static clo_workload *rich(void)
{
    return parsed(
        "{\"format\": \"clotho.workload/1\", \"name\": \"r \\\"\\n\", \"platform\": {\"executors\": 4}}\n"
        "{\"graph\": {\"format\": \"clotho.graph/1\", \"name\": \"a\\n  b\", \"kinds\": [\"k\"], \"resources\": "
        "[\"m\"], \"tasks\": [{\"name\": \"x,\\n\", \"work_ns\": 5, \"times\": {\"k\": 3}, \"demand\": {\"m\": 2}},"
        " {\"name\": \"y\", \"command\": [\"echo\", \"a\\n b\"]}], \"edges\": [{\"from\": 0, \"to\": 1, "
        "\"bytes\": 9}]}, \"arrival_ns\": 3, \"deadline_ns\": 5, \"weight\": 7}\n"
        "{\"graph\": 0, \"arrival_ns\": 9007199254740992, \"period_ns\": 4, \"releases\": 9, \"band\": 3, "
        "\"name\": \"z\"}\n"
        "{\"graph\": " G ", \"arrival_ns\": 9007199254740992, \"group\": 4294967295, \"limit\": 4}\n");
}

static void same_jobs(const clo_workload *a, const clo_workload *b)
{
    assert_string_equal(clo_workload_name(a), clo_workload_name(b));
    assert_int_equal(clo_workload_jobs(a), clo_workload_jobs(b));
    for (uint32_t j = 0; j < clo_workload_jobs(a); j++) {
        clo_workload_job x = *clo_workload_get(a, j), y = *clo_workload_get(b, j);
        assert_string_equal(x.name, y.name);
        assert_string_equal(clo_graph_name(x.graph), clo_graph_name(y.graph));
        assert_int_equal(clo_graph_tasks(x.graph), clo_graph_tasks(y.graph));
        x.name = y.name = NULL;
        x.graph = y.graph = NULL;
        x.line = y.line = 0;
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void what_is_written_reads_back(void **state)
{
    clo_workload *w = rich(), *again;
    char *text, *twice;

    (void)state;
    ok(clo_workload_print(w, &text));
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 4); /* one a job */
    again = parsed(text);
    same_jobs(w, again);
    assert_ptr_equal(clo_workload_get(again, 0)->graph, clo_workload_get(again, 1)->graph);
    assert_int_equal(clo_platform_executors(clo_workload_platform(again)), 4);
    ok(clo_workload_print(again, &twice));
    assert_string_equal(text, twice);
    clo_free(text);
    clo_free(twice);
    clo_workload_destroy(again);
    clo_workload_destroy(w);
}

static void what_a_file_cannot_hold_is_not_written(void **state)
{
    clo_workload *w, *owner = parsed(HEAD JOB);
    clo_workload_job job = *clo_workload_get(owner, 0);

    (void)state;
    ok(clo_workload_create("w", &w));
    fails(CLO_ERR_STATE, "clo_workload_save: workload \"w\" has no jobs; add one", clo_workload_save(w, "/nowhere/w"));
    job.arrival_ns = 9007199254740993;
    ok(clo_workload_add(w, &job));
    fails(CLO_ERR_UNSUPPORTED, "job 0: arrival_ns is 9007199254740993; JSON holds integers up to 2^53 exactly",
          clo_workload_save(w, "/nowhere/w"));
    job.arrival_ns = 1;
    ok(clo_workload_add(w, &job));
    fails(CLO_ERR_STATE, "clo_workload_save: workload \"w\" is not sorted; call clo_workload_sort",
          clo_workload_save(w, "/nowhere/w"));
    ok(clo_workload_sort(w));
    clo_workload_destroy(w);
    fails(CLO_ERR_IO, "/nowhere/w", clo_workload_save(owner, "/nowhere/w"));
    clo_workload_destroy(owner);
}

static clo_status read_and_drop(void *context)
{
    clo_workload *w = NULL;
    const char *text = context;
    clo_status status = clo_workload_parse("f", text, strlen(text), NULL, &w);

    clo_workload_destroy(w);
    return status;
}

static clo_status print_and_drop(void *context)
{
    char *text = NULL;
    clo_status status = clo_workload_print(context, &text);

    clo_free(text);
    return status;
}

static clo_status load_and_drop(void *context)
{
    clo_workload *w = NULL;
    clo_status status = clo_workload_load(context, NULL, &w);

    clo_workload_destroy(w);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    char folder[] = "/tmp/clotho_workload_XXXXXX", path[128], graph[128];
    clo_workload *w = rich();

    (void)state;
    assert_true(fault_each(print_and_drop, w) > 5);
    clo_workload_destroy(w);
    assert_true(fault_each(read_and_drop, (void *)(uintptr_t)(HEAD JOB "{\"graph\": 0, \"name\": \"n\"}")) > 10);
    assert_true(fault_each(read_and_drop, (void *)(uintptr_t)(G "\n" G)) > 10);
    assert_non_null(mkdtemp(folder));
    put(folder, "w", HEAD "{\"file\": \"two\", \"instance\": \"g\"}\n{\"file\": \"two\", \"instance\": \"h\"}");
    put(folder, "two", "{\"format\": \"clotho.graph/1\", \"name\": \"h\", \"tasks\": [{}]}\n" G);
    snprintf(path, sizeof path, "%s/w", folder);
    snprintf(graph, sizeof graph, "%s/two", folder);
    assert_true(fault_each(load_and_drop, path) > 10);
    assert_int_equal(unlink(path) | unlink(graph) | rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_job),
        cmocka_unit_test(scale_multiplies_times),
        cmocka_unit_test(numbers_that_cannot_be_are_refused),
        cmocka_unit_test(lines_that_cannot_be_are_refused),
        cmocka_unit_test(graphs_that_cannot_be_are_refused_where_they_stand),
        cmocka_unit_test(hostile_texts_are_handled),
        cmocka_unit_test(files_are_read_once_and_graphs_shared),
        cmocka_unit_test(files_that_cannot_be_are_named_with_the_line_that_names_them),
        cmocka_unit_test(other_formats_become_jobs_that_arrive_as_they_say),
        cmocka_unit_test(a_workload_is_no_graph),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_a_file_cannot_hold_is_not_written),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("io_workload", tests, NULL, NULL);
}
