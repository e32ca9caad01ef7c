/* sim/waves.h - Decima's environment by a configuration whose zeros are zeros, for environment.c. */
#ifndef CLO_SIM_WAVES_H
#define CLO_SIM_WAVES_H

#include <clotho/environment.h>

/* What clo_decima_open puts in the place of zeros. */
#define CLO_DECIMA_MOVING_NS INT64_C(2000000000)
#define CLO_DECIMA_WARMUP_NS INT64_C(1000000000)

/* As clo_decima_open; moving_ns and warmup_ns are as they stand. Its name says what is not the default. */
clo_status clo_decima_make(const clo_decima_config *config, clo_environment *out);

#endif
