#include "flow.h"
#include "answer.h"
#include "engine.h"
#include "parcel.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is being built. */
typedef struct builder {
    const flow_config *config;
    flow *out;
    const clo_graph *calls; /* NULL: requests */
    uint32_t kinds[SERVICES_MAX];
    clo_edge *edges;
    uint32_t edges_count, tasks;
    char *error;
    size_t error_bytes;
} builder;

static int fail(const builder *b, const char *why)
{
    snprintf(b->error, b->error_bytes, "%s", why);
    return -1;
}

static int fail_clotho(const builder *b)
{
    return fail(b, clo_last_error());
}

static uint64_t hash_name(const char *name)
{
    return answer_mix(answer_hash(ANSWER_BEGIN, name, strlen(name)));
}

/* Endpoints with one address are one host. */
static size_t host_length(const char *endpoint)
{
    const char *scheme = strstr(endpoint, "://"), *host = scheme != NULL ? scheme + 3 : endpoint;
    const char *colon = strrchr(host, ':');

    return (size_t)((colon != NULL ? colon : host + strcspn(host, "/")) - endpoint);
}

static uint32_t host_of(const flow_config *c, const char *endpoint)
{
    uint32_t number = 0;
    size_t length = host_length(endpoint);

    for (uint32_t s = 0; s < c->services_count; s++)
        for (uint32_t r = 0; r < c->services[s].replicas; r++, number++)
            if (host_length(c->services[s].replica[r]) == length &&
                strncmp(c->services[s].replica[r], endpoint, length) == 0)
                return number;
    return number;
}

/* Matrices of the links between hosts. Up to 1024 executors: they have the square of that as entries. */
static int set_links(const builder *b, clo_platform_desc *desc, int64_t **latency, double **bandwidth)
{
    const flow_config *c = b->config;
    size_t n = desc->executors_count;

    if (c->link_us == 0 && c->link_mbit == 0)
        return 0;
    if (n > 1024)
        return fail(b, "--link-us and --link-mbit: at most 1024 executors are possible; use fewer --slots");
    *latency = calloc(n * n, sizeof **latency);
    *bandwidth = calloc(n * n, sizeof **bandwidth);
    if (*latency == NULL || *bandwidth == NULL)
        return fail(b, "no memory for the platform");
    for (size_t i = 0; i < n * n; i++)
        if (desc->executors[i / n].memory != desc->executors[i % n].memory) {
            (*latency)[i] = (int64_t)c->link_us * 1000;
            (*bandwidth)[i] = (double)c->link_mbit / 8000; /* bytes/ns */
        }
    desc->latency_ns = *latency;
    desc->bandwidth_bytes_per_ns = *bandwidth;
    return 0;
}

static int make_platform(builder *b)
{
    const flow_config *c = b->config;
    const char *names[SERVICES_MAX];
    uint32_t replicas = 0, count = 0;
    int64_t *latency = NULL;
    double *bandwidth = NULL;

    for (uint32_t s = 0; s < c->services_count; s++) {
        names[s] = c->services[s].name;
        replicas += c->services[s].replicas;
    }
    uint64_t all = (uint64_t)replicas * c->slots;
    if (all == 0 || all > CLO_EXECUTORS_MAX)
        return fail(b, "none, or too many replicas times --slots; at most 65536 are possible");
    clo_executor *executors = calloc(all, sizeof *executors);
    b->out->replica_of = calloc(all, sizeof *b->out->replica_of);
    if (executors == NULL || b->out->replica_of == NULL) {
        free(executors);
        return fail(b, "no memory for the platform");
    }
    for (uint32_t slot = 0; slot < c->slots; slot++)
        for (uint32_t s = 0; s < c->services_count; s++)
            for (uint32_t r = 0; r < c->services[s].replicas; r++, count++) {
                uint32_t host = host_of(c, c->services[s].replica[r]);
                executors[count] = (clo_executor){.kind = s, .machine = host, .memory = host, .os_index = CLO_OS_SLOT};
                for (int k = 0; k < CLO_CLASSES_BUILTIN; k++)
                    executors[count].speed_q16[k] = CLO_SPEED_ONE;
                b->out->replica_of[count] = r;
            }
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    desc.name = "services";
    desc.executors_count = count;
    desc.executors = executors;
    desc.kinds_count = c->services_count;
    desc.kind_names = names;
    desc.machines_count = replicas;
    desc.coherent = 1; /* outputs lie in the driver's process */
    int result = set_links(b, &desc, &latency, &bandwidth);
    if (result == 0 && clo_platform_create(&desc, &b->out->platform) != CLO_OK)
        result = fail_clotho(b);
    free(executors);
    free(latency);
    free(bandwidth);
    return result;
}

/* The body of --local: what the services would answer, one after the other. */
static int answer_here(const clo_call *call)
{
    const method *m = call->argument;
    uint64_t hash = ANSWER_BEGIN;

    void *answer = parcel_answer(call->output);

    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL)
            hash = answer_hash(hash, (const unsigned char *)call->inputs[i] + parcel_size(0),
                               parcel_bytes(call->inputs[i]));
    answer_fill(m->task, call->instance, hash, answer, m->output_bytes);
    for (uint32_t hop = 0; hop < m->hops; hop++) {
        hash = answer_hash(ANSWER_BEGIN, answer, m->output_bytes);
        answer_fill(m->task, call->instance, hash, answer, m->output_bytes);
    }
    parcel_close(call->output, m->output_bytes, m->output_bytes);
    return 0;
}

/* Keeps the executors of methods with an effect to those of their home replica. */
static int stay_home(builder *b, const method *m)
{
    const flow *f = b->out;
    uint32_t count = 0, all = clo_platform_executors(f->platform);
    uint32_t *list = calloc(all, sizeof *list);

    if (list == NULL)
        return fail(b, "no memory for the platform");
    for (uint32_t e = 0; e < all; e++)
        if (clo_platform_executor(f->platform, e)->kind == m->service && f->replica_of[e] == m->home)
            list[count++] = e;
    clo_status status = clo_graph_set_executors(f->graph, m->task, list, count);
    free(list);
    return status == CLO_OK ? 0 : fail_clotho(b);
}

/* The service that is called as the node is; else the first one whose name is a pattern for it. */
static int find_service(const builder *b, const char *node, uint32_t *service)
{
    const flow_config *c = b->config;

    for (uint32_t s = 0; s < c->services_count; s++)
        if (strcmp(c->services[s].name, node) == 0) {
            *service = s;
            return 0;
        }
    for (uint32_t s = 0; s < c->services_count; s++)
        if (fnmatch(c->services[s].name, node, 0) == 0) {
            *service = s;
            return 0;
        }
    snprintf(b->error, b->error_bytes,
             "--services: none is called '%.80s', as a node of the graph is; add it, or '*=ENDPOINT' for all others",
             node);
    return -1;
}

static int add_task(builder *b, uint32_t service, const char *node, const char *part, uint32_t instances)
{
    const flow_config *c = b->config;
    flow *f = b->out;
    method *m = &f->methods[f->methods_count];
    char *name = malloc(strlen(node) + 16);

    if (name == NULL || c->services_count == 0) {
        free(name);
        return fail(b, "no memory for the graph, or no service");
    }
    snprintf(name, strlen(node) + 16, "%s%s%s", part, part[0] != '\0' ? " " : "", node);
    m->name = name;
    m->task = f->methods_count++;
    m->service = service;
    m->effect = hash_name(name) / 16 % 100 < c->effect_percent ? c->effect : EFFECT_NONE;
    m->home = (uint32_t)(hash_name(name) / 4096 % c->services[m->service].replicas);
    m->work_us = c->work_us;
    m->hops = c->hops;
    m->output_bytes = c->output_bytes;
    m->instances = instances;
    m->first = f->instances;
    m->arrivals_us = f->arrivals_us;
    f->instances += instances;
    clo_task task = {.name = name,
                     .argument = m,
                     .output_bytes = parcel_size(c->output_bytes),
                     .instances = instances,
                     .duplicable = m->effect == EFFECT_NONE,
                     .may_pend = !c->is_local};
    int64_t work_ns = (int64_t)(c->work_us * (c->hops + 1) * 1000);
    if (clo_graph_add_task(f->graph, &task, NULL) != CLO_OK ||
        clo_graph_set_body(f->graph, m->task, b->kinds[m->service], c->is_local ? answer_here : engine_body) !=
            CLO_OK ||
        clo_graph_set_time(f->graph, m->task, b->kinds[m->service], work_ns) != CLO_OK)
        return fail_clotho(b);
    return m->effect != EFFECT_NONE ? stay_home(b, m) : 0;
}

static void add_edge(builder *b, uint32_t from, uint32_t to)
{
    uint64_t bytes = (uint64_t)b->out->methods[from].instances * b->config->output_bytes;

    b->edges[b->edges_count++] = (clo_edge){.from = from, .to = to, .bytes = bytes};
}

/* Can `to` be reached from `from`? `mark` has a byte a task. */
static int reaches(const builder *b, uint32_t from, uint32_t to, unsigned char *mark)
{
    int grows = 1;

    memset(mark, 0, b->tasks);
    mark[from] = 1;
    while (grows) {
        grows = 0;
        for (uint32_t i = 0; i < b->edges_count; i++)
            if (mark[b->edges[i].from] && !mark[b->edges[i].to])
                grows = mark[b->edges[i].to] = 1;
    }
    return mark[to];
}

static int is_edge(const builder *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < b->edges_count; i++)
        if (b->edges[i].from == from && b->edges[i].to == to)
            return 1;
    return 0;
}

/* Callees of one caller one after the other, in the order of the file. */
static void sequence(builder *b, unsigned char *mark)
{
    uint32_t calls = clo_graph_edges(b->calls), nodes = clo_graph_tasks(b->calls);
    clo_edge edge;

    for (uint32_t caller = 0; caller < nodes; caller++) {
        uint32_t last = CLO_NONE;
        for (uint32_t i = 0; i < calls; i++) {
            if (clo_graph_edge(b->calls, i, &edge) != CLO_OK || edge.from != caller)
                continue;
            uint32_t from = 2 * last + 1, to = 2 * edge.to;
            if (last != CLO_NONE && !is_edge(b, from, to)) {
                int makes_circle = reaches(b, to, from, mark);
                b->out->not_sequenced += (uint32_t)makes_circle;
                b->out->sequenced += (uint32_t)!makes_circle;
                if (!makes_circle)
                    add_edge(b, from, to);
            }
            last = edge.to;
        }
    }
}

static int add_calls(builder *b)
{
    uint32_t calls = clo_graph_edges(b->calls), nodes = clo_graph_tasks(b->calls);
    char scratch[16];
    clo_edge edge;
    clo_task task;

    for (uint32_t n = 0; n < nodes; n++) {
        const char *name = clo_graph_task_name(b->calls, n, scratch);
        uint32_t service = 0;
        if (clo_graph_task(b->calls, n, &task) != CLO_OK || find_service(b, name, &service) != 0 ||
            add_task(b, service, name, "before", task.instances) != 0 ||
            add_task(b, service, name, "after", task.instances) != 0)
            return -1;
    }
    for (uint32_t n = 0; n < nodes; n++)
        add_edge(b, 2 * n, 2 * n + 1);
    for (uint32_t i = 0; i < calls; i++) {
        if (clo_graph_edge(b->calls, i, &edge) != CLO_OK)
            return fail_clotho(b);
        add_edge(b, 2 * edge.from, 2 * edge.to);
        add_edge(b, 2 * edge.to + 1, 2 * edge.from + 1);
    }
    if (b->config->order == FLOW_SEQUENCE) {
        unsigned char *mark = malloc(b->tasks);
        if (mark == NULL)
            return fail(b, "no memory for the graph");
        sequence(b, mark);
        free(mark);
    }
    return 0;
}

/* Times between requests are exponential. */
static int draw_arrivals(builder *b)
{
    const flow_config *c = b->config;
    uint64_t random = answer_mix(c->seed);
    double at_us = 0;

    if (c->rate <= 0)
        return 0;
    b->out->arrivals_us = calloc(c->requests, sizeof *b->out->arrivals_us);
    if (b->out->arrivals_us == NULL)
        return fail(b, "no memory for the arrivals");
    for (uint32_t i = 0; i < c->requests; i++) {
        random = answer_mix(random);
        at_us -= log(1 - (double)(random >> 11) / 9007199254740992.0) * 1e6 / c->rate;
        b->out->arrivals_us[i] = (int64_t)at_us;
    }
    return 0;
}

static int build(builder *b)
{
    const flow_config *c = b->config;
    flow *f = b->out;
    uint32_t calls = b->calls != NULL ? clo_graph_edges(b->calls) : 0;

    b->tasks = b->calls != NULL ? 2 * clo_graph_tasks(b->calls) : 1;
    b->edges = calloc((size_t)calls * 3 + b->tasks, sizeof *b->edges);
    f->methods = calloc(b->tasks, sizeof *f->methods);
    if (b->edges == NULL || f->methods == NULL)
        return fail(b, "no memory for the graph");
    if (clo_graph_create(b->calls != NULL ? clo_graph_name(b->calls) : "requests", &f->graph) != CLO_OK)
        return fail_clotho(b);
    for (uint32_t s = 0; s < c->services_count; s++)
        if (clo_graph_kind(f->graph, c->services[s].name, &b->kinds[s]) != CLO_OK)
            return fail_clotho(b);
    if (b->calls == NULL && (draw_arrivals(b) != 0 || add_task(b, 0, "request", "", c->requests) != 0))
        return -1;
    if (b->calls != NULL && add_calls(b) != 0)
        return -1;
    for (uint32_t i = 0; i < b->edges_count; i++)
        f->methods[b->edges[i].to].inputs_max += f->methods[b->edges[i].from].instances;
    if (clo_graph_add_edges(f->graph, b->edges, b->edges_count) != CLO_OK || clo_graph_seal(f->graph) != CLO_OK ||
        clo_cost_create(f->graph, f->platform, &f->cost) != CLO_OK)
        return fail_clotho(b);
    return 0;
}

/* What is left of the workflow behind each task, and the hash of all that the outputs depend on. */
static int finish(builder *b)
{
    const flow_config *c = b->config;
    flow *f = b->out;
    int64_t *ranks = calloc(f->methods_count, sizeof *ranks);

    if (ranks == NULL)
        return fail(b, "no memory for the ranks");
    clo_cost_rank_u(f->cost, ranks);
    f->hash = answer_hash(ANSWER_BEGIN, &c->hops, sizeof c->hops);
    for (uint32_t t = 0; t < f->methods_count; t++) {
        method *m = &f->methods[t];
        uint32_t numbers[6] = {m->instances, m->service,      (uint32_t)m->effect,
                               m->home,      m->output_bytes, c->services[m->service].replicas};
        m->rest_us = (uint64_t)ranks[t] / 1000;
        f->hash = answer_hash(f->hash, m->name, strlen(m->name) + 1);
        f->hash = answer_hash(f->hash, numbers, sizeof numbers);
    }
    f->hash = answer_hash(f->hash, b->edges, b->edges_count * sizeof *b->edges);
    free(ranks);
    return 0;
}

/* The call graph number `pick` of the file. */
static int open_calls(builder *b, clo_document **document)
{
    clo_documents *all = NULL;
    clo_status status = clo_documents_open(b->config->path, NULL, &all);

    if (status == CLO_OK && b->config->pick >= clo_documents_count(all)) {
        snprintf(b->error, b->error_bytes, "--pick: %s has %zu graphs, from 0", b->config->path,
                 clo_documents_count(all));
        clo_documents_close(all);
        return -1;
    }
    for (uint32_t i = 0; status == CLO_OK && i <= b->config->pick; i++) {
        clo_document_destroy(*document);
        *document = NULL;
        status = clo_documents_next(all, document);
    }
    clo_documents_close(all);
    return status == CLO_OK ? 0 : fail_clotho(b);
}

int flow_create(const flow_config *config, flow *out, char *error, size_t error_bytes)
{
    builder b = {.config = config, .out = out, .error = error, .error_bytes = error_bytes};
    clo_document *document = NULL;

    *out = (flow){.hash = 0};
    error[0] = '\0';
    int result = make_platform(&b);
    if (result == 0 && config->path != NULL) {
        result = open_calls(&b, &document);
        b.calls = result == 0 ? clo_document_graph(document) : NULL;
    }
    if (result == 0)
        result = build(&b);
    if (result == 0)
        result = finish(&b);
    free(b.edges);
    clo_document_destroy(document);
    if (result != 0)
        flow_destroy(out);
    return result;
}

void flow_destroy(flow *f)
{
    clo_cost_destroy(f->cost);
    clo_graph_destroy(f->graph);
    clo_platform_destroy(f->platform);
    for (uint32_t t = 0; f->methods != NULL && t < f->methods_count; t++)
        free((char *)(uintptr_t)f->methods[t].name);
    free(f->methods);
    free(f->replica_of);
    free(f->arrivals_us);
    *f = (flow){.hash = 0};
}
