/* reader.c - numbers with scale, owned command lines, and what several writers need. */
#define _POSIX_C_SOURCE 200809L
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/names.h"

#include <assert.h>
#include <string.h>

bool clo_scaled(double value, double factor, int64_t *out)
{
    double scaled = value * factor;

    if (!(scaled >= 0 && scaled < 0x1p62))
        return false;
    *out = clo_round(scaled);
    return true;
}

clo_status clo_reader_time(const clo_reader *reader, const clo_json *json, const cJSON *item, double unit_ns,
                           int64_t *out)
{
    double value;
    clo_status status = clo_json_number(json, item, &value);

    if (status == CLO_OK && !clo_scaled(value, unit_ns * reader->scale, out))
        return clo_json_fail(json, CLO_ERR_LIMIT, item,
                             "is %.6g, with scale %g more than 146 years; write a smaller time", value, reader->scale);
    return status;
}

clo_status clo_reader_bytes(const clo_reader *reader, const clo_json *json, const cJSON *item, double unit,
                            uint64_t *out)
{
    double value;
    int64_t bytes;
    clo_status status = clo_json_number(json, item, &value);

    if (status != CLO_OK)
        return status;
    if (!clo_scaled(value, unit * reader->scale, &bytes))
        return clo_json_fail(json, CLO_ERR_LIMIT, item,
                             "is %.6g, with scale %g more than 2^62 bytes; write a smaller size", value, reader->scale);
    *out = (uint64_t)bytes;
    return CLO_OK;
}

clo_status clo_reader_refuse_commands(const clo_reader *reader)
{
    if (reader->body != clo_body_command)
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT, "%s: body \"command\": format %s has no command lines; use spin or memory",
                    reader->file, reader->format);
}

clo_status clo_reader_note_parallel(clo_reader *reader, size_t line, size_t count)
{
    clo_text text = {0};

    assert(count > 0 && reader->note == NULL);
    clo_text_add(
        &text,
        "%s:%zu: parallel edges (%zu more than pairs of tasks): each pair gets one edge, with the sum of their "
        "bytes",
        reader->file, line, count);
    return clo_text_take(&text, &reader->note) == CLO_OK ? CLO_OK : clo_fail_memory(reader->file);
}

clo_status clo_reader_begin(clo_reader *reader, const char *format, double unit_ns, size_t line)
{
    reader->format = format;
    reader->unit_ns = unit_ns;
    reader->line = line;
    return clo_reader_refuse_commands(reader);
}

void clo_reader_stem(const clo_reader *reader, char *stem, size_t bytes)
{
    const char *slash = strrchr(reader->file, '/');
    const char *from = slash != NULL ? slash + 1 : reader->file, *dot = strrchr(from, '.');
    size_t length = dot != NULL && dot != from ? (size_t)(dot - from) : strlen(from);

    length = length < bytes ? length : bytes - 1;
    memcpy(stem, from, length);
    stem[length] = '\0';
}

clo_command *clo_bodies_add(clo_bodies *bodies, const char *const *argv, size_t count, const char *directory)
{
    size_t strings = directory != NULL ? strlen(directory) + 1 : 0;
    for (size_t i = 0; i < count; i++)
        strings += strlen(argv[i]) + 1;

    void *blocks = bodies->blocks;
    size_t head = sizeof(clo_command) + (count + 1) * sizeof(char *);
    char *block = clo_allocate(head + strings + CLO_COMMAND_OUTPUT_BYTES, 1);
    if (block == NULL || clo_grow(&blocks, &bodies->capacity, bodies->count + 1, sizeof *bodies->blocks) != 0) {
        clo_free(block);
        return NULL;
    }
    bodies->blocks = blocks;
    bodies->blocks[bodies->count++] = block;

    clo_command *command = (clo_command *)(void *)block;
    char **vector = (char **)(void *)(block + sizeof *command);
    char *at = block + head;
    for (size_t i = 0; i < count; i++) {
        vector[i] = at;
        at = stpcpy(at, argv[i]) + 1;
    }
    if (directory != NULL) {
        command->directory = at;
        at = stpcpy(at, directory) + 1;
    }
    command->argv = vector;
    command->output = at;
    command->output_bytes = CLO_COMMAND_OUTPUT_BYTES;
    command->exit_status = -1;
    return command;
}

void clo_bodies_free(clo_bodies *bodies)
{
    if (bodies == NULL)
        return;
    for (size_t i = 0; i < bodies->count; i++)
        clo_free(bodies->blocks[i]);
    clo_free(bodies->blocks);
    clo_free(bodies);
}

void clo_text_add_double(clo_text *text, double value)
{
    char digits[40];

    clo_print(digits, sizeof digits, "%.15g", value);
    if (clo_number_read(digits, NULL) != value)
        clo_print(digits, sizeof digits, "%.17g", value);
    clo_text_add(text, "%s", digits);
}

void clo_text_add_seconds(clo_text *text, int64_t ns)
{
    clo_text_add(text, "%lld.%09lld", (long long)(ns / 1000000000), (long long)(ns % 1000000000));
}

clo_status clo_writer_refuse_instances(const clo_graph *graph, const char *format)
{
    char scratch[16];
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_task(graph, t, &task) == CLO_OK && task.instances > 1)
            return clo_fail(CLO_ERR_UNSUPPORTED, "task '%s' has %u instances, which %s cannot hold; write clotho",
                            clo_graph_task_name(graph, t, scratch), (unsigned)task.instances, format);
    return CLO_OK;
}

static bool is_plain(const char *name, const char *extra)
{
    for (; *name != '\0'; name++)
        if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9') ||
              strchr(extra, *name) != NULL))
            return false;
    return true;
}

bool clo_writer_names_are_ids(const clo_graph *graph, const char *extra, clo_status *status)
{
    clo_names names = {0};
    clo_task task;
    bool unique = true;

    *status = CLO_OK;
    for (uint32_t t = 0; t < clo_graph_tasks(graph) && unique && *status == CLO_OK; t++) {
        *status = clo_graph_task(graph, t, &task);
        if (*status != CLO_OK || task.name == NULL || task.name[0] == '\0' ||
            (extra != NULL && !is_plain(task.name, extra)) || clo_names_find(&names, task.name) != CLO_NONE)
            unique = false;
        else if (clo_names_add(&names, task.name, t) != 0)
            *status = clo_fail_memory("the names of the tasks");
    }
    clo_names_free(&names);
    return unique;
}

void clo_writer_add_id(clo_text *text, const clo_graph *graph, uint32_t task, bool named)
{
    char scratch[16];

    if (named)
        clo_text_add_json(text, clo_graph_task_name(graph, task, scratch));
    else
        clo_text_add(text, "\"t%u\"", (unsigned)task);
}
