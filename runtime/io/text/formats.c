/* io/text/formats.c - the formats by name, in the order of `clotho list formats`. */
#include "io/text/formats.h"

static const clo_registry_head formats[] = {
    {"clotho", "own JSON, clotho.graph/1: everything a graph and its platform hold", "rw"},
    {"wfformat", "WfCommons WfFormat, reads 1.0 to 1.5, writes 1.5: recorded scientific workflows", "rw"},
    {"saga", "SAGA JSON: task costs, node speeds, link bandwidths", "rw"},
    {"cost-table", "JSON with computation_cost[task][processor], as in the HEFT and PEFT papers", "r"},
    {"node-link", "node-link JSON of networkx: a directed graph with weights on nodes and edges", "r"},
    {"psplib", "PSPLIB .sm and JSON Lines: resource-constrained projects, with their platform", "r"},
    {"stg", "Standard Task Graphs, .stg and JSON Lines: identical processors, no communication", "r"},
    {"tpch-packing", "JSON Lines of merged query graphs that share one resource, with their platform", "r"},
    {"alibaba", "JSON Lines of batch jobs of the Alibaba trace v2018, with one machine of it", "r"},
    {"tpch", "JSON Lines of TPC-H queries measured on Spark: stages with many instances", "r"},
    {"rpc", "JSON Lines of microservice call graphs", "r"},
    {"workload", "own JSON Lines, clotho.workload/1: jobs that arrive over time, with their graphs", "rw"},
    {"alibaba-2017", "CSV of batch jobs of the Alibaba trace v2017: a workload, with one machine of it", "r"},
    {"dot", "Graphviz digraph with work_ns on nodes and bytes on edges", "rw"},
    {0},
};

const clo_registry clo_formats = {
    .name = "formats", .rows = formats, .row_bytes = sizeof formats[0], .has_directions = true};
