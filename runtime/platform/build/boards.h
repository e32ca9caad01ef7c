/* platform/build/boards.h - where the files of shipped boards lie. */
#ifndef CLO_PLATFORM_BUILD_BOARDS_H
#define CLO_PLATFORM_BUILD_BOARDS_H

#include <stdbool.h>

#define CLO_BOARD_PATH_BYTES 4096

/* Finds the file NAME.xml: in a folder of $CLOTHO_PLATFORMS (separated by colons), else beside the library or the program,
 * as they are installed or in a build tree, else where the library was to be installed. */
bool clo_board_find(const char *name, char path[CLO_BOARD_PATH_BYTES]);

#endif
