/* machine.c - reads what identifies a machine. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "io/clotho/machine.h"

#include "base/memory.h"
#include "base/status.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CPUINFO_BYTES_MAX = 64 << 20, LINES_MAX = 64, LINE_BYTES = 256, CPUS_MAX = 4096 };

/* Lines that differ, in order. */
typedef struct lines {
    char of[LINES_MAX][LINE_BYTES];
    size_t count;
} lines;

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void add_line(lines *l, const char *line)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->of[i], line) == 0)
            return;
    if (line[0] != '\0' && l->count < LINES_MAX)
        snprintf(l->of[l->count++], LINE_BYTES, "%s", line);
}

static bool identifies(const char *key, size_t length)
{
    static const char *const keys[] = {"vendor_id",       "cpu family",       "model",       "stepping",
                                       "CPU implementer", "CPU architecture", "CPU variant", "CPU part",
                                       "CPU revision",    "mvendorid",        "marchid",     "mimpid"};

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (strlen(keys[k]) == length && strncmp(keys[k], key, length) == 0)
            return true;
    return false;
}

/* "key : value" of /proc/cpuinfo, appended to the line of its CPU as "value ". */
static void take_value(char *line, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    size_t key = colon != NULL ? (size_t)(colon - text) : 0, used = strlen(line);

    while (key > 0 && (text[key - 1] == '\t' || text[key - 1] == ' '))
        key--;
    if (colon == NULL || !identifies(text, key))
        return;
    size_t value = length - (size_t)(colon - text) - 1;
    const char *from = colon + 1;
    while (value > 0 && *from == ' ') {
        from++;
        value--;
    }
    snprintf(line + used, LINE_BYTES - used, "%s%.*s", used > 0 ? " " : "", (int)(value < 64 ? value : 64), from);
}

static void read_cpus(const char *root, lines *l)
{
    char path[256], line[LINE_BYTES] = "", *data = NULL;
    size_t bytes = 0;

    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    if (clo_file_read(path, CPUINFO_BYTES_MAX, &data, &bytes) != CLO_OK)
        return;
    for (size_t at = 0; at < bytes;) {
        const char *end = memchr(data + at, '\n', bytes - at);
        size_t length = end != NULL ? (size_t)(end - data) - at : bytes - at;
        if (length == 0) { /* a CPU ends */
            add_line(l, line);
            line[0] = '\0';
        }
        take_value(line, data + at, length);
        at += length + 1;
    }
    add_line(l, line);
    clo_free(data);
}

/* The first line of a small file; "" without one. */
static void read_word(const char *path, char *word, size_t bytes)
{
    FILE *file = fopen(path, "re");

    if (file == NULL || fgets(word, (int)bytes, file) == NULL)
        word[0] = '\0';
    word[strcspn(word, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

static void read_clocks(const char *root, lines *l)
{
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        char path[256], khz[32], line[48];
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", root, cpu);
        read_word(path, khz, sizeof khz);
        if (khz[0] == '\0')
            continue;
        snprintf(line, sizeof line, "%s kHz", khz);
        add_line(l, line);
    }
}

clo_status clo_machine_read(const char *root, clo_machine *machine)
{
    struct utsname name;
    lines *l = clo_allocate(1, sizeof *l);

    *machine = (clo_machine){{0}, {0}};
    if (l == NULL)
        return clo_fail_memory("the name of a machine");
    if (uname(&name) == 0)
        snprintf(machine->architecture, sizeof machine->architecture, "%s", name.machine);
    read_cpus(root, l);
    read_clocks(root, l);
    qsort(l->of, l->count, sizeof l->of[0], by_text);
    for (size_t i = 0; i < l->count; i++)
        clo_text_add(&machine->cpus, "%s%s", i > 0 ? "; " : "", l->of[i]);
    clo_free(l);
    if (!machine->cpus.failed)
        return CLO_OK;
    clo_text_free(&machine->cpus);
    return clo_fail_memory("the name of a machine");
}

static void describe(clo_text *text, const char *name, const char *value)
{
    if (value[0] == '\0')
        return;
    clo_text_add(text, ", \"%s\": ", name);
    clo_text_add_json(text, value);
}

void clo_machine_describe(const char *root, clo_text *text)
{
    struct utsname name;
    char path[256], word[64];

    if (uname(&name) == 0)
        describe(text, "kernel", name.release);
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", root);
    read_word(path, word, sizeof word);
    describe(text, "governor", word);
    clo_text_add(text, ", \"page_bytes\": %ld", sysconf(_SC_PAGESIZE));
}

typedef struct room {
    char *to;
    size_t bytes;
} room;

/* Of the first object, which is the program itself. */
static int take_note(struct dl_phdr_info *info, size_t size, void *out)
{
    const room *d = out;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_NOTE)
            continue;
        const unsigned char *at = (const unsigned char *)(uintptr_t)(info->dlpi_addr + header->p_vaddr);
        const unsigned char *end = at + header->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            const unsigned char *value = at + sizeof note + ((note.n_namesz + 3u) & ~3u);
            for (size_t k = 0; note.n_type == NT_GNU_BUILD_ID && k < note.n_descsz && 2 * k + 3 <= d->bytes; k++)
                snprintf(d->to + 2 * k, 3, "%02x", value[k]);
            at = value + ((note.n_descsz + 3u) & ~3u);
        }
    }
    return 1;
}

void clo_machine_program(char *digits, size_t bytes)
{
    room r = {digits, bytes};

    digits[0] = '\0';
    dl_iterate_phdr(take_note, &r);
}
