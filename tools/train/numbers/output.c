/* output.c - see output.h. */
#define _POSIX_C_SOURCE 200809L
#include "train/numbers/output.h"

#include <clotho/file.h>

#include <stdlib.h>

bool output_open(output *o, const char *path)
{
    *o = (output){.path = path};
    o->file = open_memstream(&o->text, &o->bytes);
    return o->file != NULL;
}

bool output_close(output *o, bool is_whole)
{
    bool is_good = !ferror(o->file) && is_whole;

    is_good = fclose(o->file) == 0 && is_good;
    o->is_refused = is_good && clo_file_write(o->path, o->text, o->bytes) != CLO_OK;
    free(o->text);
    return is_good && !o->is_refused;
}
