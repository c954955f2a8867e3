/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_SILICON_H
#define TMX_MEASURE_SILICON_H

/* Public measurements of chips, cards, servers and halls beside runs of thermix: what
 * workloads/measured/targets.csv lists, with the bands stated there before the models were made to meet them.
 */

#include "core/base/err.h"
#include "core/base/table.h"

/* A row of validate's table: something measured beside ours. */
struct tmx_claim {
    const char *part, *what, *trained_on, *source, *quantity, *unit; /* NULL: "" */
    /* How ours came about: fitted, watched, derived, unseen, identity, as papers' values have it
     * (docs/formats.md). All but the last two have seen the measured value. */
    const char *origin;
    const char *protocol;       /* of a calibration: favourable, held out */
    const char *known;          /* why it is out of its band; NULL or "": not known */
    double measured, ours, bar; /* measured 0: ours is an error; ours NAN: its data are not installed */
};
TMX_NODISCARD enum tmx_status tmx_claims_create(struct tmx_table **t, struct tmx_err *err);
/* Its columns are the members, seen ("seen", "unseen", ""), and holds ("yes", "no", "not installed"). */
void tmx_claim_put(struct tmx_table *t, const struct tmx_claim *c);

struct tmx_silicon_results;
struct tmx_silicon_task { /* makes the values of some targets of a part */
    const char *part;
    enum tmx_status (*compute)(struct tmx_silicon_results *r, const void *which, struct tmx_err *err);
    const void *which;
};
extern const struct tmx_silicon_task tmx_silicon_tasks[]; /* ends with {0} */

/* A row of validate's table a target of the task; points (NULL: not wanted) is filled with what the figures
 * show. */
TMX_NODISCARD enum tmx_status tmx_silicon(const struct tmx_silicon_task *task, struct tmx_table *t,
                                          struct tmx_table *points, struct tmx_err *err);

/* Draw them into a folder, a picture a figure that has points. */
TMX_NODISCARD enum tmx_status tmx_silicon_draw(const struct tmx_table *points, const char *folder,
                                               struct tmx_err *err);

/* figure, series, x, y: of every figure the points of its series. */
TMX_NODISCARD enum tmx_status tmx_silicon_points(struct tmx_table **points, struct tmx_err *err);

#endif
