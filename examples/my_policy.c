/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy of your own, in a file of its own: a kernel goes to the coldest GPU, unless that one already has
 * more work waiting than the patience allows.
 *
 *     cc -shared -fPIC -std=c17 $(pkg-config --cflags thermix) my_policy.c -o my_policy.so
 *     thermix run gtx280x2 --module ./my_policy.so --set place.policy=patient --set place.patience=2
 */
#include <thermix/module.h>

struct patient {
    int patience;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_INT(patient, patience, "1", 0, TMX_KQUEUE, 4, "kernels that may wait at the coldest GPU"),
    {0},
};

static void place(const void *state, const struct tmx_view *view, size_t job, struct tmx_place *at)
{
    const struct patient *p = state;
    const struct tmx_node_view *node = view->node;
    size_t coldest = 0, shortest = 0;
    (void)job;
    for (size_t g = 1; g < node->n_gpu; g++) {
        coldest = view->hottest_k[g] < view->hottest_k[coldest] ? g : coldest;
        shortest = node->gpus[g]->n_queue < node->gpus[shortest]->n_queue ? g : shortest;
    }
    const bool waits = node->gpus[coldest]->n_queue <= (size_t)p->patience;
    *at = (struct tmx_place){.home = waits ? coldest : shortest, .n = 1};
}

static const struct tmx_place_policy patient = {
    .base = {.name = "patient",
             .doc = "The coldest GPU while its queue is short, else the shortest queue.",
             .source = "example of this manual",
             .opts = opts,
             .state_size = sizeof(struct patient)},
    .place = place,
};

static const struct tmx_plugin *const places[] = {&patient.base, NULL};

const struct tmx_module tmx_module = {
    TMX_MODULE_HEAD,
    .name = "my_policy",
    .version = "1",
    .level = {[TMX_LEVEL_PLACE] = places},
};
