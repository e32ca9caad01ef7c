/* pylot.h - the driving pipeline as an application for the common drivers. */
#ifndef EXAMPLES_PYLOT_H
#define EXAMPLES_PYLOT_H

#include "../common/application.h"

enum { PYLOT_OPTIONS = 1 };

/* options: [PYLOT_OPTIONS], filled in; must outlive *app. */
void pylot_describe(application *app, application_option *options);

#endif
