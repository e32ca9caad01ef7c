/* report/platform_picture.h - a platform as boxes of characters. */
#ifndef CLO_REPORT_PLATFORM_PICTURE_H
#define CLO_REPORT_PLATFORM_PICTURE_H

#include "base/text.h"
#include "platform/model/platform.h"

/* Boxes for packages, clusters and cores, at most `columns` wide. */
void clo_picture_draw(const clo_platform *platform, uint32_t columns, clo_text *out);

/* The same boxes as a whole SVG document. */
void clo_picture_svg(const clo_platform *platform, uint32_t columns, clo_text *out);

#endif
