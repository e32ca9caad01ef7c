/* parse.c - see parse.h. Nothing here depends on the locale. */
#include "platform/file/parse.h"

#include <string.h>

bool clo_parse_u64(const char *text, uint64_t max, uint64_t *out)
{
    const char *end = text;

    return clo_parse_next_u64(&end, out) == 1 && end != text && *end == '\0' && *text >= '0' && *text <= '9' &&
           *out <= max;
}

bool clo_parse_int(const char *text, int64_t max, int64_t *out)
{
    uint64_t value = 0;

    if (strcmp(text, "-1") == 0) {
        *out = -1;
        return true;
    }
    if (!clo_parse_u64(text, (uint64_t)max, &value))
        return false;
    *out = (int64_t)value;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int clo_parse_next_u64(const char **text, uint64_t *out)
{
    const char *s = *text;
    uint64_t value = 0;

    while (is_blank(*s))
        s++;
    if (*s == '\0')
        return 0;
    if (*s < '0' || *s > '9')
        return -1;
    for (; *s >= '0' && *s <= '9'; s++) {
        uint64_t digit = (uint64_t)(*s - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return -1;
        value = value * 10 + digit;
    }
    if (*s != '\0' && !is_blank(*s))
        return -1;
    *text = s;
    *out = value;
    return 1;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "0x" and 1..8 digits, up to the next comma or the end. Returns the first character after it, NULL: malformed. */
static const char *parse_word(const char *text, uint32_t *out)
{
    uint32_t value = 0;
    int digits = 0;

    if (text[0] != '0' || text[1] != 'x')
        return NULL;
    for (text += 2; *text != ',' && *text != '\0'; text++) {
        int digit = hex_digit(*text);
        if (digit < 0 || ++digits > 8)
            return NULL;
        value = value << 4 | (uint32_t)digit;
    }
    *out = value;
    return digits > 0 ? text : NULL;
}

static size_t count_words(const char *text)
{
    size_t words = 1;

    for (; *text != '\0'; text++)
        words += *text == ',';
    return words;
}

bool clo_parse_set(const char *text, clo_set *out)
{
    static const char infinite[] = "0xf...f";

    memset(out, 0, sizeof *out);
    if (strncmp(text, infinite, sizeof infinite - 1) == 0) {
        out->infinite = true;
        text += sizeof infinite - 1;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
    size_t left = count_words(text);
    if (left > CLO_SET_BITS / 32 || *text == ',')
        return false;
    for (;; text++) { /* one word a round */
        uint32_t word = 0;
        left--;
        if (*text != ',' && (text = parse_word(text, &word)) == NULL)
            return false;
        out->words[left / 2] |= (uint64_t)word << (left % 2 * 32);
        if (left == 0)
            return *text == '\0';
    }
}

uint32_t clo_set_count(const clo_set *set)
{
    uint32_t count = 0;

    for (size_t w = 0; w < CLO_SET_BITS / 64; w++)
        count += (uint32_t)__builtin_popcountll(set->words[w]);
    return count;
}
