/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_MODULE_H
#define THERMIX_MODULE_H

/* Policies in a shared object, loaded at run time (`modules` in a configuration, --module, tmx_catalog_load).
 *
 *     static const struct tmx_plugin *const places[] = {&my_place.base, NULL};
 *     const struct tmx_module tmx_module = {
 *         TMX_MODULE_HEAD, .name = "mine", .version = "1", .level = {[TMX_LEVEL_PLACE] = places}};
 *
 *     cc -shared -fPIC -std=c17 $(pkg-config --cflags thermix) my_policy.c -o my_policy.so
 *
 * The object imports nothing of libthermix. It stays loaded while the process lives. A module is code: the
 * checks guard against mistakes, not against malice. */

#include <thermix/error.h>
#include <thermix/policy.h>
#include <thermix/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TMX_MODULE_MAGIC 0x544d584du /* "MXMT" in memory, least byte first */

/* Every struct that crosses the border. */
/* clang-format off */
#define TMX_MODULE_STRUCTS(X)                                                                       \
    X(tmx_opt) X(tmx_plugin) X(tmx_view) X(tmx_node_view) X(tmx_gpu_view) X(tmx_job_view)           \
    X(tmx_gpu_request) X(tmx_request) X(tmx_place) X(tmx_place_policy) X(tmx_spread)                \
    X(tmx_mix_policy) X(tmx_dtm_policy) X(tmx_tb_policy) X(tmx_fan_point) X(tmx_fan_view)           \
    X(tmx_fan_policy) X(tmx_cta_core) X(tmx_cta_view) X(tmx_cta_request) X(tmx_cta_policy)          \
    X(tmx_gate_policy) X(tmx_instance_view) X(tmx_route_view) X(tmx_route) X(tmx_route_policy)      \
    X(tmx_row_view) X(tmx_row_policy)
/* clang-format on */

enum {
#define TMX_MODULE_COUNT(s) TMX_MODULE_SIZE_##s,
    TMX_MODULE_STRUCTS(TMX_MODULE_COUNT)
#undef TMX_MODULE_COUNT
        TMX_MODULE_SIZES,
};

struct tmx_module {
    uint32_t magic, abi, bytes, n_size;
    uint32_t size[TMX_MODULE_SIZES]; /* sizeof of TMX_MODULE_STRUCTS */
    const char *name, *version;
    /* NULL-terminated lists of tables by enum tmx_level; NULL: none of this level. Empty: job.
     * Gating policies have no options. */
    const struct tmx_plugin *const *level[TMX_N_LEVEL];
};

#define TMX_MODULE_SIZEOF(s) (uint32_t)sizeof(struct s),
#define TMX_MODULE_HEAD                                                                      \
    .magic = TMX_MODULE_MAGIC, .abi = TMX_ABI, .bytes = (uint32_t)sizeof(struct tmx_module), \
    .n_size = TMX_MODULE_SIZES, .size = {TMX_MODULE_STRUCTS(TMX_MODULE_SIZEOF)}

extern const struct tmx_module tmx_module TMX_API; /* the one symbol a module defines */

#ifdef __cplusplus
}
#endif
#endif
