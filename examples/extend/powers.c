/* SPDX-License-Identifier: GPL-3.0-or-later */
/* papers/powers.c: a suite whose table is what some kernels draw. */
#include "base/config.h"
#include "core/workload/kernel.h"
#include "papers/suite.h"

enum tmx_status tmx_suite_powers(const struct tmx_suite_call *call, struct tmx_err *err)
{
    const struct tmx_setting *list;
    struct tmx_table *t = tmx_table_of("kernel sm_power_w:1");
    enum tmx_status st = tmx_setting_texts(call->root, "kernels", 1, 64, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        struct tmx_kernel k = {0};
        char path[TMX_PATH_SIZE];
        st = tmx_data_find(TMX_DATA_KERNEL, tmx_setting_text(tmx_setting_at(list, i)), path, err);
        st = st ? st : tmx_kernel_load(&k, path, err);
        if (!st) {
            tmx_table_row(t, "%s %g", k.name, k.power.sm_power_w);
        }
    }
    st = st || call->check
             ? st
             : tmx_suite_write(call, t, NULL, NULL, err); /* the paper's values replace the NULL */
    tmx_table_destroy(t);
    return st;
}
