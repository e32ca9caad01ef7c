/* wrap.c - see wrap.h. ASCII: a byte is a column. */
#include "clotho/common/wrap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char example[] = "Example: ";

/* A place in a line that is being written. */
typedef struct cursor {
    size_t column, hang, width;
    const char *broken; /* what stands at the end of a line that goes on */
    bool is_fresh;      /* nothing stands behind the indentation yet      */
} cursor;

static void put_word(cursor *at, const char *word, size_t bytes)
{
    if (!at->is_fresh && at->column + 1 + bytes > at->width) {
        printf("%s\n%*s", at->broken, (int)at->hang, "");
        at->column = at->hang;
        at->is_fresh = true;
    }
    printf("%s%.*s", at->is_fresh ? "" : " ", (int)bytes, word);
    at->column += bytes + !at->is_fresh;
    at->is_fresh = false;
}

static void put_words(cursor *at, const char *words, size_t bytes)
{
    const char *end = words + bytes;

    while (words < end) { /* every round passes a blank or a word */
        size_t length = strcspn(words, " \n");
        length = length < (size_t)(end - words) ? length : (size_t)(end - words);
        if (length > 0)
            put_word(at, words, length);
        words += length + (words + length < end);
    }
}

void wrap_words(const char *words, size_t column, size_t hang)
{
    cursor at = {.column = column, .hang = hang, .width = WRAP_COLUMNS, .broken = "", .is_fresh = true};

    put_words(&at, words, strlen(words));
    putchar('\n');
}

/* Where the second column of an indented line begins, behind two blanks or more; 0: it has none. */
static size_t second_column(const char *line, size_t bytes)
{
    size_t at = strspn(line, " ");

    for (; at + 2 < bytes; at++)
        if (line[at] == ' ' && line[at + 1] == ' ')
            return at + strspn(line + at, " ");
    return 0;
}

/* A row of a table: what stands before its second column is kept as it is. */
static void put_row(const char *line, size_t bytes)
{
    size_t second = second_column(line, bytes), kept = second > 0 ? second : strspn(line, " ");
    cursor at = {.column = kept, .hang = kept, .width = WRAP_COLUMNS, .broken = "", .is_fresh = true};

    printf("%.*s", (int)kept, line);
    put_words(&at, line + kept, bytes - kept);
    putchar('\n');
}

static void put_example(const char *line, size_t bytes)
{
    cursor at = {.hang = sizeof example - 1, .width = WRAP_COLUMNS - 2, .broken = " \\", .is_fresh = true};

    put_words(&at, line, bytes);
    putchar('\n');
}

static bool begins_anew(const char *line)
{
    return line[0] == '\0' || line[0] == '\n' || line[0] == ' ' || strncmp(line, example, sizeof example - 1) == 0;
}

/* Bytes of the lines that flow together from `text` on: up to one that is not too long, or that the next leaves. */
static size_t paragraph(const char *text)
{
    size_t bytes = strcspn(text, "\n"), line = bytes;

    while (line > WRAP_COLUMNS && text[bytes] == '\n' && !begins_anew(text + bytes + 1)) {
        line = strcspn(text + bytes + 1, "\n");
        bytes += 1 + line;
    }
    return bytes;
}

void wrap_text(const char *text)
{
    while (*text != '\0') { /* every round passes a line */
        size_t bytes = begins_anew(text) ? strcspn(text, "\n") : paragraph(text);
        cursor at = {.width = WRAP_COLUMNS, .broken = "", .is_fresh = true};

        if (bytes <= WRAP_COLUMNS)
            printf("%.*s\n", (int)bytes, text);
        else if (text[0] == ' ')
            put_row(text, bytes);
        else if (begins_anew(text))
            put_example(text, bytes);
        else {
            put_words(&at, text, bytes);
            putchar('\n');
        }
        text += bytes + (text[bytes] == '\n');
    }
}
