#ifndef TMX_CORE_BASE_PLUGIN_H
#define TMX_CORE_BASE_PLUGIN_H

#include "core/base/opt.h"

/* The head every selectable component shares: policies, thermal back-ends, power models. */
struct tmx_plugin {
    const char *name;           /* value used in configuration files */
    const char *doc;            /* one sentence, printed by `thermix list` */
    const char *source;         /* paper and section that defines it */
    const struct tmx_opt *opts; /* {0}-terminated schema of the state struct; NULL: no options */
    size_t state_size;          /* bytes; the state is zeroed, then opts are read into it */
};

/* Allocate a zeroed state and read its options from group (NULL: all defaults).
 * Keys in also are left to the caller. The caller frees *state with free().
 * Returns TMX_OK, TMX_ENOMEM or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_plugin_state(const struct tmx_plugin *p, const struct tmx_setting *group,
                                               const char *const *also, void **state, struct tmx_err *err);

#endif
