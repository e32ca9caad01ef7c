/* report/page/frame.h - the whole page, written. */
#ifndef CLO_REPORT_PAGE_FRAME_H
#define CLO_REPORT_PAGE_FRAME_H

#include "report/page/page.h"

/* Writes the page with the picture `svg`. Returns CLO_OK, CLO_ERR_IO or CLO_ERR_MEMORY. */
clo_status clo_page_write(const clo_page *page, const clo_text *svg, const char *path);

#endif
