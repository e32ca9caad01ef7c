/* io/text/parse.h - what the calls that load a file do with its text. `name` stands for the file in messages. Each
 * returns as the call that loads, but not CLO_ERR_IO. */
#ifndef CLO_IO_TEXT_PARSE_H
#define CLO_IO_TEXT_PARSE_H

#include <clotho/io.h>
#include <clotho/log.h>
#include <clotho/profile.h>

/* `name` is copied, `text` borrowed until clo_documents_close. */
clo_status clo_documents_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                               clo_documents **out);

clo_status clo_plan_parse(const char *name, const char *text, size_t text_bytes, const clo_cost *cost, clo_plan **out);

/* A workload that is not in a file must not name files. */
clo_status clo_workload_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                              clo_workload **out);

/* Merges into `profile`, as clo_profile_load. */
clo_status clo_profile_parse(clo_profile *profile, const char *name, const char *text, size_t text_bytes,
                             uint32_t flags);

clo_status clo_log_parse(const char *name, const char *text, size_t text_bytes, clo_log **out);

#endif
