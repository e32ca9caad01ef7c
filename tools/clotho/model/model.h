/* model.h - the parts of `clotho model`. */
#ifndef CLO_TOOLS_CLOTHO_MODEL_MODEL_H
#define CLO_TOOLS_CLOTHO_MODEL_MODEL_H

#include <clotho/clotho.h>

/* Each prints the whole model and returns an exit code. */
int model_print(const clo_model *model);
int model_print_json(const clo_model *model);

/* Prints one line for each thing that differs. Returns EXIT_GOOD if nothing does, else EXIT_BAD_INPUT. */
int model_print_difference(const clo_model *a, const clo_model *b);

/* A file, else a built-in model of that name. Returns an exit code, after an error line where it is not good. */
int model_load(const char *path, clo_model **out);

/* Writes a model file, to a neighbour first: what is there stays where the disk is full. Returns an exit code, after an
 * error line where it is not good. */
int model_write(const char *path, const void *data, size_t bytes);

/* `clotho model quantize`. */
int model_quantize(int argc, char **argv);

#endif
