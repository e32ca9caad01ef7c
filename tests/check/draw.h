/* draw.h - inputs for the kernels: random numbers, extreme numbers, and layers made of them. Every array has exactly
 * the size that kernels.h asks for and lies at an odd multiple of its element, so that a sanitizer sees each byte too
 * much. */
#ifndef CHECK_DRAW_H
#define CHECK_DRAW_H

#include "kernels/kernels.h"

/* How numbers are drawn: small ones, any, or the ends of their type. */
typedef enum style { STYLE_SMALL, STYLE_ANY, STYLE_LOWEST, STYLE_HIGHEST, STYLE_ENDS, STYLES } style;

/* The same numbers on every machine. */
uint64_t draw_bits(void);
void draw_seed(uint64_t seed);
uint32_t draw_below(uint32_t bound);
int32_t draw_number(style how, int32_t lowest, int32_t highest);

/* Memory until draw_free_all, filled with a pattern. */
void *draw_room(size_t count, size_t bytes);
void draw_free_all(void);

int8_t *draw_s8(style how, size_t count);
int16_t *draw_s16(style how, size_t count);
int32_t *draw_s32(style how, size_t count);

/* `outputs` sets of numbers of the rule; the rest of the array is 0. */
clo_rule draw_rule(style how, clo_number out, uint32_t outputs);
clo_dense draw_dense(style how, clo_number out, uint32_t inputs, uint32_t outputs);

/* Rounded up to a multiple of unit. */
uint32_t draw_up(uint32_t count, uint32_t unit);

#endif
