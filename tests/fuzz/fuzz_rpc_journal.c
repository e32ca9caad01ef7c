/* fuzz_rpc_journal.c - journals of libclotho-rpc: a file of any bytes is refused in one line, or its records are read.
 * The bytes lie over a good journal, from the place that the first three bytes name, since SQLite refuses most others
 * by their first page; or they are the whole file. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "rpc/store/journal.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *good;
static size_t good_bytes;

static void count(void *argument, const clo_rpc_journal_record *r)
{
    ++*(uint32_t *)argument;
    PROMISE(r->output_bytes == 0 || r->output != NULL);
}

static clo_rpc_journal *open_it(const char *path, char *error, size_t error_bytes)
{
    uint64_t identity[3] = {1, 2, 3};
    bool is_resumed;

    return clo_rpc_journal_open(path, false, identity, &is_resumed, error, error_bytes);
}

/* A journal of 40 records, as a file's bytes. */
static void make_good(const char *path)
{
    char error[512], output[300];
    clo_rpc_journal *j = open_it(path, error, sizeof error);

    PROMISE(j != NULL);
    memset(output, 'x', sizeof output);
    for (uint32_t i = 0; i < 40; i++) {
        clo_rpc_journal_record r = {
            .task = i, .attempt = 1, .state = CLO_RPC_JOURNAL_FINISHED, .key = i, .endpoint = "a:1", .output = output};
        r.output_bytes = i * 7;
        PROMISE(clo_rpc_journal_add(j, &r) == 0);
    }
    PROMISE(clo_rpc_journal_commit(j) == 0);
    clo_rpc_journal_close(j);
    FILE *file = fopen(path, "rb");
    PROMISE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    good_bytes = (size_t)ftell(file);
    good = malloc(good_bytes);
    rewind(file);
    PROMISE(good != NULL && fread(good, 1, good_bytes, file) == good_bytes);
    fclose(file);
}

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    size_t at = bytes >= 3 ? (size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2] : SIZE_MAX;

    PROMISE(file != NULL);
    if (at < good_bytes) {
        PROMISE(fwrite(good, 1, good_bytes, file) == good_bytes && fseek(file, (long)at, SEEK_SET) == 0);
        data += 3;
        bytes -= 3;
    }
    PROMISE(bytes == 0 || fwrite(data, 1, bytes, file) == bytes);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static char path[64];
    char error[512] = "", side[80];
    uint32_t records = 0;

    if (good == NULL) {
        snprintf(path, sizeof path, "%s/clotho-fuzz-journal-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 getpid());
        make_good(path);
    }
    write_file(path, data, bytes);
    clo_rpc_journal *j = open_it(path, error, sizeof error);
    if (j == NULL) {
        PROMISE(error[0] != '\0' && strchr(error, '\n') == NULL);
    } else {
        int result = clo_rpc_journal_read(j, count, &records);
        PROMISE(result == 0 || (clo_rpc_journal_error(j)[0] != '\0' && strchr(clo_rpc_journal_error(j), '\n') == NULL));
        clo_rpc_journal_record r = {.task = 1, .endpoint = "a:1", .state = CLO_RPC_JOURNAL_STARTED};
        (void)!(clo_rpc_journal_add(j, &r) == 0 && clo_rpc_journal_commit(j) == 0);
        clo_rpc_journal_close(j);
    }
    unlink(path);
    for (int i = 0; i < 2; i++) {
        snprintf(side, sizeof side, "%s-%s", path, i == 0 ? "wal" : "journal");
        unlink(side);
    }
    return 0;
}
