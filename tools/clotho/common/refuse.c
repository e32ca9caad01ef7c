/* refuse.c - see refuse.h. */
#include "clotho/common/refuse.h"
#include "clotho/common/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 64, CHOICE_BYTES = 512, VERBS_BYTES = 120 /* a line with more is not read */ };

/* For option_at and refuse_search: the command has one thread here. */
static option_table searched;
static void (*each_verb)(void);
static struct {
    const char *name;         /* NULL: nobody searches */
    const char *own;          /* the command that refuses */
    char verbs[CHOICE_BYTES]; /* 'run', 'simulate' */
} search;

static const char *option_at(uint32_t index)
{
    return index < searched.count ? searched.options[index].name : index == searched.count ? "help" : NULL;
}

const option_spec *option_named(const option_table *table, const char *name, size_t bytes)
{
    for (size_t i = 0; i < table->count; i++)
        if (strncmp(table->options[i].name, name, bytes) == 0 && table->options[i].name[bytes] == '\0')
            return &table->options[i];
    return NULL;
}

void refuse_set_verbs(void (*each)(void))
{
    each_verb = each;
}

bool refuse_is_searching(void)
{
    return search.name != NULL;
}

void refuse_search(const option_table *table)
{
    size_t used = strlen(search.verbs);

    if (option_named(table, search.name, strlen(search.name)) != NULL && strcmp(table->cmd->name, search.own) != 0)
        snprintf(search.verbs + used, sizeof search.verbs - used, "%s'%s'", used > 0 ? ", " : "", table->cmd->name);
}

/* The verbs that have an option of that name: "'run', 'simulate'", or "". */
static const char *other_verbs(const command *cmd, const char *name)
{
    search.verbs[0] = '\0';
    if (each_verb != NULL && name[0] != '\0') {
        search.name = name;
        search.own = cmd->name;
        each_verb();
        search.name = NULL;
    }
    return search.verbs;
}

/* What other programs call so, our option for it, and what is written behind that. */
static const struct {
    const char *word, *option, *value;
} words[] = {
    {"scheduler", "planner", ""},
    {"scheduler", "policy", ""},
    {"sched", "planner", ""},
    {"sched", "policy", ""},
    {"algorithm", "planner", ""},
    {"algorithm", "policy", ""},
    {"algo", "planner", ""},
    {"algo", "policy", ""},
    {"heuristic", "planner", ""},
    {"heuristic", "policy", ""},
    {"method", "planner", ""},
    {"strategy", "policy", ""},
    {"cores", "platform", " uniform:N"},
    {"cpus", "platform", " uniform:N"},
    {"workers", "platform", " uniform:N"},
    {"threads", "platform", " uniform:N"},
    {"num-threads", "platform", " uniform:N"},
    {"processors", "platform", " uniform:N"},
    {"procs", "platform", " uniform:N"},
    {"nprocs", "platform", " uniform:N"},
    {"np", "platform", " uniform:N"},
    {"executors", "platform", " uniform:N"},
    {"machines", "platform", ""},
    {"machine", "platform", ""},
    {"hardware", "platform", ""},
    {"j", "platform", " uniform:N"},
    {"n", "platform", " uniform:N"},
    {"t", "platform", " uniform:N"},
    {"workers", "jobs", ""},
    {"threads", "jobs", ""},
    {"cores", "jobs", ""},
    {"output", "out", ""},
    {"plot", "gantt", " F.svg"},
    {"draw", "gantt", " F.svg"},
    {"svg", "gantt", " F.svg"},
    {"picture", "gantt", " F.svg"},
    {"iterations", "repeat", ""},
    {"runs", "repeat", ""},
    {"reps", "repeat", ""},
    {"count", "repeat", ""},
    {"timeout", "budget", ""},
    {"time-limit", "budget", ""},
    {"size", "tasks", ""},
    {"nodes", "tasks", ""},
    {"random-seed", "seed", ""},
    {"rng", "seed", ""},
    {"epochs", "generations", ""},
    {"epochs", "updates", ""},
    {"lr", "rate", ""},
    {"learning-rate", "rate", ""},
};

/* The first of our options for what other programs call `name` that the command has; NULL: none. */
static const option_spec *meant(const option_table *table, const char *name, const char **value)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const option_spec *option =
            strcmp(words[i].word, name) == 0 ? option_named(table, words[i].option, strlen(words[i].option)) : NULL;
        *value = words[i].value;
        if (option != NULL)
            return option;
    }
    return NULL;
}

/* "--platform, --planner": the options that begin so; "" if none. */
static const char *beginnings(const char *name, char choice[CHOICE_BYTES])
{
    size_t used = 0;

    choice[0] = '\0';
    for (uint32_t i = 0; name[0] != '\0' && option_at(i) != NULL && used < CHOICE_BYTES; i++)
        if (strncmp(option_at(i), name, strlen(name)) == 0)
            used += (size_t)snprintf(choice + used, CHOICE_BYTES - used, "%s--%s", used > 0 ? ", " : "", option_at(i));
    return choice;
}

static bool is_beginning(const char *a, const char *b)
{
    return strncmp(a, b, strlen(a)) == 0 || strncmp(a, b, strlen(b)) == 0;
}

static bool means_output(const char *name)
{
    return strcmp(name, "o") == 0 || strcmp(name, "out") == 0 || strcmp(name, "output") == 0;
}

int refuse_word(const option_table *table, const char *word)
{
    char name[NAME_BYTES], letter[2], choice[CHOICE_BYTES];
    size_t dashes = strspn(word, "-"), bytes = strcspn(word + dashes, "=:");
    int shown = (int)(dashes + bytes);
    const char *verb = table->cmd->name, *value;

    snprintf(name, sizeof name, "%.*s", (int)bytes, word + dashes);
    snprintf(letter, sizeof letter, "%.1s", dashes == 1 ? name : "");
    searched = *table;
    if (dashes == 2 && option_named(table, name, strlen(name)) != NULL) /* "--seed:3" */
        return misuse("%s: write --%s VALUE or --%s=VALUE", word, name, name);
    if (dashes == 2 && beginnings(name, choice)[0] != '\0')
        return misuse("--%s may be any of %s; write it whole", name, choice);
    const char *near = bytes > 1 ? nearest_name(name, option_at) : NULL;
    bool is_same = near != NULL && is_beginning(near, name);
    const option_spec *option = is_same ? NULL : meant(table, name, &value);
    if (option == NULL && near == NULL)
        option = meant(table, letter, &value);
    if (option != NULL)
        return misuse("%.*s is no option of '%s'; write --%s%s", shown, word, verb, option->name, value);
    if (dashes == 2 && strncmp(name, "no-", 3) == 0 && option_named(table, name + 3, strlen(name + 3)) != NULL)
        return misuse("%.*s is no option of '%s'; leave --%s out", shown, word, verb, name + 3);
    if (near != NULL && strncmp(near, "no-", 3) == 0 && strcmp(near + 3, name) == 0)
        return misuse("%.*s is no option of '%s', which does so unless there is --%s; leave it out", shown, word, verb,
                      near);
    if (option == NULL && strstr(table->cmd->operands, " OUT") != NULL && means_output(name))
        return misuse("%.*s is no option of '%s'; write %s: the file to write is an operand", shown, word, verb,
                      table->cmd->operands);
    const char *others = is_same || bytes < 2 ? "" : other_verbs(table->cmd, name);
    if (dashes == 2 && strcmp(name, "version") == 0)
        return misuse("--version is no option of '%s'; write clotho --version", verb);
    if (others[0] != '\0' && strlen(others) < VERBS_BYTES)
        return misuse("%.*s is no option of '%s', but of %s; see 'clotho %s --help'", shown, word, verb, others, verb);
    if (near != NULL)
        return misuse("%.*s is no option of '%s'; did you mean '--%s'?", shown, word, verb, near);
    return misuse("%.*s is no option of '%s'; see 'clotho %s --help'", shown, word, verb, verb);
}

int refuse_output(const option_table *table, const char *operand)
{
    const char *dot = strrchr(operand, '.');
    bool is_new = dot != NULL && dot[1] != '\0' && access(operand, F_OK) != 0;

    for (size_t i = 0; is_new && i < table->count; i++)
        if (table->options[i].letter == 'o' && table->options[i].kind == OPTION_OUTPUT)
            return misuse("'%s' is one operand too many for '%s'; did you mean '-o %s'?", operand, table->cmd->name,
                          operand);
    return EXIT_GOOD;
}

const char *list_of(const option_spec *option)
{
    static const char *const lists[][2] = {{"planner", "planners"},
                                           {"policy", "policies"},
                                           {"platform", "platforms"},
                                           {"format", "formats"},
                                           {"family", "families"}};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(option->name, lists[i][0]) == 0)
            return lists[i][1];
    return NULL;
}

#define TEXT_OF_ARGUMENT(number) #number
#define TEXT_OF(macro) TEXT_OF_ARGUMENT(macro)

static const char *expected(option_kind kind)
{
    switch (kind) {
    case OPTION_FLAG:
        return "nothing";
    case OPTION_TEXT:
        return "a text";
    case OPTION_INPUT:
    case OPTION_OUTPUT:
        return "the name of a file";
    case OPTION_LIST:
        return "at most " TEXT_OF(OPTION_LIST_MAX) " names";
    case OPTION_COUNT:
        return "a whole number from 1 to 4294967294";
    case OPTION_U32:
        return "a whole number from 0 to 4294967294";
    case OPTION_U64:
        return "a whole number from 0 to 18446744073709551615";
    case OPTION_REAL:
        return "a number >= 0 such as 0.5, without a unit";
    case OPTION_FACTOR:
        return "a number > 0 such as 0.5, without a unit";
    case OPTION_FIFO:
        return "a whole number from 1 to 98";
    case OPTION_TIME:
        return "a time such as 500, 20us, 3ms or 1s, without a blank, from 1 ns to 285 years";
    }
    return "?";
}

int refuse_missing(const option_table *table, const option_spec *option)
{
    if (list_of(option) != NULL)
        return misuse("--%s needs a value: %s; 'clotho list %s' prints the names", option->name, option->argument,
                      list_of(option));
    return misuse("--%s needs a value: %s, %s; see 'clotho %s --help'", option->name, option->argument,
                  expected(option->kind), table->cmd->name);
}

int refuse_attached(const option_table *table, const option_spec *option, const char *word)
{
    if (word[0] != '-' || word[1] == '-' || word[2] == '\0')
        return EXIT_GOOD;
    const option_spec *whole = option_named(table, word + 1, strcspn(word + 1, "="));
    if (whole != NULL)
        return misuse("%.*s is no option of '%s'; did you mean '--%s'?", (int)strcspn(word, "="), word,
                      table->cmd->name, whole->name);
    if (word[2] == '=')
        return misuse("%s: no '=' stands behind one letter; write -%c %s or --%s=%s", word, word[1], word + 3,
                      option->name, word + 3);
    return EXIT_GOOD;
}

int refuse_value(const option_spec *option, const char *value)
{
    bool has_unit = option->kind == OPTION_COUNT || option->kind == OPTION_U32 || option->kind == OPTION_U64 ||
                    option->kind == OPTION_FIFO;
    bool names_it = has_unit && option->argument != NULL && option->argument[1] != '\0'; /* MIB, PRIORITY */

    return misuse("--%s is '%s'; write %s%s%s", option->name, value, names_it ? option->argument : "",
                  names_it ? ": " : "", expected(option->kind));
}
