/* paired.c - see paired.h. */
#include "train/search/paired.h"

#include <math.h>

void paired_add(paired *p, double changed, double base)
{
    double change = changed / base - 1;

    p->count++;
    p->sum += change;
    p->squares += change * change;
}

double paired_mean(const paired *p)
{
    return p->count > 0 ? p->sum / p->count : 0;
}

double paired_error(const paired *p)
{
    if (p->count < 2)
        return 0;
    double variance = fmax(0, p->squares - p->sum * p->sum / p->count) / (p->count - 1);
    return 1.96 * sqrt(variance / p->count);
}
