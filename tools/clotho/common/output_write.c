/* output_write.c - see output_write.h. A file is there whole, or as it was before. */
#include "clotho/common/output_write.h"

#include "clotho/common/outputs.h"
#include "clotho/common/report.h"

#include <string.h>

int output_write(const char *path, bool (*put)(FILE *file, const void *content), const void *content)
{
    output out;

    if (strcmp(path, "-") == 0)
        return put(stdout, content) ? EXIT_GOOD : complain(path, "cannot be written whole");
    if (output_open(&out, path) && output_close(&out, put(out.file, content)))
        return EXIT_GOOD;
    return output_complain(&out);
}
