/* clotho/file.h, base/text.h: files written whole or not at all, and read whole. */
#define _GNU_SOURCE
#include "support.h"

#include "base/memory.h"
#include "base/text.h"
#include "fault.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char temporary[] = "/tmp/clotho-file-XXXXXX";
static char path[64];
static char folders[32][64];
static size_t folders_count;

/* Takes the place of the system's function, for the library too: to ask for the mask means to set it, which another
 * thread would see. */
static int umask_calls;

mode_t umask(mode_t mask)
{
    umask_calls++;
    return (mode_t)syscall(SYS_umask, mask);
}

static int make_temporary(void **state)
{
    (void)state;
    if (mkdtemp(temporary) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file", temporary);
    return 0;
}

static int remove_temporary(void **state)
{
    (void)state;
    unlink(path);
    for (size_t i = 0; i < folders_count; i++)
        if (rmdir(folders[i]) != 0)
            return -1;
    return rmdir(temporary);
}

static int files_in_temporary(void)
{
    DIR *directory = opendir(temporary);
    int count = -2 - (int)folders_count; /* . and .. */

    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static void reads(const char *want, size_t want_bytes)
{
    char *data = NULL;
    size_t bytes = 0;

    ok(clo_file_read(path, 1 << 20, &data, &bytes));
    assert_int_equal(bytes, want_bytes);
    assert_memory_equal(data, want, want_bytes + 1); /* 0-terminated */
    clo_free(data);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    ok(clo_file_write(path, "a\0b", 3));
    reads("a\0b", 3);
    ok(clo_file_write(path, "", 0));
    reads("", 0);
    assert_int_equal(files_in_temporary(), 1);
}

static void a_new_file_gets_the_usual_rights(void **state)
{
    (void)state;
    struct stat about;

    unlink(path);
    mode_t mask = umask(027);
    ok(clo_file_write(path, "x", 1));
    umask(mask);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void sizes_around_a_block_are_read_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {65534, 65535, 65536, 65537, 131071, 200000};
    char *big = calloc(200001, 1);

    memset(big, 'x', 200000);
    for (size_t i = 0; i < 6; i++) {
        char end = big[sizes[i]];
        big[sizes[i]] = '\0';
        ok(clo_file_write(path, big, sizes[i]));
        reads(big, sizes[i]);
        big[sizes[i]] = end;
    }
    free(big);
}

static void a_file_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char *data = (char *)&data;
    size_t bytes = 7;

    ok(clo_file_write(path, "12345", 5));
    fails(CLO_ERR_LIMIT, "longer than 4 bytes", clo_file_read(path, 4, &data, &bytes));
    assert_int_equal(bytes, 7);
    ok(clo_file_read(path, 5, &data, &bytes));
    assert_string_equal(data, "12345");
    clo_free(data);
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    char *data = NULL;
    size_t bytes = 0;

    fails(CLO_ERR_IO, "/no/such: No such file", clo_file_read("/no/such", 10, &data, &bytes));
    fails(CLO_ERR_IO, "Is a directory", clo_file_read(temporary, 10, &data, &bytes));
    assert_null(data);
}

static void what_cannot_be_written_is_named_and_nothing_is_left(void **state)
{
    (void)state;
    char place[80];
    snprintf(place, sizeof place, "%s/no/file", temporary);

    fails(CLO_ERR_IO, "No such file", clo_file_write(place, "x", 1));
    fails(CLO_ERR_IO, temporary, clo_file_write(temporary, "x", 1));
    assert_int_equal(files_in_temporary(), 1);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    fails(CLO_ERR_IO, "/dev/full: No space left", clo_file_write("/dev/full", "x", 1));
}

/* A limit on the size of files stands for the full disk: the neighbour cannot be completed. */
static void a_write_that_fails_half_way_keeps_the_old_file(void **state)
{
    (void)state;
    char *big = calloc(100000, 1);
    struct rlimit before, small;

    ok(clo_file_write(path, "old", 3));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    clo_status status = clo_file_write(path, big, 100000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    fails(CLO_ERR_IO, "File too large; nothing was written", status);
    reads("old", 3);
    assert_int_equal(files_in_temporary(), 1);
    free(big);
}

static mode_t rights_of(const char *name)
{
    struct stat about;

    assert_int_equal(stat(name, &about), 0);
    return about.st_mode & 07777;
}

static void a_file_that_is_there_keeps_its_rights(void **state)
{
    (void)state;
    static const mode_t rights[] = {0600, 0640, 0666, 0755, 0444};

    for (size_t i = 0; i < 5; i++) {
        if (rights[i] == 0444 && geteuid() != 0)
            continue; /* see the next test */
        ok(clo_file_write(path, "old", 3));
        assert_int_equal(chmod(path, rights[i]), 0);
        ok(clo_file_write(path, "new", 3));
        assert_int_equal(rights_of(path), rights[i]);
        reads("new", 3);
    }
    assert_int_equal(chmod(path, 0644), 0);
}

static void a_file_without_the_right_to_write_is_refused(void **state)
{
    (void)state;
    ok(clo_file_write(path, "old", 3));
    assert_int_equal(chmod(path, 0444), 0);
    if (geteuid() == 0) { /* root may write everything: as somebody else, in a directory that is theirs */
        assert_int_equal(chmod(temporary, 0777), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    clo_status status = clo_file_write(path, "new", 3);
    if (geteuid() == 65534)
        assert_int_equal(seteuid(0), 0);
    fails(CLO_ERR_IO, "Permission denied; nothing was written", status);
    reads("old", 3);
    assert_int_equal(chmod(temporary, 0700), 0);
    assert_int_equal(chmod(path, 0644), 0);
}

static void the_target_of_a_link_is_written_and_the_link_stays(void **state)
{
    (void)state;
    char inner[80], target[96], link[80], chain[80];
    struct stat about;

    snprintf(inner, sizeof inner, "%s/inner", temporary);
    snprintf(target, sizeof target, "%s/target", inner);
    snprintf(link, sizeof link, "%s/link", temporary);
    snprintf(chain, sizeof chain, "%s/chain", temporary);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("inner/target", link), 0); /* relative, and nothing there yet */
    assert_int_equal(symlink(link, chain), 0);
    for (int round = 0; round < 2; round++) {
        ok(clo_file_write(chain, round == 0 ? "one" : "two", 3));
        assert_true(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
        assert_true(lstat(chain, &about) == 0 && S_ISLNK(about.st_mode));
        assert_true(lstat(target, &about) == 0 && S_ISREG(about.st_mode));
        assert_int_equal(about.st_size, 3);
    }
    assert_true(unlink(target) == 0 && unlink(chain) == 0 && unlink(link) == 0 && rmdir(inner) == 0);

    assert_int_equal(symlink(link, link), 0);
    fails(CLO_ERR_IO, "Too many levels of symbolic links", clo_file_write(link, "x", 1));
    assert_int_equal(unlink(link), 0);
}

static void the_longest_name_works(void **state)
{
    (void)state;
    char name[NAME_MAX + 1], place[sizeof temporary + NAME_MAX + 2];

    for (size_t length = NAME_MAX - 8; length <= NAME_MAX + 1; length++) {
        snprintf(place, sizeof place, "%s/", temporary);
        memset(name, 'n', length < sizeof name ? length : sizeof name);
        snprintf(place + strlen(place), sizeof place - strlen(place), "%.*s", (int)length, name);
        if (length > NAME_MAX) {
            fails(CLO_ERR_IO, "File name too long", clo_file_write(place, "x", 1));
            continue;
        }
        ok(clo_file_write(place, "x", 1));
        assert_int_equal(unlink(place), 0);
    }
    fails(CLO_ERR_ARGUMENT, "needs a name", clo_file_write("", "x", 1));
    assert_int_equal(files_in_temporary(), 1);
}

static void a_name_without_a_directory_is_beside_the_program(void **state)
{
    (void)state;
    char *before = getcwd(NULL, 0);

    assert_int_equal(chdir(temporary), 0);
    ok(clo_file_write("file", "here", 4));
    assert_int_equal(chdir(before), 0);
    free(before);
    reads("here", 4);
}

static void the_umask_is_never_asked_for(void **state)
{
    (void)state;
    umask_calls = 0;
    unlink(path);
    ok(clo_file_write(path, "x", 1));
    ok(clo_file_write(path, "y", 1));
    assert_int_equal(umask_calls, 0);
}

static void a_pipe_is_written_directly(void **state)
{
    (void)state;
    ok(clo_file_write("/dev/null", "x", 1));
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode)); /* not replaced by a file */
}

static clo_status read_and_drop(void *context)
{
    char *data = NULL;
    size_t bytes;
    clo_status status = clo_file_read(path, 1 << 20, &data, &bytes);

    (void)context;
    clo_free(data);
    return status;
}

/* A folder of its own, so that no test has written there. It stays to the end: numbers of folders are given again. */
static void make_folder(char *folder, size_t bytes, const char *name)
{
    snprintf(folder, bytes, "%s/%s", temporary, name);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(folders[folders_count++], sizeof folders[0], "%s", folder);
}

static clo_status write_in(const char *folder, const char *name)
{
    char beside[128];

    snprintf(beside, sizeof beside, "%s/%s", folder, name);
    return clo_file_write(beside, "x", 1);
}

/* A hidden file as a writer makes it; the descriptor that holds its lock. */
static int leave_neighbour(const char *folder, const char *name, bool is_locked)
{
    char beside[128];

    snprintf(beside, sizeof beside, "%s/%s", folder, name);
    int fd = open(beside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    if (is_locked)
        assert_int_equal(flock(fd, LOCK_EX), 0);
    return fd;
}

/* Whether the file was there; now it is not. */
static bool take_away(const char *folder, const char *name)
{
    char beside[128];

    snprintf(beside, sizeof beside, "%s/%s", folder, name);
    return unlink(beside) == 0;
}

static const char killed[] = ".clotho-0123456789abcdef", living[] = ".clotho-fedcba9876543210";

static void what_a_killed_writer_left_is_removed_and_nothing_else(void **state)
{
    static const char *const others[] = {".clotho-0123456789abcde", ".clotho-0123456789ABCDEF", ".clotho_steps"};
    char folder[64];

    (void)state;
    make_folder(folder, sizeof folder, "killed");
    int writer = leave_neighbour(folder, living, true);
    close(leave_neighbour(folder, killed, true)); /* the lock ends with its process */
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        close(leave_neighbour(folder, others[i], false));
    ok(write_in(folder, "file"));
    assert_false(take_away(folder, killed));
    assert_true(take_away(folder, living));
    close(writer);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(take_away(folder, others[i]));
    assert_true(take_away(folder, "file")); /* nothing else is there: the folder can be removed in the end */
}

/* All names of a folder are read for that: once, however often a process writes there. */
static void a_process_looks_for_such_files_at_its_first_write_to_a_folder(void **state)
{
    char folder[64], other[64];

    (void)state;
    make_folder(folder, sizeof folder, "often");
    make_folder(other, sizeof other, "other");
    ok(write_in(folder, "file"));
    close(leave_neighbour(folder, killed, false));
    close(leave_neighbour(other, killed, false));
    ok(write_in(folder, "file"));
    ok(write_in(folder, "second"));
    assert_true(take_away(folder, killed));
    ok(write_in(other, "file"));
    assert_false(take_away(other, killed));
    assert_true(take_away(folder, "file") && take_away(folder, "second") && take_away(other, "file"));
}

enum { WRITERS = 4, WRITES = 40, FOLDERS = 20 };

static void *write_to_all(void *argument)
{
    char folder[64], name[8];

    snprintf(name, sizeof name, "%u", *(const unsigned *)argument);
    for (unsigned i = 0; i < WRITES; i++) {
        snprintf(folder, sizeof folder, "%s/%u", temporary, i % FOLDERS);
        if (write_in(folder, name) != CLO_OK)
            return argument;
    }
    return NULL;
}

/* To more folders than are remembered. */
static void threads_may_write_to_the_same_folders(void **state)
{
    pthread_t threads[WRITERS];
    unsigned numbers[WRITERS];
    char folder[64], name[8];
    void *failed;

    (void)state;
    for (unsigned i = 0; i < FOLDERS; i++) {
        snprintf(name, sizeof name, "%u", i);
        make_folder(folder, sizeof folder, name);
        close(leave_neighbour(folder, killed, false));
    }
    for (unsigned w = 0; w < WRITERS; w++) {
        numbers[w] = w;
        assert_int_equal(pthread_create(&threads[w], NULL, write_to_all, &numbers[w]), 0);
    }
    for (unsigned w = 0; w < WRITERS; w++) {
        assert_int_equal(pthread_join(threads[w], &failed), 0);
        assert_null(failed);
    }
    for (unsigned i = 0; i < FOLDERS; i++) {
        snprintf(folder, sizeof folder, "%s/%u", temporary, i);
        assert_false(take_away(folder, killed));
        for (unsigned w = 0; w < WRITERS; w++) {
            snprintf(name, sizeof name, "%u", w);
            assert_true(take_away(folder, name));
        }
    }
}

/* They may have no end. */
static void devices_are_not_read(void **state)
{
    char *data = NULL;
    size_t bytes = 1;

    (void)state;
    fails(CLO_ERR_IO, "/dev/zero: is a device; name a file or a pipe", clo_file_read("/dev/zero", 100, &data, &bytes));
    ok(clo_file_read("/dev/null", 100, &data, &bytes));
    assert_int_equal(bytes, 0);
    clo_free(data);
}

static void every_failed_allocation_of_a_read_is_reported(void **state)
{
    (void)state;
    char *big = calloc(150000, 1);

    ok(clo_file_write(path, big, 150000));
    free(big);
    assert_true(fault_each(read_and_drop, NULL) >= 2);
}

/* Whoever opens a pipe without O_NONBLOCK waits for its other end. */
static void a_pipe_of_such_a_name_holds_no_writer(void **state)
{
    char folder[64], beside[128];

    (void)state;
    make_folder(folder, sizeof folder, "pipe");
    snprintf(beside, sizeof beside, "%s/%s", folder, killed);
    assert_int_equal(mkfifo(beside, 0600), 0);
    ok(write_in(folder, "file"));
    (void)take_away(folder, killed);
    assert_true(take_away(folder, "file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_killed_writer_left_is_removed_and_nothing_else),
        cmocka_unit_test(a_process_looks_for_such_files_at_its_first_write_to_a_folder),
        cmocka_unit_test(threads_may_write_to_the_same_folders),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_new_file_gets_the_usual_rights),
        cmocka_unit_test(sizes_around_a_block_are_read_whole),
        cmocka_unit_test(a_file_that_is_too_long_is_refused),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(what_cannot_be_written_is_named_and_nothing_is_left),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(a_write_that_fails_half_way_keeps_the_old_file),
        cmocka_unit_test(a_file_that_is_there_keeps_its_rights),
        cmocka_unit_test(a_file_without_the_right_to_write_is_refused),
        cmocka_unit_test(the_target_of_a_link_is_written_and_the_link_stays),
        cmocka_unit_test(the_longest_name_works),
        cmocka_unit_test(a_name_without_a_directory_is_beside_the_program),
        cmocka_unit_test(the_umask_is_never_asked_for),
        cmocka_unit_test(a_pipe_is_written_directly),
        cmocka_unit_test(devices_are_not_read),
        cmocka_unit_test(every_failed_allocation_of_a_read_is_reported),
        cmocka_unit_test(a_pipe_of_such_a_name_holds_no_writer),
    };
    return cmocka_run_group_tests(tests, make_temporary, remove_temporary);
}
