/* fuzz.h - what the targets share: the entry point of libFuzzer, and a broken promise that it notices. */
#ifndef CLO_FUZZ_H
#define CLO_FUZZ_H

#include <clotho/clotho.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define PROMISE(claim)                                                                                      \
    do {                                                                                                    \
        if (!(claim)) {                                                                                     \
            fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #claim, clo_last_error()); \
            abort();                                                                                        \
        }                                                                                                   \
    } while (0)

#endif
