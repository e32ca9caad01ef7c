/* io/datasets/alibaba_csv.h - batch jobs of the Alibaba cluster trace v2017, as a workload. */
#ifndef CLO_IO_DATASETS_ALIBABA_CSV_H
#define CLO_IO_DATASETS_ALIBABA_CSV_H

#include "io/text/reader.h"

#include <clotho/workload.h>

/* Known by its first line. */
bool clo_text_is_alibaba_csv(const char *text, size_t bytes);

/* Adds every job of the text to `workload`, in the order of the file, and gives it its platform. */
clo_status clo_alibaba_csv_read(const clo_reader *base, const clo_source *source, clo_workload *workload);

#endif
