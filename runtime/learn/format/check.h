/* learn/format/check.h - what makes a model safe to run. */
#ifndef CLO_LEARN_FORMAT_CHECK_H
#define CLO_LEARN_FORMAT_CHECK_H

#include "learn/format/opened.h"

/* Sets all pointers of `model` but dense, whose room the caller gives afterwards: header, tables, all bounds of the
 * file. `data` is aligned. */
clo_status clo_check_file(clo_model *model, const unsigned char *data, size_t bytes);

/* Each entry alone; fills model->dense. */
clo_status clo_check_entries(clo_model *model);

/* The operations: types, order, and that no sum can overflow. */
clo_status clo_check_ops(const clo_model *model);

/* Rows and indices of a case, which may come from a file, and its inputs. */
clo_status clo_check_case(const clo_model *model, const clo_model_case *input);

#endif
