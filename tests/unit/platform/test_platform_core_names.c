/* What cores are called: from the text of /proc/cpuinfo, as kernels of several machines write it. */
#include "support.h"

#include "platform/build/core_names.h"

#include <stdio.h>
#include <string.h>

#define SEEN_BYTES 512

static clo_status see(void *of, uint32_t cpu, const char *name)
{
    char *seen = of;
    size_t used = strlen(seen);

    snprintf(seen + used, SEEN_BYTES - used, "%u=%s ", cpu, name);
    return CLO_OK;
}

static clo_status refuse(void *of, uint32_t cpu, const char *name)
{
    (void)name;
    *(uint32_t *)of = cpu;
    return CLO_ERR_MEMORY;
}

static void are_called(const char *cpuinfo, const char *wanted)
{
    char seen[SEEN_BYTES] = "";

    assert_int_equal(clo_core_names_read(cpuinfo, see, seen), CLO_OK);
    assert_string_equal(seen, wanted);
}

static const char big_little[] = "processor\t: 0\nBogoMIPS\t: 48.00\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                                 "CPU variant\t: 0x2\nCPU part\t: 0xd05\nCPU revision\t: 0\n\n"
                                 "processor\t: 4\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\nCPU revision\t: 0\n\n"
                                 "Hardware\t: a board\nSerial\t\t: 00\n";

static void arm_cores_have_the_names_of_their_parts(void **state)
{
    (void)state;
    are_called(big_little, "0=cortex-a55 4=cortex-a76 ");
    are_called("processor : 3\nCPU implementer : 0x4e\nCPU part : 0x003\n", "3=denver2 ");
    are_called("processor\t: 0\nCPU implementer\t: 0x51\nCPU part\t: 0x802\n", "0=cortex-a75 ");
    are_called("Processor\t: ARMv7 rev 3\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xc0f\n",
               "1=cortex-a15 ");
}

static void a_part_that_is_not_known_has_its_number(void **state)
{
    (void)state;
    are_called("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xfff\n", "0=arm-41-fff ");
    are_called("processor\t: 0\nCPU implementer\t: 0x0\nCPU part\t: 0x0\n", "0=arm-00-000 ");
    are_called("processor\t: 0\nCPU implementer\t: 0x141\nCPU part\t: 0xfd03\n", "0=cortex-a53 ");
}

static void riscv_cores_have_the_names_of_their_uarch(void **state)
{
    (void)state;
    are_called("processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t: sifive,u74-mc\n\n"
               "processor\t: 1\nhart\t\t: 2\nuarch\t\t: thead,c910\n",
               "0=u74-mc 1=c910 ");
    are_called("processor\t: 0\nuarch\t\t: x<y> \"z\"\n", "0=xyz ");
    are_called("processor\t: 0\nuarch\t\t: ,\n", "");
}

static void others_have_none(void **state)
{
    (void)state;
    are_called("", "");
    are_called("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel\n", "");
    are_called("CPU part\t: 0xd0b\n", ""); /* of no processor */
    are_called("processor\t: 18446744073709551615\nCPU part\t: 0xd0b\n", "");
    are_called("processor\t: 0\nCPU part 0xd0b\nCPU partner\t: 0xd0b\n", "");
    are_called("processor\t: 0\nCPU part\t: 0xd0b", "0=arm-00-d0b "); /* the text ends there */
}

static void the_first_refusal_ends_it(void **state)
{
    uint32_t last = 77;

    (void)state;
    assert_int_equal(clo_core_names_read(big_little, refuse, &last), CLO_ERR_MEMORY);
    assert_int_equal(last, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arm_cores_have_the_names_of_their_parts),
        cmocka_unit_test(a_part_that_is_not_known_has_its_number),
        cmocka_unit_test(riscv_cores_have_the_names_of_their_uarch),
        cmocka_unit_test(others_have_none),
        cmocka_unit_test(the_first_refusal_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
