/* platform/measure.h - what calibration measures: speeds of one CPU, links of two. */
#ifndef CLO_PLATFORM_MEASURE_H
#define CLO_PLATFORM_MEASURE_H

#include <clotho/status.h>
#include <stddef.h>
#include <stdint.h>

/* Binds the calling thread to one CPU. Returns CLO_OK or CLO_ERR_SYSTEM. */
CLO_NODISCARD clo_status clo_measure_pin(uint32_t cpu);

typedef struct clo_affinity clo_affinity; /* opaque: the CPUs a thread may use */
CLO_NODISCARD clo_status clo_affinity_save(clo_affinity **out);
void clo_affinity_restore(clo_affinity *affinity); /* and frees it; NULL is allowed */

/* The middle of `count` values, which are sorted in place; count > 0. */
int64_t clo_measure_median(int64_t *values, size_t count);

/* CPU time of the calling thread: what other programs take of the CPU meanwhile does not count. */
int64_t clo_measure_cpu_ns(void);

/* What a class of work does, in units of about a microsecond. */
typedef struct clo_work clo_work; /* opaque: the buffers */
CLO_NODISCARD clo_status clo_work_create(clo_work **out);
void clo_work_destroy(clo_work *work);
enum { CLO_WORK_INTEGER, CLO_WORK_FLOAT, CLO_WORK_MEMORY, CLO_WORKS };
void clo_work_run(clo_work *work, uint32_t which, uint64_t units);

/* The link between two CPUs, both ways; index 0: first to second. */
typedef struct clo_measured_link {
    int64_t latency_ns[2];      /* of the fit; never below one way of a single cache line      */
    int64_t ns_per_mib[2];      /* of the fit                                                  */
    uint32_t error_permille[2]; /* the largest relative error of the fit over the sizes */
    int64_t line_ns;            /* one way of a single cache line                              */
} clo_measured_link;

/* Measures for about budget_ns. Buffers of CLO_LINK_BYTES_MAX are made inside.
 * Returns CLO_OK, CLO_ERR_SYSTEM (cannot pin or start a thread), CLO_ERR_MEMORY. Leaves the calling thread pinned. */
#define CLO_LINK_BYTES_MAX (4u << 20)
CLO_NODISCARD clo_status clo_measure_link(uint32_t first, uint32_t second, int64_t budget_ns, clo_measured_link *out);

/* Least squares of the relative errors of time = latency + bytes * slope over `count` points (medians), latency at
 * least line_ns. Fills latency, ns_per_mib and error of direction `way`. */
void clo_measure_fit(const int64_t *bytes, const int64_t *ns, size_t count, int64_t line_ns, int way,
                     clo_measured_link *out);

#endif
