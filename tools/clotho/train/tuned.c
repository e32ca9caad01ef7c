/* tuned.c - see tuned.h. The means are what is built in. */
#include "clotho/train/tuned.h"

#include <clotho/policy.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(rows) (uint32_t)(sizeof(rows) / sizeof(rows)[0])

static const tuned_number parametric[] = {
    {.key = "", .mean = 1.0254, .sigma = 0.6, .least_sigma = 0.02, .least = -999, .most = 999},
    {.key = "", .mean = 4.9115, .sigma = 1.5, .least_sigma = 0.05, .least = -999, .most = 999},
    {.key = "", .mean = 4.9624, .sigma = 1.5, .least_sigma = 0.05, .least = -999, .most = 999},
    {.key = "", .mean = 0.5845, .sigma = 0.3, .least_sigma = 0.01, .least = -999, .most = 999},
    {.key = "", .mean = 0.1769, .sigma = 0.4, .least_sigma = 0.01, .least = -999, .most = 999},
    {.key = "", .mean = 2.3192, .sigma = 0.5, .least_sigma = 0.02, .least = 0.01, .most = 999, .is_log = true},
    {.key = "", .mean = 0.2864, .sigma = 0.3, .least_sigma = 0.01, .least = -999, .most = 999},
    {.key = "", .mean = 0.6474, .sigma = 0.4, .least_sigma = 0.01, .least = -999, .most = 999},
    {.key = "", .mean = -1, .sigma = 1, .least_sigma = 0.01, .least = -999, .most = 999},
    {.key = "l_size=", .mean = 0.6, .sigma = 0.2, .least_sigma = 0.01, .least = -10, .most = 10, .for_sizes = true},
    {.key = "fit=", .mean = 0, .sigma = 1, .least_sigma = 0.05, .least = 0, .most = 999, .for_classes = true},
};

/* kappa is not searched: it says how unfair the policy may be. It stays where the search begins. */
static const tuned_number graphene[] = {
    {.key = "kappa=", .mean = 1000, .sigma = 0, .least_sigma = 0, .least = 0, .most = 10000},
    {.key = "srpt=", .mean = 1, .sigma = 0.5, .least_sigma = 0.01, .least = 0, .most = 3},
    {.key = "order=", .mean = 0.1, .sigma = 0.3, .least_sigma = 0.01, .least = 0, .most = 1},
    {.key = "large=", .mean = 1, .sigma = 1, .least_sigma = 0.02, .least = 0, .most = 10},
    {.key = "geometric=", .mean = 1, .sigma = 0.3, .least_sigma = 0.01, .least = 0, .most = 1},
    {.key = "area=", .mean = 0, .sigma = 0.5, .least_sigma = 0.01, .least = 0, .most = 1},
    {.key = "scarce=", .mean = 0, .sigma = 0.5, .least_sigma = 0.01, .least = 0, .most = 1},
    {.key = "path=", .mean = 0.05, .sigma = 0.2, .least_sigma = 0.005, .least = 0, .most = 10},
    {.key = "remote=", .mean = 0.8, .sigma = 0.2, .least_sigma = 0.01, .least = 0, .most = 1},
};

static const tuned_number easy_parametric[] = {
    {.key = "fit=", .mean = 2.8319, .sigma = 0.5, .least_sigma = 0.025, .least = -999, .most = 999},
    {.key = "work=", .mean = -1.0738, .sigma = 0.3, .least_sigma = 0.015, .least = -999, .most = 999},
    {.key = "area=", .mean = -0.6423, .sigma = 0.25, .least_sigma = 0.0125, .least = -999, .most = 999},
    {.key = "time=", .mean = -0.1529, .sigma = 0.25, .least_sigma = 0.0125, .least = -999, .most = 999},
    {.key = "behind=", .mean = 0.3037, .sigma = 0.25, .least_sigma = 0.0125, .least = -999, .most = 999},
    {.key = "ready=", .mean = -0.2818, .sigma = 0.25, .least_sigma = 0.0125, .least = -999, .most = 999},
    {.key = "pass=", .mean = 3.6717, .sigma = 1, .least_sigma = 0.05, .least = -999, .most = 999},
    {.key = "wait=", .mean = 1.3694, .sigma = 0.3, .least_sigma = 0.015, .least = -999, .most = 999},
    {.key = "first=", .mean = -0.0844, .sigma = 0.3, .least_sigma = 0.015, .least = -999, .most = 999},
    {.key = "length=", .mean = -0.9072, .sigma = 0.3, .least_sigma = 0.015, .least = -999, .most = 999},
    {.key = "left=", .mean = -1.1464, .sigma = 0.3, .least_sigma = 0.015, .least = -999, .most = 999},
};

static const tuned policies[] = {
    {"parametric", parametric, COUNT(parametric), true, "nine numbers with commas between"},
    {"graphene", graphene, COUNT(graphene), false, "srpt=1,order=0.1"},
    {"easy-parametric", easy_parametric, COUNT(easy_parametric), false, "fit=1,work=-1"},
};

const tuned *tuned_find(const char *policy)
{
    for (uint32_t i = 0; i < COUNT(policies); i++)
        if (strcmp(policies[i].policy, policy) == 0)
            return &policies[i];
    (void)misuse("--policy is '%.80s'; write parametric, graphene or easy-parametric, whose numbers can be trained",
                 policy);
    return NULL;
}

/* What `text` says of the number: behind its key, the last one, as the policy reads it, or at the beginning. NULL:
 * nothing. */
static const char *find_number(const char *text, const tuned_number *number)
{
    size_t length = strlen(number->key);
    const char *found = NULL;

    if (length == 0)
        return text;
    for (; text != NULL; text = strchr(text, ',') != NULL ? strchr(text, ',') + 1 : NULL)
        if (strncmp(text, number->key, length) == 0)
            found = text + length;
    return found;
}

static bool is_argument(const tuned *t, const char *start)
{
    const clo_policy *policy = clo_policy_find(t->policy);
    void *argument = calloc(1, policy->argument_bytes);
    bool is_one = argument != NULL && policy->parse(start, argument) == CLO_OK;

    if (is_one && policy->release != NULL)
        policy->release(argument);
    free(argument);
    return is_one;
}

/* The means that `start` says. False: it is no argument with numbers. */
static bool read_start(const tuned *t, const char *start, cem *out)
{
    const char *at = start;

    for (uint32_t n = 0; n < t->count; n++) {
        const tuned_number *number = &t->numbers[n];
        bool has_place = number->key[0] == '\0';
        const char *from = find_number(has_place ? at : start, number);
        if (from == NULL && number->for_sizes)
            out->mean[n] = 0; /* as the policy reads it */
        if (from == NULL)
            continue;
        char *end;
        double value = strtod(from, &end);
        if (end == from || !isfinite(value) || (number->is_log && !(value > 0)))
            return false;
        out->mean[n] = number->is_log ? log(value) : value;
        at = has_place ? end + (*end == ',') : at;
    }
    return is_argument(t, start);
}

int tuned_begin(const tuned *t, const char *start, tuned_platforms on, cem *out)
{
    out->numbers = 0;
    for (uint32_t n = 0; n < t->count; n++) {
        out->numbers += on.has_classes || !t->numbers[n].for_classes;
        out->mean[n] = t->numbers[n].mean;
        bool is_fixed = t->numbers[n].for_sizes && !on.has_sizes;
        out->sigma[n] = is_fixed ? 0 : t->numbers[n].sigma;
        out->least_sigma[n] = is_fixed ? 0 : t->numbers[n].least_sigma;
    }
    if (start != NULL && !read_start(t, start, out))
        return misuse("--start is '%.80s'; write %s, as the policy '%s' takes them", start, t->example, t->policy);
    return EXIT_GOOD;
}

void tuned_text(const tuned *t, const cem *search, const double *numbers, const char *goal,
                char out[TUNED_ARGUMENT_BYTES])
{
    size_t used = 0;

    for (uint32_t n = 0; n < search->numbers; n++) {
        const tuned_number *number = &t->numbers[n];
        double value = number->is_log ? exp(numbers[n]) : numbers[n];
        value = fmax(number->least, fmin(number->most, value));
        used +=
            (size_t)snprintf(out + used, TUNED_ARGUMENT_BYTES - used, "%s%s%.4f", n > 0 ? "," : "", number->key, value);
    }
    if (t->has_unit)
        snprintf(out + used, TUNED_ARGUMENT_BYTES - used, "%s%s,auto", goal != NULL ? ",for=" : "",
                 goal != NULL ? goal : "");
}
