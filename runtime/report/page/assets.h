/* report/page/assets.h - page.css and the scripts, made part of the library by toolchain/embed.cmake. */
#ifndef CLO_REPORT_PAGE_ASSETS_H
#define CLO_REPORT_PAGE_ASSETS_H

#include <stddef.h>

extern const unsigned char clo_page_style[];
extern const size_t clo_page_style_bytes;
extern const unsigned char clo_page_script[];
extern const size_t clo_page_script_bytes;
extern const char clo_page_script_hash[]; /* "sha256-..." */

#endif
