/* checkpoint_file.h - checkpoints as files, for all trainers: how they are written whole (train/numbers/output.h),
 * read, and known to be whole. */
#ifndef CLO_TOOLS_TRAIN_TRAINER_CHECKPOINT_FILE_H
#define CLO_TOOLS_TRAIN_TRAINER_CHECKPOINT_FILE_H

#include "train/numbers/output.h"

#include <stdint.h>

enum { CHECKPOINT_BYTES_MAX = 1 << 28 };

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

/* The text behind `key` and a blank in the next line; NULL: another line. line: [bytes] to read it into. */
char *checkpoint_line(FILE *in, const char *key, char *line, int bytes);

#endif
