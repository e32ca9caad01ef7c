/* core_names.c - see core_names.h. Implementers and parts are those of MIDR_EL1 as Linux names them
 * (arch/arm64/include/asm/cputype.h), the names those of Arm's and the makers' manuals. */
#include "platform/build/core_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "IMPLEMENTER-PART NAME ", in hexadecimal digits: one text takes a third of what a table of pointers takes. */
static const char known[] =
    "41-c05 cortex-a5 41-c07 cortex-a7 41-c08 cortex-a8 41-c09 cortex-a9 41-c0d cortex-a17 41-c0e cortex-a17 "
    "41-c0f cortex-a15 41-d01 cortex-a32 41-d02 cortex-a34 41-d03 cortex-a53 41-d04 cortex-a35 41-d05 cortex-a55 "
    "41-d06 cortex-a65 41-d07 cortex-a57 41-d08 cortex-a72 41-d09 cortex-a73 41-d0a cortex-a75 41-d0b cortex-a76 "
    "41-d0c neoverse-n1 41-d0d cortex-a77 41-d0e cortex-a76ae 41-d40 neoverse-v1 41-d41 cortex-a78 "
    "41-d42 cortex-a78ae 41-d43 cortex-a65ae 41-d44 cortex-x1 41-d46 cortex-a510 41-d47 cortex-a710 41-d48 cortex-x2 "
    "41-d49 neoverse-n2 41-d4a neoverse-e1 41-d4b cortex-a78c 41-d4c cortex-x1c 41-d4d cortex-a715 41-d4e cortex-x3 "
    "41-d4f neoverse-v2 41-d80 cortex-a520 41-d81 cortex-a720 41-d82 cortex-x4 41-d84 neoverse-v3 41-d85 cortex-x925 "
    "41-d87 cortex-a725 41-d8e neoverse-n3 43-0a1 thunderx 43-0af thunderx2 46-001 a64fx 48-d01 tsv110 "
    "4e-003 denver2 4e-004 carmel 51-001 oryon 51-800 cortex-a73 51-801 cortex-a53 51-802 cortex-a75 51-803 cortex-a55 "
    "51-804 cortex-a76 51-805 cortex-a55 51-c00 falkor 61-022 icestorm 61-023 firestorm c0-ac3 ampere1 "
    "c0-ac4 ampere1a ";

static void name_core(unsigned long implementer, unsigned long part, char out[CLO_CORE_NAME_BYTES])
{
    char key[16];

    snprintf(key, sizeof key, "%02lx-%03lx ", implementer & 0xff, part & 0xfff);
    const char *at = strstr(known, key);
    if (at == NULL)
        snprintf(out, CLO_CORE_NAME_BYTES, "arm-%.6s", key);
    else
        snprintf(out, CLO_CORE_NAME_BYTES, "%.*s", (int)strcspn(at + 7, " "), at + 7);
}

/* The value of a line "key<blanks>: value"; NULL: another line. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);

    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length;
    line += strspn(line, " \t");
    return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* "sifive,u74-mc": behind the maker; letters, digits and dashes only. */
static void name_uarch(const char *value, char out[CLO_CORE_NAME_BYTES])
{
    const char *end = value + strcspn(value, "\n"), *comma = memchr(value, ',', (size_t)(end - value));
    size_t used = 0;

    for (value = comma != NULL ? comma + 1 : value; value < end && used + 1 < CLO_CORE_NAME_BYTES; value++)
        if (isalnum((unsigned char)*value) || *value == '-')
            out[used++] = *value;
    out[used] = '\0';
}

clo_status clo_core_names_read(const char *cpuinfo, clo_status (*found)(void *of, uint32_t cpu, const char *name),
                               void *of)
{
    unsigned long cpu = UINT32_MAX, implementer = 0;
    clo_status status = CLO_OK;

    for (const char *line = cpuinfo; status == CLO_OK && *line != '\0'; line += *line == '\n') {
        const char *value;
        char name[CLO_CORE_NAME_BYTES] = "";
        if ((value = value_of(line, "processor")) != NULL && isdigit((unsigned char)*value))
            cpu = strtoul(value, NULL, 10);
        else if ((value = value_of(line, "CPU implementer")) != NULL)
            implementer = strtoul(value, NULL, 16);
        else if ((value = value_of(line, "CPU part")) != NULL)
            name_core(implementer, strtoul(value, NULL, 16), name);
        else if ((value = value_of(line, "uarch")) != NULL)
            name_uarch(value, name);
        if (name[0] != '\0' && cpu < UINT32_MAX)
            status = found(of, (uint32_t)cpu, name);
        line += strcspn(line, "\n");
    }
    return status;
}
