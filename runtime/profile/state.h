/* profile/state.h - a profile inside the library: its rows, and the snapshot that costs read. */
#ifndef CLO_PROFILE_STATE_H
#define CLO_PROFILE_STATE_H

#include "base/hash.h"
#include "base/names.h"
#include "profile/estimator.h"
#include "sync/protocol/rcu.h"

#include <clotho/memory.h>

#include <pthread.h>

/* What tells one entry from another; names by their number in clo_profile.names. No padding: it is hashed. */
typedef struct clo_profile_key {
    uint32_t codelet, kind;
    uint32_t version, is_used;
    uint64_t footprint;
} clo_profile_key;

/* What was known of it before this process measured it, and what this process has measured. */
typedef struct clo_profile_row {
    clo_profile_key key;
    clo_profile_entry before; /* without names; 0 samples: nothing */
    clo_estimator own;
    uint64_t bytes;
    int64_t newest_s;     /* of both */
    bool is_cold;         /* the one own sample is the first of all */
    clo_estimator whole;  /* samples: the mean of an execution in each run */
    uint32_t whole_level; /* own.level_changes, when they were right */
    bool is_settling;     /* the level changed in the last run: its mean may be of both */
    uint32_t run_samples; /* of the run that is being learned; their sum */
    int64_t run_ns;
    uint32_t run_next; /* the next row that has a sum, CLO_NONE: none */
    clo_memory_part memory;
    int64_t memory_s;     /* when that was measured; as newest_s */
    uint32_t memory_rank; /* 0: there is none, 1: of another machine, 2: measured here */
} clo_profile_row;

/* Immutable. */
typedef struct clo_profile_view {
    uint64_t hash;
    uint32_t count;
    clo_run_spread runs;
    clo_memory_part *memory;     /* [count] of each entry, behind the last one */
    clo_profile_entry entries[]; /* [count] by codelet, version, kind, footprint */
} clo_profile_view;

struct clo_profile {
    pthread_mutex_t lock;      /* of all but `published` */
    clo_rcu_pointer published; /* clo_profile_view, never NULL */
    clo_names names;
    char **texts; /* [texts_count] by number, for ever: entries that were read hold them */
    size_t texts_count, texts_capacity;
    clo_profile_row *rows; /* [rows_max]; those in use stand first */
    uint32_t rows_count, rows_max;
    uint32_t *slots; /* [slots_count] number of a row + 1, by hash of its key; 0: free */
    uint32_t slots_count;
    clo_profile_row runs; /* no row of the table: samples are the factors of runs, in 65536ths */
    uint64_t evicted;
    clo_hash_key hash_key;
};

#endif
