#include "rpc/wire/http.h"
#include "base/memory.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX ((size_t)CLO_RPC_BYTES_MAX)
#define URL_BYTES (2 * CLO_RPC_NAME_BYTES)

struct clo_rpc_http {
    CURLM *multi;
    uv_loop_t *loop;
    uv_timer_t timer;
    clo_rpc_http_call *calls;
    int is_closing;
};

struct clo_rpc_http_call {
    clo_rpc_http *owner;
    CURL *easy;
    struct curl_slist *headers;
    clo_rpc_http_answer_fn answer;
    void *argument;
    clo_rpc_http_call *next, **link;
    unsigned char *output;
    size_t output_bytes, output_capacity;
    char error[CURL_ERROR_SIZE];
    char excess[128]; /* why the answer was not taken to its end; empty: it was */
};

typedef struct watch {
    uv_poll_t poll;
    clo_rpc_http *owner;
    curl_socket_t socket;
} watch;

static void finish(clo_rpc_http_call *call)
{
    curl_multi_remove_handle(call->owner->multi, call->easy);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->headers);
    *call->link = call->next;
    if (call->next != NULL)
        call->next->link = call->link;
    clo_free(call->output);
    clo_free(call);
}

static clo_rpc_reply_status meaning(long code)
{
    if (code / 100 == 2)
        return CLO_RPC_REPLY_OK;
    if (code == 429 || code == 503)
        return CLO_RPC_REPLY_EXHAUSTED;
    if (code == 408 || code == 504)
        return CLO_RPC_REPLY_DEADLINE;
    return code / 100 == 5 ? CLO_RPC_REPLY_UNAVAILABLE : CLO_RPC_REPLY_INVALID;
}

static void deliver(clo_rpc_http_call *call, CURLcode result)
{
    clo_rpc_reply r = {.output = call->output, .output_bytes = call->output_bytes};
    clo_rpc_http_answer_fn answer = call->answer;
    void *argument = call->argument;
    unsigned char *output = call->output;
    long code = 0;
    curl_off_t later = 0;

    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &later);
    if (result == CURLE_OPERATION_TIMEDOUT)
        r.status = CLO_RPC_REPLY_DEADLINE;
    else
        r.status = result != CURLE_OK ? CLO_RPC_REPLY_UNAVAILABLE : meaning(code);
    r.pushback_ms = later <= 0                               ? 0
                    : later < CLO_RPC_PUSHBACK_MAX_MS / 1000 ? (int64_t)later * 1000
                                                             : CLO_RPC_PUSHBACK_MAX_MS;
    r.is_unsent = result == CURLE_COULDNT_CONNECT;
    if (call->excess[0] != '\0') {
        r.status = CLO_RPC_REPLY_INVALID;
        snprintf(r.text, sizeof r.text, "%s", call->excess);
    } else if (result != CURLE_OK)
        snprintf(r.text, sizeof r.text, "%.150s", call->error[0] != '\0' ? call->error : curl_easy_strerror(result));
    else if (r.status != CLO_RPC_REPLY_OK)
        snprintf(r.text, sizeof r.text, "HTTP status %ld", code);
    call->output = NULL;
    finish(call);
    answer(argument, &r);
    clo_free(output);
}

static void collect(clo_rpc_http *h)
{
    CURLMsg *message;
    int left = 0;

    while ((message = curl_multi_info_read(h->multi, &left)) != NULL) {
        clo_rpc_http_call *call = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        deliver(call, message->data.result);
    }
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    watch *w = poll->data;
    clo_rpc_http *h = w->owner;
    int what = 0, running = 0;

    if (status < 0)
        what = CURL_CSELECT_ERR;
    if (events & UV_READABLE)
        what |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        what |= CURL_CSELECT_OUT;
    curl_multi_socket_action(h->multi, w->socket, what, &running);
    collect(h);
}

static void on_timer(uv_timer_t *timer)
{
    clo_rpc_http *h = timer->data;
    int running = 0;

    curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect(h);
}

static void free_watch(uv_handle_t *handle)
{
    clo_free(handle->data);
}

static int want_socket(CURL *easy, curl_socket_t socket, int what, void *owner, void *mine)
{
    clo_rpc_http *h = owner;
    watch *w = mine;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w != NULL) {
            uv_poll_stop(&w->poll);
            uv_close((uv_handle_t *)&w->poll, free_watch);
            curl_multi_assign(h->multi, socket, NULL);
        }
        return 0;
    }
    if (w == NULL) {
        w = clo_allocate(1, sizeof *w);
        if (w == NULL || uv_poll_init_socket(h->loop, &w->poll, socket) != 0) {
            clo_free(w);
            return -1;
        }
        w->poll.data = w;
        w->owner = h;
        w->socket = socket;
        curl_multi_assign(h->multi, socket, w);
    }
    int reads = (what & CURL_POLL_IN) != 0 ? UV_READABLE : 0, writes = (what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0;
    uv_poll_start(&w->poll, reads | writes, on_ready);
    return 0;
}

static int want_timer(CURLM *multi, long after_ms, void *owner)
{
    clo_rpc_http *h = owner;

    (void)multi;
    if (h->is_closing || after_ms < 0)
        return uv_timer_stop(&h->timer);
    return uv_timer_start(&h->timer, on_timer, after_ms == 0 ? 1 : (uint64_t)after_ms, 0);
}

clo_rpc_http *clo_rpc_http_create(uv_loop_t *loop)
{
    clo_rpc_http *h = clo_allocate(1, sizeof *h);

    if (h == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || (h->multi = curl_multi_init()) == NULL) {
        clo_free(h);
        return NULL;
    }
    h->loop = loop;
    uv_timer_init(loop, &h->timer);
    h->timer.data = h;
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, want_timer);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    curl_multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 64L); /* more calls wait for one of them */
    return h;
}

static size_t take(char *bytes, size_t size, size_t count, void *argument)
{
    clo_rpc_http_call *call = argument;
    size_t more = size * count, whole = call->output_bytes + more;

    if (whole > OUTPUT_MAX) {
        curl_off_t length = -1;
        curl_easy_getinfo(call->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        snprintf(call->excess, sizeof call->excess, "the answer has %s%zu bytes, and a call can have %zu",
                 length < 0 ? "at least " : "", length < 0 ? whole : (size_t)length, OUTPUT_MAX);
        return 0; /* libcurl ends the call */
    }
    if (whole > call->output_capacity) {
        if (clo_grow((void **)&call->output, &call->output_capacity, whole, 1) != 0)
            return 0;
    }
    memcpy(call->output + call->output_bytes, bytes, more);
    call->output_bytes = whole;
    return more;
}

/* Returns 0, or -1: no memory. */
static int add_header(clo_rpc_http_call *call, const char *line)
{
    struct curl_slist *longer = curl_slist_append(call->headers, line);

    if (longer == NULL)
        return -1;
    call->headers = longer;
    return 0;
}

/* All, or it is not sent: without its key an effect could happen twice. Returns 0, or -1: no memory. */
static int set_headers(clo_rpc_http_call *call, const clo_rpc_frame *head)
{
    char line[96];

    int bad = add_header(call, "Content-Type: application/octet-stream") | add_header(call, "Expect:");
    snprintf(line, sizeof line, "X-Task: %" PRIu32 "/%" PRIu32, head->task, head->instance);
    bad |= add_header(call, line);
    snprintf(line, sizeof line, "X-Attempt: %u", head->attempt);
    bad |= add_header(call, line);
    if (head->left_us != CLO_RPC_FRAME_NO_DEADLINE) {
        snprintf(line, sizeof line, "X-Left-Us: %" PRId64, head->left_us);
        bad |= add_header(call, line);
    }
    if (head->key != 0) {
        snprintf(line, sizeof line, "Idempotency-Key: %016" PRIx64, head->key);
        bad |= add_header(call, line);
    }
    return curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers) == CURLE_OK ? bad : -1;
}

static int set_url(clo_rpc_http_call *call, const char *url, const char *method)
{
    char whole[URL_BYTES];

    snprintf(whole, sizeof whole, "%s%s%s", url, method[0] != '\0' ? "/" : "", method);
    return curl_easy_setopt(call->easy, CURLOPT_URL, whole) == CURLE_OK ? 0 : -1;
}

clo_rpc_http_call *clo_rpc_http_start(clo_rpc_http *h, const char *url, const clo_rpc_frame *head, const clo_rpc_ask *a,
                                      clo_rpc_http_answer_fn answer, void *argument)
{
    clo_rpc_http_call *call = clo_allocate(1, sizeof *call);

    if (call == NULL || (call->easy = curl_easy_init()) == NULL) {
        clo_free(call);
        return NULL;
    }
    call->owner = h;
    call->answer = answer;
    call->argument = argument;
    int bad = set_url(call, url, a->method);
    curl_easy_setopt(call->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(call->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->error);
    curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)a->input_bytes);
    bad |= curl_easy_setopt(call->easy, CURLOPT_COPYPOSTFIELDS, a->input_bytes > 0 ? a->input : "") != CURLE_OK;
    if (head->left_us != CLO_RPC_FRAME_NO_DEADLINE)
        curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)(head->left_us / 1000 + 1));
    bad |= set_headers(call, head);
    call->next = h->calls;
    call->link = &h->calls;
    if (h->calls != NULL)
        h->calls->link = &call->next;
    h->calls = call;
    if (bad != 0 || curl_multi_add_handle(h->multi, call->easy) != CURLM_OK) {
        finish(call);
        return NULL;
    }
    return call;
}

void clo_rpc_http_cancel(clo_rpc_http_call *call)
{
    finish(call);
}

void clo_rpc_http_close(clo_rpc_http *h)
{
    h->is_closing = 1;
    for (clo_rpc_http_call *call = h->calls, *next; call != NULL; call = next) {
        next = call->next;
        finish(call);
    }
    curl_multi_cleanup(h->multi); /* ends the sockets' watches */
    uv_close((uv_handle_t *)&h->timer, NULL);
}

void clo_rpc_http_destroy(clo_rpc_http *h)
{
    if (h != NULL)
        curl_global_cleanup();
    clo_free(h);
}
