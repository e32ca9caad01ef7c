/* generate.h - seeded graph families, for tests, benchmarks and `clotho generate`.
 *
 * Same config, same graph, on every machine. Tasks get `clo_body_spin` as body,
 * `work` around work_mean_ns, and are duplicable if asked. CCR is the ratio of the
 * mean transfer time to the mean execution time on an executor of speed 65536 with links
 * of 1 byte/ns (Topcuoglu 2002, section 5). Heterogeneity beta in [0, 2) spreads the
 * times over kinds "k0".."k<kinds-1>" uniformly in w*(1 +- beta/2) (same source). */
#ifndef CLOTHO_GENERATE_H
#define CLOTHO_GENERATE_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_generate_config {
    size_t size; /* CLO_GENERATE_CONFIG_INIT                                        */
    uint64_t seed;
    uint32_t tasks;       /* wanted number of tasks; the family rounds to the nearest it has; 0: 100 */
    uint32_t width;       /* layered: mean layer width; forkjoin: branches; trees: arity; 0: family default */
    int64_t work_mean_ns; /* 0: 100 000                                                      */
    double ccr;           /* 0: no bytes on the edges                                        */
    double work_spread;   /* 0 .. 1: work uniform in mean*(1 +- spread)                      */
    double beta;          /* heterogeneity over kinds; used if kinds > 0                     */
    uint32_t kinds;       /* 0: homogeneous, work only                                       */
    uint32_t duplicable;  /* 1: every task is duplicable                                     */
    uint32_t outputs;     /* 1: each task owns an output buffer as large as its widest out-edge */
} clo_generate_config;

#define CLO_GENERATE_CONFIG_INIT CLO_SIZED_INIT(clo_generate_config)

/* Generates and seals a graph of `family`.
 *   config  NULL means all defaults.
 *   out     owned by the caller; untouched on failure.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown family, numbers out of range), CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_graph_generate(const char *family, const clo_generate_config *config,
                                                    clo_graph **out);

#ifdef __cplusplus
}
#endif
#endif
