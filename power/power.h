/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_POWER_H
#define TMX_POWER_POWER_H

#include "core/contract/power_model.h"

/* Every power model, by table and by head; the first is the default. */
extern const struct tmx_power_ops *const tmx_power_models[]; /* NULL-terminated */
extern const struct tmx_plugin *const tmx_power_heads[];

/* Where the watts of one chip go; arrays of its units. */
struct tmx_power_shares {
    double *leakage_w, *baseline_w; /* of leakage_w and baseline_w */
    double *area, *uncore;          /* shares of the SMs' area, of the other area */
    double *l2, *dram;              /* shares of the kernels' watts there */
};
void tmx_power_share_out(const struct tmx_chip *c, double leakage_w, double baseline_w,
                         const struct tmx_power_shares *s);

#endif
