/* io/text/formats.h - the file formats by name. */
#ifndef CLO_IO_TEXT_FORMATS_H
#define CLO_IO_TEXT_FORMATS_H

#include "base/registry.h"

extern const clo_registry clo_formats;

#endif
