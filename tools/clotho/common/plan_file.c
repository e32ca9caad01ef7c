/* plan_file.c - see plan_file.h. */
#include "clotho/common/plan_file.h"
#include "ninja/text/text.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30 };

/* The file as JSON; NULL: it cannot be read. */
static cJSON *read_file(const char *path)
{
    char *text = NULL;
    size_t bytes;

    if (strcmp(path, "-") == 0 || file_read(path, FILE_BYTES_MAX, &text, &bytes) != 0)
        return NULL;
    cJSON *root = cJSON_Parse(text);
    free(text);
    return root;
}

/* What the file says under `key`, if that is another name than `mine`; else NULL. */
static const char *other_name(const cJSON *root, const char *key, const char *mine)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);

    return cJSON_IsString(item) && strcmp(item->valuestring, mine) != 0 ? item->valuestring : NULL;
}

/* Whether the plan was made with the measured times that are in use; with none, if none are. What is no text has an error
 * of its own. */
static bool has_times_of(const cJSON *root, const input *in)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, "snapshot");
    char mine[17] = "";

    if (in->profile != NULL)
        snprintf(mine, sizeof mine, "%016" PRIx64, in->measured.snapshot);
    if (root == NULL || item == NULL)
        return root == NULL || mine[0] == '\0';
    return !cJSON_IsString(item) || strcmp(item->valuestring, mine) == 0;
}

int plan_file_complain(const char *path, const input *in, clo_status status)
{
    const char *graph = clo_graph_name(clo_document_graph(in->document)), *platform = clo_platform_name(in->platform);
    cJSON *root =
        status == CLO_ERR_FORMAT || status == CLO_ERR_INVALID || status == CLO_ERR_ARGUMENT ? read_file(path) : NULL;
    const char *other_graph = other_name(root, "graph", graph),
               *other_platform = other_name(root, "platform", platform);
    int code;

    if (other_graph != NULL)
        code = complain(path, "is a plan of the graph '%.200s', this is '%.200s'; make one with 'clotho plan --out'",
                        show_name(other_graph), show_name(graph));
    else if (other_platform != NULL)
        code = complain(path, "is a plan for the platform '%.200s', this is '%.200s'; name that one with --platform",
                        show_name(other_platform), show_name(platform));
    else if (!has_times_of(root, in) && in->profile == NULL)
        code = complain(path, "is a plan with measured times, which the graph lacks; name their file with --profile");
    else if (!has_times_of(root, in))
        code = complain(path, "is a plan with other times than those of '%.200s'; make a new one with 'clotho plan'",
                        show_name(in->config->profile));
    else
        code = complain_status(path, status);
    cJSON_Delete(root);
    return code;
}
