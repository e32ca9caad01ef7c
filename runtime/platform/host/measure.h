/* platform/host/measure.h - what calibration measures: speeds of one CPU, links of two. */
#ifndef CLO_PLATFORM_HOST_MEASURE_H
#define CLO_PLATFORM_HOST_MEASURE_H

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

/* Sizes of the transfers that are measured: powers of two from 512 bytes on, to which the pieces of a link are fitted,
 * and held-aside ones between them (768 bytes times powers of four), to judge the fit by. */
#define CLO_LINK_FITTED 15
#define CLO_LINK_HELD 7
#define CLO_LINK_SIZES (CLO_LINK_FITTED + CLO_LINK_HELD)
#define CLO_FLOW_BYTES (1u << 20) /* of the two flows at once */

uint64_t clo_link_size(uint32_t index); /* below CLO_LINK_FITTED: to fit; the others are held aside */

/* How many of the sizes to fit a link is measured with that has so much time; 10 or more. The larger ones are left out,
 * and the held-aside sizes above the largest. */
uint32_t clo_link_fitted(int64_t budget_ns);

static inline int clo_link_is_used(uint32_t index, uint32_t fitted)
{
    return index < fitted || (index >= CLO_LINK_FITTED && 2 * (index - CLO_LINK_FITTED) + 1 < fitted);
}

/* One direction of the link between two CPUs. */
typedef struct clo_measured_way {
    uint32_t fitted;            /* see clo_link_fitted                                                        */
    int64_t line_ns;            /* latency: one way of a single cache line                                    */
    int64_t ns[CLO_LINK_SIZES]; /* the message and the copy of so many bytes                                  */
    int64_t alone_ns;           /* the copy of 1 MiB, or of the largest size                                  */
    int64_t together_ns;        /* the same while as much goes the other way                                  */
} clo_measured_way;

/* Measures for about budget_ns, both ways; out[0]: first to second. Returns CLO_OK, CLO_ERR_SYSTEM (cannot pin or
 * start a thread), CLO_ERR_MEMORY; `out` is untouched then. Leaves the calling thread pinned. */
CLO_NODISCARD clo_status clo_measure_link(uint32_t first, uint32_t second, int64_t budget_ns, clo_measured_way out[2]);

#endif
