/* hosts.c - see hosts.h. */
#include "clotho/build_plan/hosts.h"
#include "clotho/common/report.h"
#include "ninja/manifest/bindings.h"

#include <clotho/clotho.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_SLOTS = 4 /* of a host that names none, as in distcc */, HOST_BYTES_MAX = 1000 };
static const char SPACES[] = " \t\r\n\f\v";

/* What a command finds in DISTCC_HOSTS. distcc preprocesses here, eight at once where nothing is said. */
static bool set_variable(build_host *host, piece entry, uint32_t slots)
{
    buffer text = {0};

    buffer_add_format(&text, "DISTCC_HOSTS=--localslots=%u --localslots_cpp=%u ", slots, slots);
    size_t begin = text.bytes;
    buffer_add(&text, entry.at, entry.bytes);
    buffer_add(&text, "", 1);
    if (text.failed) {
        buffer_free(&text);
        return false;
    }
    host->variable = text.at;
    host->name = (piece){text.at + begin, entry.bytes};
    return true;
}

/* "HOST[:PORT][/SLOTS][,OPTIONS]", with "@" for ssh. False: the number of slots is none. */
static bool read_slots(build_host *host)
{
    size_t end = 0;

    while (end < host->name.bytes && host->name.at[end] != ',')
        end++;
    host->name.bytes = end;
    host->slots = USUAL_SLOTS;
    while (end > 0 && host->name.at[end - 1] != '/')
        end--;
    if (end == 0)
        return true;
    size_t digits = strspn(host->name.at + end, "0123456789");
    if (end + digits != host->name.bytes) /* of ssh: the path of a program */
        return digits == 0 && memchr(host->name.at, '@', end) != NULL;
    unsigned long slots = digits > 0 && digits < 6 ? strtoul(host->name.at + end, NULL, 10) : 0;
    host->slots = (uint32_t)slots;
    host->name.bytes = end - 1;
    return slots > 0 && end > 1;
}

/* localhost without a port is this machine, whose slots are those of -j. */
static bool is_here(piece entry)
{
    static const char here[] = "localhost";
    const size_t bytes = sizeof here - 1;

    return entry.bytes >= bytes && memcmp(entry.at, here, bytes) == 0 &&
           (entry.bytes == bytes || entry.at[bytes] == '/' || entry.at[bytes] == ',');
}

static int add_host(build_hosts *h, piece entry, uint32_t local_slots)
{
    if (entry.bytes > HOST_BYTES_MAX)
        return complain(NULL, "DISTCC_HOSTS: a host of %zu bytes; write at most %d", entry.bytes, HOST_BYTES_MAX);
    build_host *grown = realloc(h->hosts, (h->count + 1) * sizeof *grown);
    if (grown == NULL)
        return complain(NULL, "out of memory");
    h->hosts = grown;
    build_host *host = &h->hosts[h->count];
    *host = (build_host){0};
    if (!set_variable(host, entry, local_slots))
        return complain(NULL, "out of memory");
    h->count++;
    if (!read_slots(host))
        return complain(NULL, "DISTCC_HOSTS: '%.*s' is no host; write HOST[:PORT][/SLOTS][,OPTIONS]", (int)entry.bytes,
                        entry.at);
    return EXIT_GOOD;
}

/* The next word. False: there is none. */
static bool next_word(const char **at, piece *word)
{
    *at += strspn(*at, SPACES);
    *word = (piece){*at, strcspn(*at, SPACES)};
    *at += word->bytes;
    return word->bytes > 0;
}

/* The same; a '#' begins a comment up to the end of its line. */
static bool next_entry(const char **at, piece *word)
{
    for (;;) {
        if (!next_word(at, word))
            return false;
        const char *comment = memchr(word->at, '#', word->bytes);
        if (comment == NULL)
            return true;
        *at = comment + strcspn(comment, "\n");
        word->bytes = (size_t)(comment - word->at);
        if (word->bytes > 0)
            return true;
    }
}

int hosts_open(build_hosts *h, const char *text, uint32_t local_slots)
{
    uint64_t slots = 0;
    char here[32];
    piece word;
    int code = EXIT_GOOD;

    *h = (build_hosts){0};
    while (code == EXIT_GOOD && next_entry(&text, &word)) {
        if (word.at[0] == '+')
            code = complain(NULL, "DISTCC_HOSTS: '%.*s' finds hosts by itself; name them, such as a:3632/8 b/4",
                            (int)word.bytes, word.at);
        else if (word.at[0] != '-' && !is_here(word)) /* --localslots, --randomize: we say that */
            code = add_host(h, word, local_slots);
    }
    for (uint32_t i = 0; i < h->count; i++)
        slots += h->hosts[i].slots;
    if (code == EXIT_GOOD && h->count == 0)
        code = complain(NULL, "DISTCC_HOSTS names no other host; write such as DISTCC_HOSTS='a:3632/8 b/4'");
    if (code == EXIT_GOOD && slots + local_slots > CLO_EXECUTORS_MAX)
        code = complain(NULL, "DISTCC_HOSTS and -j are %llu slots; name at most %d",
                        (unsigned long long)slots + local_slots, CLO_EXECUTORS_MAX);
    h->elsewhere = code == EXIT_GOOD ? (uint32_t)slots : 0;
    snprintf(here, sizeof here, "localhost/%u", local_slots);
    return code == EXIT_GOOD ? add_host(h, piece_of(here), local_slots) : code;
}

void hosts_close(build_hosts *h)
{
    for (uint32_t i = 0; i < h->count; i++)
        free(h->hosts[i].variable);
    free(h->hosts);
    *h = (build_hosts){0};
}

build_host *hosts_of(build_hosts *h, uint32_t slot)
{
    if (h->count == 0)
        return NULL;
    for (uint32_t i = 0; i + 1 < h->count; i++) {
        if (slot < h->hosts[i].slots)
            return &h->hosts[i];
        slot -= h->hosts[i].slots;
    }
    return &h->hosts[h->count - 1];
}

bool hosts_is_elsewhere(const build_hosts *h, uint32_t slot)
{
    return slot < h->elsewhere;
}

/* Whether the last part of a path is `name`. */
static bool is_program(piece word, const char *name)
{
    size_t bytes = strlen(name);

    return word.bytes >= bytes && memcmp(word.at + word.bytes - bytes, name, bytes) == 0 &&
           (word.bytes == bytes || word.at[word.bytes - bytes - 1] == '/');
}

bool hosts_may_take(build_folder *folder, uint32_t edge)
{
    ninja_manifest *m = &folder->manifest;
    const char *prefix = getenv("CCACHE_PREFIX");
    bool has_prefix = prefix != NULL && is_program(piece_of(prefix), "distcc");
    buffer command = {0};
    bool distributes = false, compiles = false;
    piece word;

    if (ninja_is_phony(m, edge) || m->pools[m->edges[edge].pool].depth > 0 ||
        !ninja_edge_command(m, edge, false, &command))
        return false;
    buffer_add(&command, "", 1);
    for (const char *at = command.failed ? "" : command.at; next_word(&at, &word);) {
        distributes |= is_program(word, "distcc") || (has_prefix && is_program(word, "ccache"));
        compiles |= piece_equal(word, piece_of("-c"));
    }
    buffer_free(&command);
    return distributes && compiles;
}

void hosts_describe(const build_hosts *h, buffer *out)
{
    buffer_add_text(out, "steps ran on ");
    for (uint32_t i = 0; i < h->count; i++)
        buffer_add_format(out, "%s%.*s: %u", i > 0 ? ", " : "", (int)h->hosts[i].name.bytes, h->hosts[i].name.at,
                          h->hosts[i].steps);
}
