/* name.h - names that travel, and times that callers give. */
#ifndef CLO_RPC_WIRE_NAME_H
#define CLO_RPC_WIRE_NAME_H

#include <clotho/rpc.h>
#include <string.h>

/* A method stands in URLs as it is, too. "" is one. */
static inline int clo_rpc_is_method(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";

    return strnlen(text, CLO_RPC_NAME_BYTES) < CLO_RPC_NAME_BYTES && text[strspn(text, letters)] == '\0';
}

/* Of a config: 0: `usual`, negative: never (0). */
static inline uint32_t clo_rpc_beat_ms(int64_t beat_ns, uint32_t usual)
{
    int64_t ms = beat_ns / 1000000;

    if (beat_ns <= 0)
        return beat_ns == 0 ? usual : 0;
    return ms < 1 ? 1 : ms > 3600000 ? 3600000 : (uint32_t)ms;
}

#endif
