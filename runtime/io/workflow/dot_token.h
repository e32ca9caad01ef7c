/* io/workflow/dot_token.h - the tokens of the DOT language (graphviz.org/doc/info/lang.html): names, numbers, quoted
 * and HTML strings, punctuation; comments are skipped. */
#ifndef CLO_IO_WORKFLOW_DOT_TOKEN_H
#define CLO_IO_WORKFLOW_DOT_TOKEN_H

#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum clo_dot_kind {
    CLO_DOT_END,
    CLO_DOT_ID,    /* text: the decoded name                                   */
    CLO_DOT_ARROW, /* ->                                                       */
    CLO_DOT_LINE,  /* --                                                       */
    CLO_DOT_SIGN   /* one of { } [ ] ; , = :  in `sign`                        */
} clo_dot_kind;

typedef struct clo_dot_token {
    clo_dot_kind kind;
    char sign;
    bool quoted;      /* a quoted name is never a keyword                       */
    const char *text; /* in the lexer's pool, lives as long as it               */
    size_t at;        /* offset of the token in the file, for clo_text_line     */
} clo_dot_token;

typedef struct clo_dot_lexer {
    const char *file, *text;
    size_t bytes, at, first; /* first: behind a byte order mark */
    char *pool; /* decoded names, 0-terminated, one after the other: they never need more than bytes * 2 + 1 */
    size_t used;
    clo_dot_token token; /* the one looked at; clo_dot_next takes the next */
} clo_dot_lexer;

/* Returns CLO_OK or CLO_ERR_MEMORY. `text` has passed clo_text_check. */
clo_status clo_dot_lexer_open(clo_dot_lexer *lexer, const char *file, const char *text, size_t bytes);
void clo_dot_lexer_close(clo_dot_lexer *lexer);

/* Reads the next token. Returns CLO_OK or CLO_ERR_FORMAT ("FILE:LINE: ..."). */
clo_status clo_dot_next(clo_dot_lexer *lexer);

/* True if the token is the unquoted keyword `word`, in any case; or that sign. */
bool clo_dot_is(const clo_dot_lexer *lexer, const char *word);
bool clo_dot_is_sign(const clo_dot_lexer *lexer, char sign);

/* "FILE:LINE: what" for the token; returns CLO_ERR_FORMAT. */
clo_status clo_dot_wrong(const clo_dot_lexer *lexer, const char *what);

#endif
