/* keys_ring.c - the keys of a service after a commit that has failed: the table is as it was before, where it was full,
 * too. Judged against a list of what must be there. Keys never change. */
#include "rpc/store/keys.h"
#include "rpc/wire/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(claim)                                                            \
    do {                                                                        \
        if (!(claim)) {                                                         \
            fprintf(stderr, "FAILED: %s:%d: %s\n", __FILE__, __LINE__, #claim); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

static void add(clo_rpc_keys *k, uint64_t key)
{
    uint64_t output = key * 3;
    const clo_rpc_applied a = {.key = key, .what = key + 7, .output = &output, .output_bytes = sizeof output};

    CHECK(clo_rpc_keys_add(k, &a) == 0);
}

static int has(const clo_rpc_keys *k, uint64_t key)
{
    const clo_rpc_applied *a = clo_rpc_keys_find(k, key);
    uint64_t output = 0;

    if (a == NULL)
        return 0;
    CHECK(a->key == key && a->what == key + 7 && a->output_bytes == sizeof output);
    memcpy(&output, a->output, sizeof output);
    CHECK(output == key * 3);
    return 1;
}

/* Exactly the keys first .. first + KEYS_MAX - 1, and none of the neighbours. */
static void check_range(const clo_rpc_keys *k, uint64_t first)
{
    for (uint64_t key = first; key < first + CLO_RPC_KEYS_MAX; key++)
        CHECK(has(k, key));
    for (uint64_t n = 1; n <= 100; n++)
        CHECK(!has(k, first + CLO_RPC_KEYS_MAX - 1 + n) && (first <= n || !has(k, first - n)));
}

int main(void)
{
    static const size_t groups[] = {
        1, 2, 1000, CLO_RPC_KEYS_MAX - 1, CLO_RPC_KEYS_MAX, CLO_RPC_KEYS_MAX + 1, 2 * CLO_RPC_KEYS_MAX + 5};
    clo_rpc_keys *k = clo_rpc_keys_create();
    uint64_t next = 1;

    CHECK(clo_rpc_key(7, 1, 2) == UINT64_C(0xcf9858e9fcabe32e)); /* journals and tables of before have such keys */
    CHECK(k != NULL);
    for (; next <= 5; next++)
        add(k, next);
    clo_rpc_keys_settle(k, 5);
    for (uint64_t key = 6; key <= 9; key++)
        add(k, key);
    clo_rpc_keys_take_back(k, 4); /* the table is not full */
    CHECK(has(k, 1) && has(k, 5) && !has(k, 6) && !has(k, 9));
    for (; next <= CLO_RPC_KEYS_MAX; next++)
        add(k, next);
    clo_rpc_keys_settle(k, CLO_RPC_KEYS_MAX);
    check_range(k, 1);
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) { /* a group fails, then it is settled */
        for (size_t i = 0; i < groups[g]; i++)
            add(k, next + i);
        clo_rpc_keys_take_back(k, groups[g]);
        check_range(k, next - CLO_RPC_KEYS_MAX);
        for (size_t i = 0; i < groups[g]; i++)
            add(k, next++);
        clo_rpc_keys_settle(k, groups[g]);
        check_range(k, next - CLO_RPC_KEYS_MAX);
    }
    for (int i = 0; i < 100; i++)
        add(k, next + (uint64_t)i); /* neither settled nor taken back: nothing may leak */
    clo_rpc_keys_destroy(k);
    printf("ok: a full table is what it was after a commit that has failed\n");
    return 0;
}
