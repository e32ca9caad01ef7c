/* curve.c - the learning curve of a training as a file. */
#include "train/trainer/curve.h"
#include "clotho/common/outputs.h"
#include "clotho/train/train.h"

int train_write_curve(const train_point *points, uint32_t count, const char *title, const char *path)
{
    output out;

    if (output_open(&out, path) && output_close(&out, curve_svg(points, count, title, out.file)))
        return EXIT_GOOD;
    return output_complain(&out);
}
