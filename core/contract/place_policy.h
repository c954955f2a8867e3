#ifndef TMX_CORE_CONTRACT_PLACE_POLICY_H
#define TMX_CORE_CONTRACT_PLACE_POLICY_H

/* On which GPUs may a kernel run? */

#include "core/base/plugin.h"
#include "core/contract/view.h"

struct tmx_place { /* GPUs home .. home + n - 1 */
    size_t home;
    size_t n;
};

struct tmx_place_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. Where the arrived, unplaced job goes; called once per job, in arrival order. */
    struct tmx_place (*place)(void *state, const struct tmx_view *view, size_t job);
};

#endif
