/* report/page/tables.h - what a page shows without its script. */
#ifndef CLO_REPORT_PAGE_TABLES_H
#define CLO_REPORT_PAGE_TABLES_H

#include "report/page/page.h"

/* The figures below the title. */
void clo_page_add_facts(const clo_page *page, clo_text *out);

/* The tables of the schedule that is drawn, and of all schedules or jobs. */
void clo_page_add_tables(const clo_page *page, clo_text *out);

#endif
