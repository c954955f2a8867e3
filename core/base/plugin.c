/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/plugin.h"

#include <stdlib.h>

enum tmx_status tmx_plugin_state(const struct tmx_plugin *p, const struct tmx_setting *group,
                                 const char *const *also, void **state, struct tmx_err *err)
{
    static const struct tmx_opt none[] = {{0}};
    void *s = calloc(1, p->state_size ? p->state_size : 1);
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "%s: state of %zu bytes", p->name, p->state_size);
    }
    const enum tmx_status st = tmx_opt_read(p->opts ? p->opts : none, s, group, also, err);
    if (st) {
        free(s);
        return st;
    }
    *state = s;
    return TMX_OK;
}
