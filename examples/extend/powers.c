/* SPDX-License-Identifier: GPL-3.0-or-later */
/* papers/powers.c: a suite whose table is what some kernels draw. */
#include "base/config.h"
#include "core/workload/kernel.h"
#include "papers/suite.h"

void tmx_suite_powers(const struct tmx_suite_call *call, struct tmx_err *err)
{
    struct tmx_table *t = tmx_table_of("kernel sm_power_w:1");
    const struct tmx_setting *list = tmx_setting_texts(call->root, "kernels", 1, 64, err);
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        struct tmx_kernel k = {0};
        char path[TMX_PATH_SIZE];
        if (!tmx_data_find(TMX_DATA_KERNEL, tmx_setting_text(tmx_setting_at(list, i)), path, err) &&
            !tmx_kernel_load(&k, path, err)) {
            tmx_table_row(t, "%s %g", k.name, k.power.sm_power_w);
        }
    }
    tmx_suite_write(call, t, NULL, NULL, err); /* the paper's values replace the first NULL */
    tmx_table_destroy(t);
}
