/* fuzz_dot.c - DOT alone: the input is the inside of a digraph, so that every byte reaches the parser. */
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char head[] = "digraph g {", tail[] = "\n}";
    clo_document *d = NULL;
    size_t whole = bytes + sizeof head + sizeof tail - 2;
    char *text = malloc(whole);

    PROMISE(text != NULL);
    memcpy(text, head, sizeof head - 1);
    if (bytes > 0)
        memcpy(text + sizeof head - 1, data, bytes);
    memcpy(text + sizeof head - 1 + bytes, tail, sizeof tail - 1);
    if (clo_document_parse("f", text, whole, NULL, &d) == CLO_OK)
        all_round_trips(d);
    clo_document_destroy(d);
    free(text);
    return 0;
}
