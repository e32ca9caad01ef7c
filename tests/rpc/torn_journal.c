/* torn_journal.c - the journal of libclotho-rpc after a loss of power: whatever byte its log ends at, what is read is
 * the records of the first so many transactions, whole and in their order, and the journal goes on from there. So is it
 * where a byte of the log is another. Arguments: how far cuts are apart (97 bytes), and the first one (another in each
 * run, so that many runs see all of them). */
#define _GNU_SOURCE
#include "rpc/store/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS = 60, EACH = 3 };

#define CHECK(claim)                                                                        \
    do {                                                                                    \
        if (!(claim)) {                                                                     \
            fprintf(stderr, "FAILED: %s:%d: %s (%s)\n", __FILE__, __LINE__, #claim, where); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

typedef struct content {
    char *bytes;
    size_t count;
} content;

static char folder[] = "/tmp/clotho-torn-XXXXXX", path[64], log_path[80], where[128] = "at the start";

static content take(const char *name)
{
    FILE *file = fopen(name, "rb");
    content c = {0};

    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    c.count = (size_t)ftell(file);
    c.bytes = malloc(c.count + 1);
    rewind(file);
    CHECK(c.bytes != NULL && fread(c.bytes, 1, c.count, file) == c.count);
    fclose(file);
    return c;
}

static void put(const char *name, const char *bytes, size_t count)
{
    FILE *file = fopen(name, "wb");

    CHECK(file != NULL && fwrite(bytes, 1, count, file) == count);
    fclose(file);
}

static clo_rpc_journal *open_it(void)
{
    uint64_t identity[3] = {1, 2, 3};
    bool is_resumed;
    char error[512];
    clo_rpc_journal *j = clo_rpc_journal_open(path, false, identity, &is_resumed, error, sizeof error);

    if (j == NULL)
        fprintf(stderr, "%s\n", error);
    CHECK(j != NULL);
    return j;
}

static void add(clo_rpc_journal *j, uint32_t number)
{
    char output[200];
    clo_rpc_journal_record r = {
        .task = number, .attempt = 1, .state = CLO_RPC_JOURNAL_FINISHED, .key = number * 7, .endpoint = "a:1"};

    memset(output, (int)number, sizeof output);
    r.output = output;
    r.output_bytes = number * 3;
    CHECK(clo_rpc_journal_add(j, &r) == 0);
}

static void count_in_order(void *argument, const clo_rpc_journal_record *r)
{
    uint32_t *count = argument;

    CHECK(r->task == *count && r->key == *count * 7 && r->output_bytes == *count * 3);
    for (size_t i = 0; i < r->output_bytes; i++)
        CHECK(((const unsigned char *)r->output)[i] == (unsigned char)*count);
    ++*count;
}

static uint32_t read_all(clo_rpc_journal *j)
{
    uint32_t count = 0;

    CHECK(clo_rpc_journal_read(j, count_in_order, &count) == 0);
    return count;
}

/* How many records there are; then one more. */
static uint32_t go_on(void)
{
    clo_rpc_journal *j = open_it();
    uint32_t count = read_all(j);

    CHECK(count % EACH == 0 && count <= RECORDS);
    add(j, count);
    CHECK(clo_rpc_journal_commit(j) == 0);
    clo_rpc_journal_close(j);
    j = open_it();
    CHECK(read_all(j) == count + 1);
    clo_rpc_journal_close(j);
    return count;
}

static void restore(const content *file, const content *log, size_t log_bytes)
{
    char side[80];

    snprintf(side, sizeof side, "%s-shm", path);
    unlink(side);
    put(path, file->bytes, file->count);
    put(log_path, log->bytes, log_bytes);
}

/* The last one is the whole log. */
static size_t next_cut(size_t cut, size_t step, size_t whole)
{
    return cut < whole && cut + step > whole ? whole : cut + step;
}

int main(int argc, char **argv)
{
    size_t step = argc > 1 ? strtoul(argv[1], NULL, 10) : 97, cuts = 0;
    uint32_t before = 0;

    CHECK(mkdtemp(folder) != NULL && step > 0);
    size_t first = argc > 2 ? strtoul(argv[2], NULL, 10) : (size_t)time(NULL) % step;
    printf("cuts from byte %zu on, %zu apart\n", first, step);
    snprintf(path, sizeof path, "%s/j", folder);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    clo_rpc_journal *j = open_it();
    for (uint32_t i = 0; i < RECORDS; i++) {
        add(j, i);
        if (i % EACH == EACH - 1)
            CHECK(clo_rpc_journal_commit(j) == 0);
    }
    content file = take(path), log = take(log_path);
    clo_rpc_journal_close(j);
    for (size_t cut = first; cut <= log.count; cut = next_cut(cut, step, log.count)) {
        snprintf(where, sizeof where, "the log ends after %zu of %zu bytes", cut, log.count);
        restore(&file, &log, cut);
        uint32_t count = go_on();
        CHECK(count >= before);
        before = count;
        cuts++;
    }
    CHECK(before == RECORDS);
    for (size_t at = first; at < log.count; at += step) {
        snprintf(where, sizeof where, "byte %zu of %zu of the log is another", at, log.count);
        log.bytes[at] ^= 0x40;
        restore(&file, &log, log.count);
        (void)go_on();
        log.bytes[at] ^= 0x40;
    }
    unlink(path);
    unlink(log_path);
    rmdir(folder);
    free(file.bytes);
    free(log.bytes);
    printf("a log of %zu bytes, torn at %zu places: its first transactions are whole\n", log.count, cuts);
    return 0;
}
