/* commands.h - the verbs. Each gets argv with its own name first and returns an exit code. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_COMMANDS_H
#define CLO_TOOLS_CLOTHO_COMMON_COMMANDS_H

#include <clotho/status.h>

int cmd_platform(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_build(int argc, char **argv);
int build_as_ninja(int argc, char **argv); /* where the program was called by a name of ninja's */
int cmd_generate(int argc, char **argv);
int generate_stream(int argc, char **argv);               /* `generate stream` */
int generate_refuse(const char *path, clo_status status); /* of a graph, or of the file that it goes to */
int cmd_convert(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_model(int argc, char **argv);

#endif
