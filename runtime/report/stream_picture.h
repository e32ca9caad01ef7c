/* report/stream_picture.h - a stream as SVG. */
#ifndef CLO_REPORT_STREAM_PICTURE_H
#define CLO_REPORT_STREAM_PICTURE_H

#include "base/text.h"

#include <clotho/stream.h>

/* Appends a whole SVG document. Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE or CLO_ERR_MEMORY, as
 * clo_stream_gantt_svg does. */
clo_status clo_stream_svg(const clo_log *log, const clo_platform *platform, const char *title, clo_text *out);

#endif
