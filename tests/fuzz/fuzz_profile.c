/* fuzz_profile.c - files of measured times, of any machine. What was read are entries that any profile takes, and it has
 * the same snapshot then; a file that is refused leaves nothing. */
#include "fuzz.h"
#include "io/text/parse.h"

#include <string.h>

static void check(const clo_profile *profile)
{
    clo_profile *again;
    clo_profile_entry e;

    PROMISE(clo_profile_create(0, &again) == CLO_OK);
    for (uint32_t i = 0; clo_profile_entry_at(profile, i, &e) == CLO_OK; i++) {
        PROMISE(e.codelet[0] != '\0' && e.codelet[0] != CLO_CODELET_ADDRESS && strlen(e.codelet) <= 255);
        PROMISE(e.kind[0] != '\0' && strlen(e.kind) <= 255 && e.samples > 0);
        PROMISE(e.location_ns >= 0 && e.spread_ns >= 0 && e.high_ns >= 0 && e.most_ns >= 0);
        PROMISE(clo_profile_add(again, &e) == CLO_OK);
    }
    PROMISE(clo_profile_publish(again) == CLO_OK);
    PROMISE(clo_profile_snapshot(again) == clo_profile_snapshot(profile));
    clo_profile_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_profile *profile;

    PROMISE(clo_profile_create(0, &profile) == CLO_OK);
    if (clo_profile_parse(profile, "f", (const char *)data, bytes, CLO_PROFILE_FOREIGN) == CLO_OK)
        check(profile);
    else
        PROMISE(clo_profile_entries(profile) == 0 && clo_last_error()[0] == 'f');
    clo_profile_destroy(profile);
    return 0;
}
