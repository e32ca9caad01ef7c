/* planner_file.c - see planner_file.h. */
#include "clotho/common/planner_file.h"

#include "clotho/common/report.h"

#include <clotho/planner.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define SYMBOL "clotho_planner"

bool is_planner_file(const char *name)
{
    size_t length = strlen(name);

    return strchr(name, '/') != NULL || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

/* dlopen looks for names without a '/' in the system's folders. */
static void *open_here(const char *name)
{
    char path[4096];

    if (strchr(name, '/') != NULL)
        return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if ((size_t)snprintf(path, sizeof path, "./%s", name) >= sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int load_planner(const char **name)
{
    void *object = open_here(*name);

    if (object == NULL)
        return complain(NULL, "%s; build a planner with -shared -fPIC", dlerror()); /* it begins with the name */
    const clo_planner *planner = dlsym(object, SYMBOL);
    if (planner == NULL)
        return complain(*name, "no planner is in it; export `const clo_planner " SYMBOL "` (clotho/planner.h)");
    if (planner->name != NULL && clo_planner_find(planner->name) == planner) { /* the same file again */
        *name = planner->name;
        return EXIT_GOOD;
    }
    clo_status status = clo_planner_register(planner);
    if (status != CLO_OK)
        return complain_status(*name, status);
    *name = planner->name;
    return EXIT_GOOD;
}
