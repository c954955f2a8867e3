#ifndef TMX_CORE_CONTRACT_TB_POLICY_H
#define TMX_CORE_CONTRACT_TB_POLICY_H

/* Hardware: which SM takes the next block? It matters where a kernel does not fill the chip. */

#include "core/base/plugin.h"
#include "core/contract/view.h"

struct tmx_tb_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* REQUIRED. Write the GPU's n_sm SM indices to order, the first to take blocks first. */
    void (*order)(const void *state, const struct tmx_view *view, size_t gpu, size_t *order);
};

#endif
