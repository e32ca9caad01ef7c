/* fuzz_plan.c - plan files, against one fixed graph and platform; the checker takes whatever was read. */
#include "base/memory.h"
#include "fuzz.h"
#include "io/text/parse.h"
#include "io/text/reader.h"

#include <string.h>

static const char graph[] = "{\"format\": \"clotho.graph/1\", \"tasks\": [{\"name\": \"a\", \"work_ns\": 10, "
                            "\"duplicable\": true}, {\"name\": \"b\", \"instances\": 2, "
                            "\"work_ns\": 5}, {\"name\": \"c\", \"work_ns\": 1}, {\"name\": \"c\", \"work_ns\": 0}], "
                            "\"edges\": [{\"from\": \"a\", \"to\": \"b\", "
                            "\"bytes\": 4}, {\"from\": \"b\", \"to\": 2}, {\"from\": 0, \"to\": 3, \"bytes\": 8}], "
                            "\"platform\": {\"executors\": [{\"name\": \"x\", "
                            "\"kind\": \"k\"}, {\"name\": \"y\", \"kind\": \"k\", \"speed\": 2}], \"latency_ns\": 1, "
                            "\"bandwidth_bytes_per_ns\": 2}}";

static void round_trip(const clo_plan *plan, const clo_cost *cost)
{
    clo_plan *again;
    char *text;
    size_t count, count_again;

    PROMISE(clo_plan_print(plan, cost, &text) == CLO_OK);
    PROMISE(clo_plan_parse("again", text, strlen(text), cost, &again) == CLO_OK);
    const clo_placement *a = clo_plan_placements(plan, &count), *b = clo_plan_placements(again, &count_again);
    PROMISE(count == count_again && (count == 0 || memcmp(a, b, count * sizeof *a) == 0));
    clo_status status = clo_plan_check(plan, cost, CLO_CHECK_FULL);
    PROMISE(status == CLO_OK || status == CLO_ERR_INVALID);
    PROMISE(clo_plan_check(again, cost, CLO_CHECK_FULL) == status);
    clo_plan_destroy(again);
    clo_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_document *d;
    clo_cost *cost;
    clo_plan *plan = NULL;

    PROMISE(clo_document_parse("graph", graph, sizeof graph - 1, NULL, &d) == CLO_OK);
    PROMISE(clo_cost_create(clo_document_graph(d), clo_document_platform(d), &cost) == CLO_OK);
    if (clo_plan_parse("f", (const char *)data, bytes, cost, &plan) == CLO_OK)
        round_trip(plan, cost);
    else
        PROMISE(plan == NULL && clo_last_error()[0] == 'f');
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_document_destroy(d);
    return 0;
}
