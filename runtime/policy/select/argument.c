/* argument.c - see argument.h. */
#include "policy/select/argument.h"

#include "base/status.h"

#include <stdbool.h>
#include <string.h>

enum { WHOLE_MAX = 32767, DIGITS_MAX = 9 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits of one number. */
typedef struct digits {
    uint32_t whole;
    uint64_t part, scale; /* part / scale is behind the point */
    bool has_some, is_too_long;
} digits;

static digits read_digits(const char **text)
{
    digits d = {.scale = 1};

    for (; is_digit(**text); (*text)++) {
        d.whole = d.whole > WHOLE_MAX ? d.whole : d.whole * 10 + (uint32_t)(**text - '0');
        d.has_some = true;
    }
    if (**text != '.')
        return d;
    for ((*text)++; is_digit(**text); (*text)++) {
        d.has_some = true;
        d.is_too_long = d.is_too_long || d.scale == UINT64_C(1000000000);
        d.part = d.is_too_long ? d.part : d.part * 10 + (uint64_t)(**text - '0');
        d.scale = d.is_too_long ? d.scale : d.scale * 10;
    }
    _Static_assert(DIGITS_MAX == 9, "the scale above");
    return d;
}

/* Of the size, for a message. */
static int hundredths(int32_t q16)
{
    int64_t size = q16 < 0 ? -(int64_t)q16 : q16;

    return (int)((size * 100 + 32768) / 65536);
}

clo_status clo_fixed_read(const char **text, const char *policy, const char *what, clo_fixed_range range, int32_t *out)
{
    const char *at = *text;
    bool is_negative = *at == '-';

    at += *at == '-' || *at == '+';
    digits d = read_digits(&at);
    if (!d.has_some || d.is_too_long)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy '%s': '%.40s' begins with no number of at most %d decimals; write %s as 0.5", policy,
                        *text, DIGITS_MAX, what);
    int64_t q16 = (int64_t)d.whole * 65536 + (int64_t)((d.part * 65536 + d.scale / 2) / d.scale);
    q16 = is_negative ? -q16 : q16;
    if (d.whole > WHOLE_MAX || q16 < range.least_q16 || q16 > range.most_q16)
        return clo_fail(CLO_ERR_ARGUMENT, "policy '%s': %s is '%.40s'; write one from %s%d.%02d to %d.%02d", policy,
                        what, *text, range.least_q16 < 0 ? "-" : "", hundredths(range.least_q16) / 100,
                        hundredths(range.least_q16) % 100, hundredths(range.most_q16) / 100,
                        hundredths(range.most_q16) % 100);
    *out = (int32_t)q16;
    *text = at;
    return CLO_OK;
}

clo_status clo_argument_end(const char *text, const char *policy)
{
    return *text == '\0' ? CLO_OK
                         : clo_fail(CLO_ERR_ARGUMENT, "policy '%s': nothing may follow its argument, but '%.40s' does",
                                    policy, text);
}

clo_status clo_fixed_read_keys(const char *text, const clo_fixed_keys *keys, void *out)
{
    for (;;) { /* each round reads a part of the text */
        size_t k = 0;
        while (k < keys->count && strncmp(text, keys->list[k].name, strlen(keys->list[k].name)) != 0)
            k++;
        if (k == keys->count)
            return clo_fail(CLO_ERR_ARGUMENT, "policy '%s': '%.40s' sets nothing; write %s", keys->policy, text,
                            keys->example);
        const clo_fixed_key *key = &keys->list[k];
        text += strlen(key->name);
        clo_status status =
            clo_fixed_read(&text, keys->policy, key->name, key->range, (int32_t *)(void *)((char *)out + key->offset));
        if (status == CLO_OK && *text != ',')
            status = clo_argument_end(text, keys->policy);
        if (status != CLO_OK || *text++ == '\0')
            return status;
    }
}
