/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_POINTS_H
#define TMX_STUDY_POINTS_H

/* What the points of a study are: their assignments, their whole configurations, their ids. */

#include "study/study.h"

/* A point's assignments: the study's own, then the axes'. */
struct tmx_assignments {
    struct tmx_point point; /* of what follows, owned */
    const char **set;
    unsigned *line;
    char *text;
};
/* End with tmx_assignments_finish, but not after failure. */
TMX_NODISCARD enum tmx_status tmx_assignments_init(struct tmx_assignments *a, const struct tmx_study *s,
                                                   size_t point, struct tmx_err *err);
void tmx_assignments_finish(struct tmx_assignments *a);

struct tmx_config;
/* Its base file with its assignments; the caller closes it. */
TMX_NODISCARD enum tmx_status tmx_point_load(struct tmx_config **c, const struct tmx_point *p,
                                             struct tmx_err *err);

/* Write the whole configuration of a point. */
TMX_NODISCARD enum tmx_status tmx_point_resolve(const struct tmx_study *s, size_t point, FILE *out,
                                                struct tmx_err *err);

/* Fill s->id [n_point], many points in options->n_worker processes. TMX_ECONFIG with the first error when no
 * point has a valid configuration. */
TMX_NODISCARD enum tmx_status tmx_points_identify(struct tmx_study *s, struct tmx_err *err);

#endif
