/* checkpoint_file.c - see checkpoint_file.h. */
#include "checkpoint_file.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t checkpoint_fold(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t checkpoint_sum(const void *data, size_t bytes)
{
    return checkpoint_fold(UINT64_C(14695981039346656037), data, bytes);
}

bool checkpoint_write(const char *path, const void *data, size_t bytes)
{
    output out;

    return output_open(&out, path) && output_close(&out, fwrite(data, 1, bytes, out.file) == bytes);
}

unsigned char *checkpoint_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;

    if (file == NULL)
        return NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && size <= CHECKPOINT_BYTES_MAX && fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)size + 1);
    if (data != NULL) {
        *bytes = fread(data, 1, (size_t)size, file);
        data[*bytes] = 0;
    }
    fclose(file);
    return data;
}
