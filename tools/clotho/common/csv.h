/* csv.h - files of RFC 4180, but with lines that end as elsewhere on this system. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_CSV_H
#define CLO_TOOLS_CLOTHO_COMMON_CSV_H

#include <stdio.h>

/* What is written from here on goes to `path`. On a terminal fields are without what could command it. */
void csv_begin(const char *path);

/* A field, in quotes where it needs them. */
void put_csv_text(FILE *file, const char *text);

#endif
