/* base/numbers/crc.h - CRC-32C (Castagnoli; RFC 3720, appendix B.4): finds every error of up to 32 bits in a row. */
#ifndef CLO_BASE_NUMBERS_CRC_H
#define CLO_BASE_NUMBERS_CRC_H

#include "library.h"
#include <stddef.h>
#include <stdint.h>

/* `crc` of what stands before; 0 where nothing does. Of "123456789": 0xe3069283. */
CLO_INTERNAL uint32_t clo_crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
