/* learned_argument.c - "FILE,sampled,seed=N,stages=N,jobs=N", each part optional; "own" in place of FILE is a built-in
 * model. A file whose name is one of the words is written as ./sampled; a name cannot hold a comma. */
#include "policy/network/learned.h"

#include "base/status.h"
#include "learn/model/builtin.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* One part of the text. */
typedef struct part {
    const char *text;
    size_t length;
    const char *policy; /* for messages */
} part;

static bool is_word(part p, const char *word)
{
    return strlen(word) == p.length && strncmp(p.text, word, p.length) == 0;
}

/* The number behind "name="; false: the part is something else. *is_good: it is a whole number up to `most`. */
static bool read_number(part p, const char *name, uint64_t most, uint64_t *out, bool *is_good)
{
    size_t length = strlen(name);
    uint64_t value = 0;

    if (p.length < length || strncmp(p.text, name, length) != 0)
        return false;
    *is_good = p.length > length;
    for (size_t i = length; i < p.length && *is_good; i++) {
        uint64_t digit = (uint64_t)(unsigned char)p.text[i] - '0';
        *is_good = digit <= 9 && value <= (most - digit) / 10;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static clo_status refuse(part p, const char *why)
{
    return clo_fail(CLO_ERR_ARGUMENT, "policy '%s': '%.*s' %s; write FILE,sampled,seed=N,stages=N,jobs=N", p.policy,
                    p.length < 60 ? (int)p.length : 60, p.text, why);
}

static clo_status load(part p, clo_learned_argument *with)
{
    char path[PATH_BYTES];

    if (p.length >= sizeof path)
        return refuse(p, "is too long for a file's name");
    snprintf(path, sizeof path, "%.*s", (int)p.length, p.text);
    clo_status status = clo_model_load(path, &with->owned);
    with->model = with->owned;
    return status;
}

/* The built-in model that was trained here. */
static clo_status open_own(clo_learned_argument *with)
{
    const clo_builtin_model *own = &clo_builtin_decima_own;
    clo_status status = clo_model_open(own->name, own->data, own->bytes, &with->owned);

    with->model = with->owned;
    return status;
}

static clo_status read_part(part p, bool is_first, clo_learned_argument *with)
{
    uint64_t number = 0;
    bool is_good = true;

    if (is_word(p, "sampled"))
        with->is_sampled = 1;
    else if (read_number(p, "seed=", UINT64_MAX, &number, &is_good))
        with->seed = number;
    else if (read_number(p, "stages=", CLO_LEARNED_ROWS_MAX, &number, &is_good))
        with->stages_max = (uint32_t)number;
    else if (read_number(p, "jobs=", CLO_LEARNED_ROWS_MAX, &number, &is_good))
        with->jobs_max = (uint32_t)number;
    else if (is_first && is_word(p, "own"))
        return open_own(with);
    else if (is_first && p.length > 0)
        return load(p, with);
    else
        return refuse(p, "is none of its parts");
    return is_good ? CLO_OK : refuse(p, "holds no whole number in its range");
}

clo_status clo_learned_read_text(const char *policy, const char *text, void *argument)
{
    clo_learned_argument with = CLO_LEARNED_ARGUMENT_INIT;
    clo_status status = CLO_OK;

    for (bool is_first = true; status == CLO_OK; is_first = false) {
        part p = {text, strcspn(text, ","), policy};
        status = read_part(p, is_first, &with);
        text += p.length;
        if (*text == '\0')
            break;
        text++;
    }
    if (status == CLO_OK)
        *(clo_learned_argument *)argument = with;
    else
        clo_learned_release(&with);
    return status;
}

clo_status clo_learned_parse(const char *text, void *argument)
{
    return clo_learned_read_text("decima", text, argument);
}

void clo_learned_release(const void *argument)
{
    clo_model_destroy(((const clo_learned_argument *)argument)->owned);
}
