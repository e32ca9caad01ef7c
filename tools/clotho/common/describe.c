/* describe.c - see describe.h. */
#include "clotho/common/describe.h"

#include "clotho/common/json.h"
#include "clotho/common/refuse.h"

#include <string.h>

static const char *kind_name(option_kind kind)
{
    switch (kind) {
    case OPTION_FLAG:
        return "flag";
    case OPTION_TEXT:
        return "text";
    case OPTION_INPUT:
        return "input";
    case OPTION_OUTPUT:
        return "output";
    case OPTION_LIST:
        return "list";
    case OPTION_COUNT:
    case OPTION_U32:
    case OPTION_U64:
    case OPTION_REAL:
    case OPTION_FACTOR:
    case OPTION_FIFO:
        return "number";
    case OPTION_TIME:
        return "time";
    }
    return "?";
}

static void describe_option(json *out, const option_spec *option)
{
    const char letter[] = {option->letter, '\0'};

    json_open(out, NULL, '{');
    json_text(out, "name", option->name);
    json_text(out, "letter", option->letter != 0 ? letter : NULL);
    json_text(out, "argument", option->argument);
    json_text(out, "kind", kind_name(option->kind));
    json_text(out, "list", list_of(option));
    json_text(out, "help", option->help);
    json_close(out, '}');
}

bool wants_description(int argc, char **argv, int at)
{
    return at < argc && strcmp(argv[at], "--json") == 0;
}

int describe(const option_table *table)
{
    static const option_spec help = {"help", 'h', NULL, OPTION_FLAG, NULL, "this text"};
    json out;

    json_begin(&out);
    json_text(&out, "name", table->cmd->name);
    json_text(&out, "operands", table->cmd->operands);
    json_text(&out, "about", table->cmd->about);
    json_text(&out, "notes", table->cmd->notes);
    json_open(&out, "options", '[');
    for (size_t i = 0; i < table->count; i++)
        describe_option(&out, &table->options[i]);
    describe_option(&out, &help);
    json_close(&out, ']');
    return json_print(&out);
}
