/* io/workload/log_file.h - log files, "clotho.log/1" (docs/FORMATS.md): a header object, one array a record, an object
 * at the end with the number of records and a hash of all bytes in front of it, so that a cut or changed file is
 * noticed.
 *
 * Records are written and read digit by digit: a log has millions of them, and times of 64 bits, which a JSON library
 * would round. Only the first and the last line go through cJSON. */
#ifndef CLO_IO_WORKLOAD_LOG_FILE_H
#define CLO_IO_WORKLOAD_LOG_FILE_H

#include "base/text.h"

#include <clotho/log.h>

#define CLO_LOG_FORMAT "clotho.log/1"

/* Names of clo_clock, by value. */
#define CLO_LOG_CLOCK_NAMES         \
    {                               \
        "real", "padded", "virtual" \
    }

/* Names of CLO_LOG_RUN_..., by value; the first is never written. */
#define CLO_LOG_RUN_NAMES       \
    {                           \
        "", "simulated", "real" \
    }

/* FNV-1a, 64 bits (Fowler, Noll and Vo). */
static inline uint64_t clo_log_hash(const char *data, size_t bytes)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
    return hash;
}

/* Appends what clo_log_save writes. Returns CLO_OK, or CLO_ERR_ARGUMENT for a record of an unknown kind; lack of memory
 * latches in `text`. */
clo_status clo_log_print(const clo_log *log, clo_text *text);

#endif
