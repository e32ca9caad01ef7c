/* train_curve.c - the learning curve of a training as a file. */
#include "../train/curve.h"
#include "train.h"

int train_write_curve(const train_point *points, uint32_t count, const char *title, const char *path)
{
    FILE *file = fopen(path, "w");
    bool is_good = file != NULL && curve_svg(points, count, title, file);

    if (file != NULL)
        is_good = fclose(file) == 0 && is_good;
    return is_good ? EXIT_GOOD : complain(path, "cannot be written; check the folder and its rights");
}
