/* checkpoint.c - the state of a trainer as bytes: trainer_save and trainer_load.
 *
 * Little-endian: "clotrain", u32 version, u32 parameters, u64 hash of the options, u64 Adam's steps, u32 updates done,
 * u32 best update, f64 best reward, u32 points, u32 has begun; then f64 parameters, m, v, best [parameters]; the
 * points, each u32 update, u32 phase and six f64; at the end u64 FNV-1a of all bytes before. */
#include "train/numbers/fnv.h"
#include "train/trainer/checkpoint_file.h"
#include "train/trainer/trainer_state.h"

#include <clotho/file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, HEAD_BYTES = 64, POINT_BYTES = 56, SUM_BYTES = 8 };

static const char magic[8] = {'c', 'l', 'o', 't', 'r', 'a', 'i', 'n'};

typedef struct cursor {
    unsigned char *at;
} cursor;

static void put(cursor *c, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        *c->at++ = (unsigned char)value;
}

static uint64_t get(cursor *c, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)*c->at++ << (8 * i);
    return value;
}

static void put_reals(cursor *c, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &from[i], sizeof bits);
        put(c, bits, 8);
    }
}

static void get_reals(cursor *c, double *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = get(c, 8);
        memcpy(&to[i], &bits, sizeof bits);
    }
}

static uint64_t fold_number(uint64_t hash, double number)
{
    return fnv_bytes(hash, &number, sizeof number);
}

static uint64_t fold_phase(uint64_t hash, const train_phase *p)
{
    const double numbers[] = {p->method,        p->updates,       p->instances,    p->rollouts,      p->rate_first,
                              p->rate_last,     p->entropy_first, p->entropy_last, p->steps_first,   p->steps_last,
                              p->clip_gradient, p->gamma,         p->lambda,       p->critic_weight, p->by_time,
                              p->epochs,        p->clip_ratio};

    return fnv_bytes(hash, numbers, sizeof numbers);
}

uint64_t trainer_hash(const trainer *t)
{
    const trainer_config *c = &t->config;
    uint64_t hash = fold_number(FNV_BEGIN, c->parameters_count);

    hash = fnv_bytes(hash, c->environment->name, strlen(c->environment->name));
    for (uint32_t i = 0; i < c->phases_count; i++)
        hash = fold_phase(hash, &c->phases[i]);
    hash = fnv_bytes(fold_number(hash, c->seeds_count), c->seeds, c->seeds_count * sizeof *c->seeds);
    hash =
        fnv_bytes(fold_number(hash, c->validation_count), c->validation, c->validation_count * sizeof *c->validation);
    return fold_number(fnv_bytes(fnv_bytes(hash, &c->seed, sizeof c->seed), &c->hash, sizeof c->hash),
                       c->validate_every);
}

static size_t bytes_of(uint32_t parameters, uint32_t points)
{
    return HEAD_BYTES + 32 * (size_t)parameters + (size_t)POINT_BYTES * points + SUM_BYTES;
}

static void put_all(const trainer *t, unsigned char *bytes)
{
    const uint32_t count = t->config.parameters_count;
    cursor c = {bytes};

    memcpy(c.at, magic, sizeof magic);
    c.at += sizeof magic;
    put(&c, VERSION, 4);
    put(&c, count, 4);
    put(&c, trainer_hash(t), 8);
    put(&c, t->adam.steps, 8);
    put(&c, t->done, 4);
    put(&c, t->best_update, 4);
    put_reals(&c, &t->best_reward, 1);
    put(&c, t->curve_count, 4);
    put(&c, t->has_begun, 4);
    put(&c, 0, HEAD_BYTES - 56);
    put_reals(&c, t->config.parameters, count);
    put_reals(&c, t->adam.m, count);
    put_reals(&c, t->adam.v, count);
    put_reals(&c, t->best, count);
    for (uint32_t i = 0; i < t->curve_count; i++) {
        const train_point *p = &t->curve[i];
        const double numbers[] = {p->reward, p->validation, p->loss, p->entropy, p->agreed, p->gradient};
        put(&c, p->update, 4);
        put(&c, p->phase, 4);
        put_reals(&c, numbers, 6);
    }
    put(&c, fnv_bytes(FNV_BEGIN, bytes, (size_t)(c.at - bytes)), 8);
}

static bool fail(char *why, const char *path, const char *text)
{
    snprintf(why, TRAINER_WHY_BYTES, "%s: %s", path, text);
    return false;
}

bool trainer_save(const trainer *t, const char *path, char *why)
{
    size_t bytes = bytes_of(t->config.parameters_count, t->curve_count);
    unsigned char *data = malloc(bytes);

    if (data == NULL)
        return fail(why, path, "out of memory");
    put_all(t, data);
    clo_status status = clo_file_write(path, data, bytes);
    free(data);
    if (status == CLO_OK)
        return true;
    snprintf(why, TRAINER_WHY_BYTES, "the checkpoint cannot be written: %s", clo_last_error());
    return false;
}

/* What is wrong with the bytes, or NULL. */
static const char *check(const trainer *t, unsigned char *data, size_t bytes)
{
    cursor c = {data + sizeof magic};

    if (bytes < HEAD_BYTES + SUM_BYTES || memcmp(data, magic, sizeof magic) != 0)
        return "is no checkpoint of a training";
    if (get(&c, 4) != VERSION)
        return "is a checkpoint of another version of clotho; delete it to begin anew";
    uint32_t parameters = (uint32_t)get(&c, 4);
    uint64_t hash = get(&c, 8);
    c.at = data + 48;
    uint32_t points = (uint32_t)get(&c, 4);
    cursor end = {data + bytes - SUM_BYTES};
    if (bytes != bytes_of(parameters, points) || get(&end, 8) != fnv_bytes(FNV_BEGIN, data, bytes - SUM_BYTES))
        return "is damaged; delete it to begin anew";
    if (parameters != t->config.parameters_count || hash != trainer_hash(t))
        return "was written for other jobs or options; name another file, or delete this one";
    return points <= t->updates + 1 ? NULL : "is damaged; delete it to begin anew";
}

static void get_all(trainer *t, unsigned char *data)
{
    const uint32_t count = t->config.parameters_count;
    cursor c = {data + 24};

    t->adam.steps = get(&c, 8);
    t->done = (uint32_t)get(&c, 4);
    t->best_update = (uint32_t)get(&c, 4);
    get_reals(&c, &t->best_reward, 1);
    t->curve_count = (uint32_t)get(&c, 4);
    t->has_begun = get(&c, 4) != 0;
    c.at = data + HEAD_BYTES;
    get_reals(&c, t->config.parameters, count);
    get_reals(&c, t->adam.m, count);
    get_reals(&c, t->adam.v, count);
    get_reals(&c, t->best, count);
    for (uint32_t i = 0; i < t->curve_count; i++) {
        double numbers[6];
        uint32_t update = (uint32_t)get(&c, 4), phase = (uint32_t)get(&c, 4);
        get_reals(&c, numbers, 6);
        t->curve[i] =
            (train_point){update, phase, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    }
}

bool trainer_load(trainer *t, const char *path, char *why)
{
    size_t bytes = 0;
    unsigned char *data = checkpoint_read(path, &bytes);

    if (data == NULL && errno == ENOENT)
        return true; /* there is none yet */
    if (data == NULL)
        return fail(why, path, strerror(errno));
    const char *wrong = check(t, data, bytes);
    if (wrong == NULL)
        get_all(t, data);
    free(data);
    return wrong == NULL || fail(why, path, wrong);
}
