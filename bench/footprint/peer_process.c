/* peer_process.c - a peer in a process of its own. */
#define _GNU_SOURCE /* pipe2 */
#include "footprint/peer_process.h"
#include "common/bench.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool program_find(const char *name, char path[FILENAME_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, FILENAME_MAX - 1);
    char *slash;
    size_t folder;

    if (length <= 0)
        return false;
    path[length] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    folder = (size_t)(slash - path) + 1;
    snprintf(path + folder, FILENAME_MAX - folder, "%s", name);
    return access(path, X_OK) == 0;
}

/* Starts the program with its stdout into *read_end. */
static bool start(char *const argv[], pid_t *pid, FILE **read_end)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    bool is_started;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    is_started = posix_spawn(pid, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *read_end = is_started ? fdopen(ends[0], "r") : NULL;
    if (*read_end == NULL)
        close(ends[0]);
    return is_started;
}

/* The rest of `line` behind "KEY ", without the end of line; NULL if it is another line. */
static char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);

    line[strcspn(line, "\n")] = '\0';
    return strncmp(line, key, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static void read_line(char *line, peer_process_result *result)
{
    char *value;

    if ((value = value_of(line, "name")) != NULL)
        snprintf(result->name, sizeof result->name, "%.*s", (int)sizeof result->name - 1, value);
    else if ((value = value_of(line, "library")) != NULL)
        snprintf(result->library, sizeof result->library, "%.*s", (int)sizeof result->library - 1, value);
    else if ((value = value_of(line, "memory_kib")) != NULL)
        result->memory_bytes = strtoull(value, NULL, 10) * 1024;
}

bool peer_process_run(const peer_process *task, peer_process_result *result)
{
    char program[FILENAME_MAX], numbers[3][16], line[FILENAME_MAX + 16];
    char *argv[] = {program, numbers[0], numbers[1], numbers[2], NULL};
    char name[64];
    int64_t start_ns;
    FILE *output;
    pid_t pid;
    int status = 0;

    *result = (peer_process_result){.wall_ns = 0};
    snprintf(name, sizeof name, "peer-%s", task->family);
    if (!program_find(name, program))
        return false;
    snprintf(numbers[0], sizeof numbers[0], "%u", task->index);
    snprintf(numbers[1], sizeof numbers[1], "%u", task->workers);
    snprintf(numbers[2], sizeof numbers[2], "%u", task->tasks);
    start_ns = bench_now_ns();
    if (!start(argv, &pid, &output))
        return false;
    while (output != NULL && fgets(line, sizeof line, output) != NULL)
        read_line(line, result);
    if (output != NULL)
        fclose(output);
    if (waitpid(pid, &status, 0) != pid)
        return false;
    result->wall_ns = bench_now_ns() - start_ns;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void add_section(const Elf64_Shdr *section, library_sizes *sizes)
{
    if ((section->sh_flags & SHF_ALLOC) == 0)
        return;
    if (section->sh_type == SHT_NOBITS)
        sizes->bss += section->sh_size;
    else if ((section->sh_flags & SHF_WRITE) != 0)
        sizes->data += section->sh_size;
    else
        sizes->text += section->sh_size;
    if ((section->sh_flags & SHF_EXECINSTR) != 0)
        sizes->code += section->sh_size;
}

bool library_read_sizes(const char *path, library_sizes *sizes)
{
    const uint16_t one = 1;
    const unsigned char order = *(const unsigned char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    FILE *file = fopen(path, "rbe");
    Elf64_Ehdr head;
    bool is_good = file != NULL && fread(&head, sizeof head, 1, file) == 1 &&
                   memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
                   head.e_ident[EI_DATA] == order && head.e_shentsize == sizeof(Elf64_Shdr) &&
                   fseek(file, (long)head.e_shoff, SEEK_SET) == 0;

    *sizes = (library_sizes){0};
    for (uint32_t i = 0; is_good && i < head.e_shnum; i++) {
        Elf64_Shdr section;

        is_good = fread(&section, sizeof section, 1, file) == 1;
        if (is_good)
            add_section(&section, sizes);
    }
    if (file != NULL)
        fclose(file);
    return is_good;
}
