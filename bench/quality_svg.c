#include "quality.h"
bool quality_draw(const quality *q, const char *path)
{
    (void)q;
    (void)path;
    return true;
}
