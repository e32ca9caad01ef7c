/* checkpoint_file.h - checkpoints as files, for all trainers: their checksum, and how they are written (output.h) and
 * read. */
#ifndef CLOTHO_TRAIN_CHECKPOINT_FILE_H
#define CLOTHO_TRAIN_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHECKPOINT_BYTES_MAX = 1 << 28 };

/* FNV-1a (Fowler, Noll, Vo). Each step is one to one, so two texts of one length that differ in one byte have different
 * sums. */
uint64_t checkpoint_sum(const void *data, size_t bytes);

/* FNV-1a: `hash` with the bytes folded in; 14695981039346656037 begins one. */
uint64_t checkpoint_fold(uint64_t hash, const void *data, size_t bytes);

/* False: it cannot be written; then the old file is as it was, and no neighbour is left. */
bool checkpoint_write(const char *path, const void *data, size_t bytes);

/* All bytes of the file, owned by the caller, with a zero behind them. NULL: no such file, none that can be read,
 * larger than CHECKPOINT_BYTES_MAX, or no memory. */
unsigned char *checkpoint_read(const char *path, size_t *bytes);

#endif
