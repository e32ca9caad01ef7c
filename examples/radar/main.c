#include "../common/driver.h"
#include "radar.h"

int main(int argc, char **argv)
{
    application_option options[RADAR_OPTIONS];
    application app;

    radar_describe(&app, options);
    return application_main(&app, argc, argv);
}
