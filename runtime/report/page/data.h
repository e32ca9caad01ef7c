/* report/page/data.h - what the script of a page reads. */
#ifndef CLO_REPORT_PAGE_DATA_H
#define CLO_REPORT_PAGE_DATA_H

#include "report/page/page.h"

/* Appends one JSON object, "clotho.report/1". */
void clo_page_add_data(const clo_page *page, clo_text *out);

#endif
