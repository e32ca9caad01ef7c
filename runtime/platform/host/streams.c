/* streams.c - threads that read memory, one on each of some CPUs. They read, because readers slow others down the most
 * (writers cost readers 5 % where readers cost them 60 %); each reads a buffer of its own that no cache holds. */
#define _GNU_SOURCE
#include "base/memory.h"
#include "base/status.h"
#include "platform/host/measure.h"
#include "platform/model/platform.h"
#include "sync/protocol/counter.h"

#include <clotho/memory.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES_MAX ((size_t)32 << 20)
#define BUFFER_BYTES_MIN ((size_t)4 << 20)
#define ALL_BYTES ((size_t)2 << 30) /* of all buffers, if they are larger than the least */
#define PIECE_BYTES ((size_t)256 << 10)
#define CPUS_MAX 65536
#define LOOKS 5
#define PAUSES_MAX 200 /* of one look */

typedef struct stream {
    pthread_t thread;
    const clo_counter *stop;
    uint64_t *words;
    size_t bytes;
    uint64_t kept;     /* else compilers would leave the reading out */
    clo_counter moved; /* bytes */
    uint64_t seen_bytes;
    int64_t seen_ns; /* of its CPU time */
    char apart[128]; /* from the next one's */
} stream;

struct clo_streams {
    clo_counter stop;
    uint32_t count; /* that run */
    stream each[];
};

static void *run(void *argument)
{
    stream *s = argument;
    size_t words = s->bytes / sizeof *s->words, piece = PIECE_BYTES / sizeof *s->words;

    memset(s->words, 1, s->bytes); /* here: the pages are near this CPU */
    for (size_t at = 0; clo_counter_read(s->stop) == 0; at = at + piece < words ? at + piece : 0) {
        uint64_t sum = 0;
        for (size_t i = at; i < at + piece; i++)
            sum += s->words[i];
        s->kept += sum;
        clo_counter_add(&s->moved, PIECE_BYTES);
    }
    return NULL;
}

/* A thread that runs on that CPU alone. Returns 0 or an error number. */
static int start(stream *s, uint32_t cpu)
{
    pthread_attr_t attributes;
    size_t set_bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *set = cpu < CPUS_MAX ? clo_allocate(1, set_bytes) : NULL;

    if (set == NULL)
        return cpu < CPUS_MAX ? ENOMEM : EINVAL;
    if (pthread_attr_init(&attributes) != 0)
        return clo_free(set), ENOMEM;
    CPU_SET_S(cpu, set_bytes, set);
    int error = pthread_attr_setaffinity_np(&attributes, set_bytes, set);
    if (error == 0)
        error = pthread_create(&s->thread, &attributes, run, s);
    pthread_attr_destroy(&attributes);
    clo_free(set);
    return error;
}

void clo_streams_stop(clo_streams *streams)
{
    if (streams == NULL)
        return;
    clo_counter_add(&streams->stop, 1);
    for (uint32_t i = 0; i < streams->count; i++) {
        pthread_join(streams->each[i].thread, NULL);
        clo_free(streams->each[i].words);
    }
    clo_free(streams);
}

clo_status clo_streams_start(const uint32_t *cpus, uint32_t count, clo_streams **out)
{
    if (cpus == NULL || out == NULL)
        return clo_fail_null("clo_streams_start", "cpus or out");
    if (count == 0 || count > CPUS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_streams_start: %u CPUs; give 1 to %d", count, CPUS_MAX);
    size_t bytes = ALL_BYTES / count;
    clo_streams *streams = clo_allocate(1, sizeof *streams + count * sizeof streams->each[0]);

    if (streams == NULL)
        return clo_fail_memory("streams");
    bytes = bytes > BUFFER_BYTES_MAX ? BUFFER_BYTES_MAX : bytes < BUFFER_BYTES_MIN ? BUFFER_BYTES_MIN : bytes;
    bytes -= bytes % PIECE_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        stream *s = &streams->each[i];
        *s = (stream){.stop = &streams->stop, .words = clo_allocate(bytes, 1), .bytes = bytes};
        int error = s->words != NULL ? start(s, cpus[i]) : ENOMEM;
        if (error != 0) {
            clo_free(s->words);
            clo_streams_stop(streams);
            return error == ENOMEM ? clo_fail_memory("streams")
                                   : clo_fail(CLO_ERR_SYSTEM,
                                              "no thread can be started on CPU %u; name CPUs that this "
                                              "process may use",
                                              cpus[i]);
        }
        streams->count++;
    }
    *out = streams;
    return CLO_OK;
}

/* By its CPU time: what other programs take of its CPU does not count. */
static uint64_t rate_of(stream *s)
{
    struct timespec now = {0};
    uint64_t bytes = clo_counter_read(&s->moved), moved = bytes - s->seen_bytes;
    clockid_t clock;

    if (pthread_getcpuclockid(s->thread, &clock) != 0 || clock_gettime(clock, &now) != 0)
        return 0;
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, ns = now_ns - s->seen_ns;
    s->seen_bytes = bytes;
    s->seen_ns = now_ns;
    return ns > 0 ? (uint64_t)((clo_u128)moved * 1000 / (uint64_t)ns) : 0;
}

/* What they have moved since the last look; 0: one of them has not run since. */
static uint64_t look_now(clo_streams *streams)
{
    uint64_t mbps = 0;

    for (uint32_t i = 0; i < streams->count; i++)
        if (clo_counter_read(&streams->each[i].moved) == streams->each[i].seen_bytes)
            return 0;
    for (uint32_t i = 0; i < streams->count; i++)
        mbps += rate_of(&streams->each[i]);
    return mbps;
}

static int64_t look(clo_streams *streams, int64_t look_ns)
{
    uint64_t mbps = 0;

    for (int i = 0; i < PAUSES_MAX && mbps == 0; i++) {
        nanosleep(&(struct timespec){.tv_sec = look_ns / 1000000000, .tv_nsec = look_ns % 1000000000}, NULL);
        mbps = look_now(streams);
    }
    return mbps > CLO_MEMORY_MBPS_MAX ? CLO_MEMORY_MBPS_MAX : (int64_t)mbps;
}

uint32_t clo_streams_mbps(clo_streams *streams, int64_t look_ns)
{
    int64_t looks[1 + LOOKS]; /* the first is of the start */

    if (streams == NULL || look_ns < 1 || look_ns > 1000000000)
        return 0;
    for (int i = 0; i <= LOOKS; i++)
        if ((looks[i] = look(streams, look_ns)) == 0)
            return 0;
    return (uint32_t)clo_measure_median(looks + 1, LOOKS);
}
