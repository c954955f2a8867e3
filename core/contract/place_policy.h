#ifndef TMX_CORE_CONTRACT_PLACE_POLICY_H
#define TMX_CORE_CONTRACT_PLACE_POLICY_H

/* On which GPUs may a kernel run? */

#include "core/base/plugin.h"
#include "core/contract/view.h"

struct tmx_place { /* GPUs home .. home + n - 1; n = 0: none yet */
    size_t home;
    size_t n;
};

struct tmx_place_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. Where the arrived, unplaced job goes; asked in arrival order, at every scheduling tick
     * until a place with room is named. Pure. */
    struct tmx_place (*place)(const void *state, const struct tmx_view *view, size_t job);
    /* OPTIONAL. Where a placed, unfinished job may run from now on: the GPUs it has, or more around
     * them. Asked at every scheduling tick. Pure. */
    struct tmx_place (*widen)(const void *state, const struct tmx_view *view, size_t job);
};

#endif
