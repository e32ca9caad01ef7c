/* refuse.c - what a generator says of a number begins with the name of its field; here it names the option. */
#include "clotho/common/commands.h"
#include "clotho/common/input.h"

#include <string.h>

int generate_refuse(const char *path, clo_status status)
{
    static const char *const options[][2] = {{"tasks", "tasks"}, {"width", "width"},        {"work_mean_ns", "work"},
                                             {"ccr", "ccr"},     {"work_spread", "spread"}, {"beta", "beta"},
                                             {"kinds", "kinds"}, {"demands", "demands"},    {"instances", "instances"}};
    const char *text = clo_last_error();

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        size_t bytes = strlen(options[i][0]);
        if (strncmp(text, options[i][0], bytes) == 0 && text[bytes] == ' ')
            return misuse("--%s%s", options[i][1], text + bytes);
    }
    return status == CLO_ERR_ARGUMENT ? misuse("%s", text) : complain_status(path, status);
}
