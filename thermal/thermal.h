/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_THERMAL_H
#define TMX_THERMAL_THERMAL_H

#include "thermal/assembly/spec.h"
#include "thermal/backend/backends.h"

/* Every thermal back-end, NULL-terminated; the first is the default. */
extern const struct tmx_thermal_ops *const tmx_thermal_backends[];
extern const struct tmx_plugin *const tmx_thermal_heads[]; /* the same by their heads */
/* "auto", then their names: word i + 1 is back-end i. */
extern const char *const tmx_thermal_auto_or_names[];

/* The back-end of this exact name; NULL when there is none. */
const struct tmx_thermal_ops *tmx_thermal_find(const char *name);

/* The row of its option of this name; NULL: it has none. */
const struct tmx_opt *tmx_thermal_option(const struct tmx_thermal_ops *ops, const char *key);

/* model_create of a back-end for a spec that asks for nothing that it lacks; else TMX_EUNSUPPORTED. */
enum tmx_status tmx_thermal_model_create(const struct tmx_thermal_ops *ops, const void *options,
                                         const struct tmx_thermal_spec *spec, void **model,
                                         struct tmx_err *err);

/* One chip on one back-end: options, model and instance together, for programs that simulate
 * a single chip. (Several chips share a model; see core/contract/thermal_model.h.) */

struct tmx_thermal_instance {
    const struct tmx_thermal_ops *ops;
    const struct tmx_thermal_spec *spec; /* not owned, outlives the chip */
    void *options, *model, *state;       /* owned */
};

/* Set up the back-end of this name for spec. settings: {key, value, ..., NULL} words for the
 * back-end's option rows, may be NULL. *inst is overwritten; end it with tmx_thermal_instance_finish,
 * also after failure. */
enum tmx_status tmx_thermal_instance_create(struct tmx_thermal_instance *inst, const char *backend,
                                            const char *const *settings, const struct tmx_thermal_spec *spec,
                                            struct tmx_err *err);
void tmx_thermal_instance_finish(struct tmx_thermal_instance *inst); /* accepts zeroed memory */

/* All temperatures now: node_k [(n_layer + 2) * rows * cols + 12, K]. TMX_EUNSUPPORTED when
 * the back-end has no grid. */
enum tmx_status tmx_thermal_instance_nodes(const struct tmx_thermal_instance *inst, double *node_k,
                                           struct tmx_err *err);

#endif
