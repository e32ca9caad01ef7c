/* replay.c - runs a target over files, in place of libFuzzer: every seed and every input that once broke something
 * is an ordinary test in every build. Arguments: folders (without subfolders) or files. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "base/text.h"
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int run_file(const char *path)
{
    char *data;
    size_t bytes;

    if (clo_file_read(path, (size_t)1 << 26, &data, &bytes) != CLO_OK) {
        fprintf(stderr, "%s\n", clo_last_error());
        return -1;
    }
    /* A copy of the exact size: the address sanitizer sees a read behind its end. */
    uint8_t *exact = malloc(bytes > 0 ? bytes : 1);
    PROMISE(exact != NULL);
    memcpy(exact, data, bytes);
    clo_free(data);
    fprintf(stderr, "%s (%zu bytes)\n", path, bytes); /* the last line printed names the input that broke */
    LLVMFuzzerTestOneInput(exact, bytes);
    free(exact);
    return 0;
}

static int run_folder(DIR *folder, const char *path, int *count)
{
    char file[4096];

    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (run_file(file) != 0)
            return -1;
        ++*count;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;

    for (int i = 1; i < argc && failed == 0; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            failed = run_file(argv[i]);
            count++;
            continue;
        }
        failed = run_folder(folder, argv[i], &count);
        closedir(folder);
    }
    printf("%d inputs\n", count);
    return failed != 0 || count == 0;
}
