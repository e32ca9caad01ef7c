/* output.c - see output.h. */
#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_open(output *o, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    struct stat about;

    *o = (output){.path = path};
    if (path[0] == '\0' || (slash != NULL && slash[1] == '\0')) {
        errno = path[0] == '\0' ? ENOENT : EISDIR;
        return false;
    }
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode)) {
        int length = snprintf(o->beside, sizeof o->beside, "%.*s.clotho-%ld.new", folder, path, (long)getpid());
        if (length < 0 || (size_t)length >= sizeof o->beside) {
            errno = ENAMETOOLONG;
            return false;
        }
    }
    o->file = fopen(o->beside[0] != '\0' ? o->beside : path, "wb");
    return o->file != NULL;
}

bool output_close(output *o, bool is_whole)
{
    bool is_good = fflush(o->file) == 0 && !ferror(o->file) && is_whole;

    if (is_good && o->beside[0] != '\0')
        is_good = fsync(fileno(o->file)) == 0;
    int error = errno;

    if (fclose(o->file) != 0 && is_good) {
        error = errno;
        is_good = false;
    }
    if (is_good && o->beside[0] != '\0' && rename(o->beside, o->path) != 0) {
        error = errno;
        is_good = false;
    }
    if (!is_good && o->beside[0] != '\0')
        (void)remove(o->beside);
    errno = error;
    return is_good;
}
