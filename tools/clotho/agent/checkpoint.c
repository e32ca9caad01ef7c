/* checkpoint.c - the checkpoint of a training of Decima's network: all that the next update depends on, as text. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/agent/training.h"

#include "clotho/common/outputs.h"
#include "clotho/common/report.h"
#include "train/trainer/checkpoint_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512 };

#define KIND "decima-network"
#define STEPS_MAX 9007199254740992. /* 2^53: whole numbers of a double */

static bool write_numbers(const double *numbers, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++)
        if (fprintf(out, "%a\n", numbers[i]) < 0)
            return false;
    return true;
}

static bool write_state(const network_training *t, FILE *out)
{
    uint32_t numbers = agent_numbers();
    bool is_good = fprintf(out, "%u %u %a %" PRIu64 " %u\n", t->done, t->best_update, t->best_score, t->adam.steps,
                           t->curve_count) > 0;

    is_good = is_good && write_numbers(t->numbers, numbers, out) && write_numbers(t->best, numbers, out) &&
              write_numbers(t->adam.m, numbers, out) && write_numbers(t->adam.v, numbers, out);
    for (uint32_t i = 0; i < t->curve_count && is_good; i++) {
        const train_point *p = &t->curve[i];
        is_good = fprintf(out, "%u %u %a %a %a %a %a %a\n", p->update, p->phase, p->reward, p->validation, p->loss,
                          p->entropy, p->agreed, p->gradient) > 0;
    }
    return is_good;
}

int network_write_checkpoint(const network_training *t)
{
    output out;

    if (t->o.scenes.checkpoint == NULL)
        return EXIT_GOOD;
    if (checkpoint_begin(&out, t->o.scenes.checkpoint, KIND, t->hash) && checkpoint_end(&out, write_state(t, out.file)))
        return EXIT_GOOD;
    return output_complain(&out);
}

/* A line of so many numbers. */
static bool read_row(double *numbers, uint32_t count, FILE *in)
{
    char line[LINE_BYTES], *at = line;

    if (fgets(line, sizeof line, in) == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtod(at, &end);
        if (end == at)
            return false;
        at = end;
    }
    return *at == '\n';
}

static bool read_numbers(double *numbers, uint32_t count, FILE *in)
{
    for (uint32_t i = 0; i < count; i++)
        if (!read_row(&numbers[i], 1, in) || !isfinite(numbers[i]))
            return false;
    return true;
}

static bool is_count(double number, double most)
{
    return number >= 0 && number <= most && number == floor(number);
}

static bool read_state(network_training *t, FILE *in)
{
    uint32_t numbers = agent_numbers(), most = t->o.imitations + t->o.updates;
    double head[5], row[8];

    if (!read_row(head, 5, in) || !is_count(head[0], most) || !is_count(head[1], head[0]) || isnan(head[2]) ||
        !is_count(head[3], STEPS_MAX) || head[4] != head[0] + 1) /* a point for each update, and the first */
        return false;
    t->done = (uint32_t)head[0];
    t->best_update = (uint32_t)head[1];
    t->best_score = head[2];
    t->adam.steps = (uint64_t)head[3];
    t->curve_count = (uint32_t)head[4];
    bool is_good = read_numbers(t->numbers, numbers, in) && read_numbers(t->best, numbers, in) &&
                   read_numbers(t->adam.m, numbers, in) && read_numbers(t->adam.v, numbers, in);
    for (uint32_t i = 0; is_good && i < t->curve_count; i++) {
        is_good = read_row(row, 8, in) && is_count(row[0], most) && is_count(row[1], 1);
        if (is_good)
            t->curve[i] = (train_point){.update = (uint32_t)row[0],
                                        .phase = (uint32_t)row[1],
                                        .reward = row[2],
                                        .validation = row[3],
                                        .loss = row[4],
                                        .entropy = row[5],
                                        .agreed = row[6],
                                        .gradient = row[7]};
    }
    return is_good;
}

int network_read_checkpoint(network_training *t)
{
    const char *path = t->o.scenes.checkpoint;
    size_t bytes = 0;
    FILE *lines = NULL;
    unsigned char *data = path != NULL ? checkpoint_read(path, &bytes) : NULL;

    if (data == NULL)
        return path == NULL || errno == ENOENT ? EXIT_GOOD : complain(path, "%s", strerror(errno));
    const char *wrong = checkpoint_lines((char *)data, bytes, KIND, t->hash, &lines);
    if (wrong == NULL && !read_state(t, lines))
        wrong = "is damaged; delete it to begin anew";
    if (lines != NULL)
        fclose(lines);
    free(data);
    return wrong == NULL ? EXIT_GOOD : complain(path, "%s", wrong);
}
