/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_PHASES_H
#define TMX_CORE_MACHINE_PHASES_H

/* Power of a kernel that changes while it runs: steps over its work or over time. Steps over the life of a
 * thread block are not among them: blocks of all ages are resident at once, and what they draw together is
 * the mean. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/base/setting.h"

enum { TMX_MAX_PHASE = 256 };
enum tmx_phase_axis {
    TMX_PHASE_WORK, /* share of the kernel's work that is done, 0 .. 1 */
    TMX_PHASE_TIME, /* seconds since its first block */
};

struct tmx_phases {
    size_t n;                      /* 0: constant */
    int over;                      /* enum tmx_phase_axis */
    bool repeat;                   /* over time: begin again after the last; else the last holds */
    double until[TMX_MAX_PHASE];   /* ascending: where a step ends */
    double power_w[TMX_MAX_PHASE]; /* dynamic W of all SMs of the reference chip, as sm_power_w */
    double mean_w;                 /* over the axis */
};

/* Group `phases` of a kernel: `over`, `repeat`, and `list = ( { until; power_w; }, ... )` or `file`, a CSV
 * with the columns until,power_w, relative to the folder of kernel_path. TMX_ECONFIG, TMX_EPARSE, TMX_EIO
 * with the line. */
TMX_NODISCARD enum tmx_status tmx_phases_read(struct tmx_phases *p, const struct tmx_setting *group,
                                              const char *kernel_path, struct tmx_err *err);

/* Power at a place of the axis. n > 0. */
double tmx_phases_at(const struct tmx_phases *p, double x);

#endif
