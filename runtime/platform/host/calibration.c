/* calibration.c - see calibration.h. */
#include "platform/host/calibration.h"

#include "base/text.h"

#include <stdarg.h>

void clo_calibration_say(const clo_calibration *c, const char *format, ...)
{
    char line[240];
    va_list arguments;

    if (c->progress == NULL)
        return;
    va_start(arguments, format);
    clo_print_list(line, sizeof line, format, arguments);
    va_end(arguments);
    c->progress(c->context, line);
}

clo_status clo_calibration_add(const clo_calibration *c, int32_t cpu, const char *name, const char *format, ...)
{
    char value[600];
    va_list arguments;

    va_start(arguments, format);
    clo_print_list(value, sizeof value, format, arguments);
    va_end(arguments);
    return clo_native_add_info(c->native, cpu, name, value);
}
