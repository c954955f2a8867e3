/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_SILICON_H
#define TMX_MEASURE_SILICON_H

/* Public measurements of chips, cards, servers and halls beside runs of thermix: what
 * workloads/measured/targets.csv lists, with the bands stated there before the models were made to meet them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/csv.h"
#include "base/err.h"

struct tmx_claims { /* of one task */
    const struct tmx_csv *targets;
    struct tmx_claim_value {
        double ours;
        bool has;
    } * value;          /* [targets->n_row] */
    bool any;           /* false: its data are not installed */
    FILE *points;       /* of the figures, struct tmx_silicon_point; NULL: not wanted */
    struct tmx_err err; /* of the task: the first stays */
};
/* Ours of the target of this id; NAN: its data are not installed. Nothing after an error. */
void tmx_claim(struct tmx_claims *c, const char *id, double ours);

struct tmx_claim_task { /* makes the values of some targets of a part */
    const char *part;
    void (*compute)(struct tmx_claims *c, const void *which);
    const void *which;
};
extern const struct tmx_claim_task tmx_silicon_tasks[]; /* ends with {0} */

struct tmx_silicon_point {
    char figure[24], series[40];
    double x, y;
};
/* Draw them into a folder, a picture a figure that has points. */
TMX_NODISCARD enum tmx_status tmx_silicon_draw(const struct tmx_silicon_point *points, size_t n,
                                               const char *folder, struct tmx_err *err);

#endif
