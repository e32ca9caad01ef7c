/* checkpoint_file.c - see checkpoint_file.h. */
#define _POSIX_C_SOURCE 200809L
#include "train/trainer/checkpoint_file.h"
#include "train/numbers/fnv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD "clotho.checkpoint/"
#define VERSION "2"
#define SUM "sum %016llx\n"
enum { SUM_BYTES = 21, HEAD_BYTES = 64 };

unsigned char *checkpoint_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    struct stat about;

    if (file == NULL)
        return NULL;
    if (fstat(fileno(file), &about) == 0) {
        if (!S_ISREG(about.st_mode))
            errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
        else if (about.st_size > CHECKPOINT_BYTES_MAX)
            errno = EFBIG;
        else
            data = malloc((size_t)about.st_size + 1);
    }
    if (data != NULL) {
        *bytes = fread(data, 1, (size_t)about.st_size, file);
        data[*bytes] = 0;
    }
    int reason = errno;
    if (data != NULL && ferror(file)) {
        free(data);
        data = NULL;
    }
    fclose(file);
    errno = reason;
    return data;
}

bool checkpoint_begin(output *o, const char *path, const char *kind, uint64_t hash)
{
    if (!output_open(o, path))
        return false;
    bool is_begun = fprintf(o->file, HEAD VERSION " %s %llx\n", kind, (unsigned long long)hash) > 0;
    return is_begun || output_close(o, false); /* false: nothing is written */
}

bool checkpoint_end(output *o, bool is_whole)
{
    is_whole = fflush(o->file) == 0 && is_whole;
    if (is_whole)
        is_whole = fprintf(o->file, SUM, (unsigned long long)fnv_bytes(FNV_BEGIN, o->text, o->bytes)) > 0;
    return output_close(o, is_whole);
}

static bool has_sum(const char *text, size_t bytes)
{
    char sum[SUM_BYTES + 1];

    if (bytes < SUM_BYTES)
        return false;
    snprintf(sum, sizeof sum, SUM, (unsigned long long)fnv_bytes(FNV_BEGIN, text, bytes - SUM_BYTES));
    return memcmp(text + bytes - SUM_BYTES, sum, SUM_BYTES) == 0;
}

const char *checkpoint_lines(char *text, size_t bytes, const char *kind, uint64_t hash, FILE **lines)
{
    char head[HEAD_BYTES], any[HEAD_BYTES];
    int length = snprintf(head, sizeof head, HEAD VERSION " %s ", kind);
    const char *behind = strchr(text, ' ');

    snprintf(any, sizeof any, " %s ", kind);
    if (strncmp(text, HEAD, sizeof HEAD - 1) == 0 && behind != NULL && strncmp(behind, any, strlen(any)) == 0 &&
        strncmp(text, head, (size_t)length) != 0)
        return "is a checkpoint of another version of clotho; delete it to begin anew";
    if (strncmp(text, head, (size_t)length) != 0 || !has_sum(text, bytes))
        return "is no checkpoint of this training, or is damaged; name another file, or delete it to begin anew";
    if (strtoull(text + length, NULL, 16) != hash)
        return "was written for other jobs or options; name another file, or delete this one";
    *lines = fmemopen(text, bytes, "r");
    if (*lines == NULL)
        return "cannot be read: out of memory";
    (void)fseek(*lines, strchr(text, '\n') + 1 - text, SEEK_SET); /* within the text */
    return NULL;
}

char *checkpoint_line(FILE *in, const char *key, char *line, int bytes)
{
    size_t length = strlen(key);

    return fgets(line, bytes, in) != NULL && strncmp(line, key, length) == 0 && line[length] == ' ' ? line + length
                                                                                                    : NULL;
}
