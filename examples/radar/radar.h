/* radar.h - the radar as an application for the common drivers. */
#ifndef EXAMPLES_RADAR_H
#define EXAMPLES_RADAR_H

#include "../common/application.h"

enum { RADAR_OPTIONS = 4 };

/* options: [RADAR_OPTIONS], filled in; must outlive *app. */
void radar_describe(application *app, application_option *options);

#endif
