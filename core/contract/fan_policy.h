#ifndef TMX_CORE_CONTRACT_FAN_POLICY_H
#define TMX_CORE_CONTRACT_FAN_POLICY_H

/* How fast do the fans turn? Asked for one fan at a time; the core clamps the answer to the fan's
 * range, stops it at 0, and knows which fans have failed. */

#include "core/base/plugin.h"
#include "core/contract/view.h"
#include "core/machine/topology.h"

enum { TMX_FAN_MEMORY = 2 };

struct tmx_fan_view {
    const struct tmx_view *view;
    const struct tmx_fan *fan;
    double hottest_c; /* sensor of the hottest GPU on the fan's card */
    double speed;     /* now, of max_rpm */
    double dt_s;      /* since the last call; 0 at the first */
    double *memory;   /* [TMX_FAN_MEMORY] this fan's own, zero at the first call */
};

struct tmx_fan_policy {
    struct tmx_plugin base; /* the state is plain data and constant */
    /* REQUIRED. Wanted speed, 0 (off) to 1 (max_rpm). */
    double (*speed)(const void *state, const struct tmx_fan_view *view);
    /* OPTIONAL. The one speed it ever asks for; absent: it varies. */
    double (*constant)(const void *state);
    bool needs_curve; /* every fan must have a curve */
};

#endif
