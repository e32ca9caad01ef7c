/* checkpoint_file.h - checkpoints as files, for all trainers: how they are written whole (train/numbers/output.h),
 * read, and known to be whole. */
#ifndef CLO_TOOLS_TRAIN_TRAINER_CHECKPOINT_FILE_H
#define CLO_TOOLS_TRAIN_TRAINER_CHECKPOINT_FILE_H

#include "train/numbers/output.h"

#include <stdint.h>

enum { CHECKPOINT_BYTES_MAX = 1 << 28 };

/* FNV-1a (Fowler, Noll, Vo). Each step is one to one, so two texts of one length that differ in one byte have different
 * sums. */
uint64_t checkpoint_sum(const void *data, size_t bytes);

/* FNV-1a: `hash` with the bytes folded in; 14695981039346656037 begins one. */
uint64_t checkpoint_fold(uint64_t hash, const void *data, size_t bytes);

/* All bytes of the file, owned by the caller, with a zero behind them. NULL: errno says why; only ENOENT says that
 * there is none. Larger than CHECKPOINT_BYTES_MAX: EFBIG. */
unsigned char *checkpoint_read(const char *path, size_t *bytes);

/* Checkpoints of text: a head with `kind` and the hash of the options, the trainer's own lines, and a last line with
 * the sum of all before. begin opens the stream for the lines; false: no memory. end writes the file; false: not
 * written, and clo_last_error() says why where is_whole was true. */
bool checkpoint_begin(output *o, const char *path, const char *kind, uint64_t hash);
bool checkpoint_end(output *o, bool is_whole);

/* What is wrong with the text, which is 0-terminated, or NULL; then *lines is a stream of the trainer's lines, to be
 * closed. */
const char *checkpoint_lines(char *text, size_t bytes, const char *kind, uint64_t hash, FILE **lines);

#endif
