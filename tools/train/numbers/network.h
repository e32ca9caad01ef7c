/* network.h - a network in floating point: the operations of a model file on real numbers. It is the reference that an
 * integer model is compared with, and it measures how large each value gets, which the scales are chosen from. */
#ifndef CLO_TOOLS_TRAIN_NUMBERS_NETWORK_H
#define CLO_TOOLS_TRAIN_NUMBERS_NETWORK_H

#include <clotho/clotho.h>

#include <stdbool.h>

enum { NETWORK_VALUES_MAX = 64, NETWORK_LAYERS_MAX = 64, NETWORK_OPS_MAX = 64, NETWORK_JOINS_MAX = 4 };

/* No join, no group. */
#define NETWORK_NONE (-1)

typedef struct network_value {
    clo_model_domain domain;
    uint32_t width;
    bool is_input;
    /* int32 sums. `join`: they are parts of a layer over several inputs, which share a scale for each output. */
    bool is_sum;
    int join;
    /* Values of one group get the same exponent. */
    int group;
    /* Given, or NETWORK_NONE: found from `most`, and then exponent_max at most. */
    int exponent, exponent_max;
    /* Largest |x| that was seen. */
    double most;
    /* NULL: one unit of each number is 2^-exponent; else [width]: so many times that. */
    const double *steps;
    /* In a model so many more numbers stand behind the last one; together they are it. */
    uint32_t more_of_last;
} network_value;

/* A slice of the columns of a matrix [outputs][stride], from `column` on. */
typedef struct network_layer {
    uint32_t inputs, outputs, stride, column;
    /* NULL: the rule alone; zeros */
    const double *weights, *bias;
    /* Slope for negative results; 1: none. */
    double leaky;
    /* In a model its weights are held in two parts, seven times as fine; one operation uses it. */
    bool is_fine;
} network_layer;

typedef struct network {
    network_value values[NETWORK_VALUES_MAX];
    network_layer layers[NETWORK_LAYERS_MAX];
    /* The argument of TANH is not looked at. */
    clo_model_op ops[NETWORK_OPS_MAX];
    uint32_t values_count, layers_count, ops_count;
    uint32_t score, limit;
    /* Room for `steps` of inputs. */
    double units[8];
} network;

/* Jobs as in clo_model_case, with real inputs. */
typedef struct network_case {
    const clo_model_case *shape;
    /* All input values in order, each [rows][width]. */
    const double *inputs;
} network_case;

uint32_t network_rows(const clo_model_case *shape, clo_model_domain domain);

/* The numbers of one case: what each value is, and the slope of a loss along it. One thread at a time. */
typedef struct network_tape {
    /* [rows][width], in memory of the tape's own */
    double *rows[NETWORK_VALUES_MAX], *slopes[NETWORK_VALUES_MAX];
    double *memory;
    /* numbers that `memory` has room for */
    size_t capacity;
    /* The weights of the layers that were run, [inputs][outputs], and how many there is room for. */
    double *turned, *turned_of[NETWORK_LAYERS_MAX];
    size_t turned_capacity;
    /* [stages]: the scores of stages that are wanted; what only other scores depend on stays 0. NULL: all of them. */
    const uint8_t *wanted;
} network_tape;

/* Makes room for a case; begin with a tape of zeros. Allocates only where a case is larger than all before.
 * False: no memory, and the tape is as it was. */
bool network_tape_fit(network_tape *tape, const network *net, const clo_model_case *shape);
void network_tape_free(network_tape *tape);

/* Fills tape->rows, for which the tape fits. Allocates nothing, and does not look at `most`. */
void network_forward(const network *net, const network_case *input, network_tape *tape);

/* The slopes of all values are 0. Then the caller adds those of its loss: tape->slopes[net->score] and so on. */
void network_slopes_clear(const network *net, const clo_model_case *shape, network_tape *tape);

/* From the slopes of the outputs to those of the weights, behind network_forward of the same case (Rumelhart, Hinton,
 * Williams 1986).
 *
 *   base      all weights and biases of the network lie in base[], and are told apart by their place in it
 *             (network_lies_in); weights that several operations use add up.
 *   gradient  as long as base[]; is added to.
 *
 * At the kink of a leaky layer the slope is that of negative numbers. */
void network_backward(const network *net, const clo_model_case *shape, network_tape *tape, const double *base,
                      double *gradient);

/* Whether every weight and bias that the layers have lies in base[0 .. count). */
bool network_lies_in(const network *net, const double *base, size_t count);

/* Whether operation `op` does not work on a stage. */
bool network_leaves_out(const clo_model_case *shape, const clo_model_op *op, uint32_t row);

/* The row that `row` of a value of `domain` sees of a value of `mine`, which is the same domain or a coarser one. */
uint32_t network_row_for(const clo_model_case *shape, clo_model_domain mine, clo_model_domain domain, uint32_t row);

/* The index of the END of the loop that begins at operation `begin`. */
uint32_t network_loop_end(const network *net, uint32_t begin);

/* Whether the loop is skipped: it has an input, and there is no edge. */
bool network_skips_loop(const clo_model_case *shape, const clo_model_op *loop);

/* Fills scores [stages] and limits [limits], and makes `most` of each value larger where it must be. False: there is no
 * memory. */
bool network_run(network *net, const network_case *input, double *scores, double *limits);

#endif
