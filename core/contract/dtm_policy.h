#ifndef TMX_CORE_CONTRACT_DTM_POLICY_H
#define TMX_CORE_CONTRACT_DTM_POLICY_H

/* What happens when it is too hot. May only lower clocks. */

#include "core/base/plugin.h"
#include "core/contract/view.h"

struct tmx_dtm_policy {
    struct tmx_plugin base; /* the state is plain data: a snapshot copies it */
    /* OPTIONAL. Hardware, at every sensor sample: clock gates in request->gate. */
    void (*guard)(void *state, const struct tmx_view *view, struct tmx_request *request);
    /* OPTIONAL. Firmware, every scheduling tick: raise request->gpu[].level. */
    void (*govern)(void *state, const struct tmx_view *view, struct tmx_request *request);
    /* OPTIONAL. The temperature at which guard stops a clock [K], for reports. */
    double (*trip_k)(const void *state);
};

#endif
