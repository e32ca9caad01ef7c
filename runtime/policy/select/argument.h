/* policy/select/argument.h - numbers in the text of a policy's argument, without floating point: "-1.0", "0.25". */
#ifndef CLO_POLICY_SELECT_ARGUMENT_H
#define CLO_POLICY_SELECT_ARGUMENT_H

#include "library.h"
#include <clotho/status.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clo_fixed_range {
    int32_t least_q16, most_q16;
} clo_fixed_range;

/* Reads a decimal number with at most 9 digits behind the point, rounded to the nearest multiple of 1 / 65536 (halves
 * away from 0), and moves *text behind it. `policy` and `what` name it in the message. Returns CLO_OK, or
 * CLO_ERR_ARGUMENT: no number, or out of range. */
CLO_INTERNAL clo_status clo_fixed_read(const char **text, const char *policy, const char *what, clo_fixed_range range,
                                       int32_t *out);

/* A number that an argument sets by its name: "srpt=0.5". */
typedef struct clo_fixed_key {
    const char *name; /* with its "=" */
    size_t offset;    /* of the int32_t, in what the argument is read into */
    clo_fixed_range range;
} clo_fixed_key;

typedef struct clo_fixed_keys {
    const char *policy, *example; /* for messages */
    const clo_fixed_key *list;
    size_t count;
} clo_fixed_keys;

/* Reads "KEY=NUMBER,..." into `out`, whose other numbers stay. Returns CLO_OK, or CLO_ERR_ARGUMENT: a key that is not
 * in the list, no number, or out of range. */
CLO_INTERNAL clo_status clo_fixed_read_keys(const char *text, const clo_fixed_keys *keys, void *out);

/* CLO_OK if nothing is left at `text`. */
CLO_INTERNAL clo_status clo_argument_end(const char *text, const char *policy);

#endif
