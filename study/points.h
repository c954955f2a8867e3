/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_POINTS_H
#define TMX_STUDY_POINTS_H

/* What the points of a study are: their runs, their whole configurations, their ids. */

#include "study/study.h"

/* The run of a point, opened, or only described; TMX_POINT_CHECK: and no module is loaded. */
enum tmx_point_open { TMX_POINT_RUN, TMX_POINT_DESCRIBE, TMX_POINT_CHECK };
TMX_NODISCARD enum tmx_status tmx_point_open(const struct tmx_runs *runs, size_t point,
                                             enum tmx_point_open how, struct tmx_run **run,
                                             struct tmx_err *err);

/* The whole configuration of a run, the same text in every folder. The caller frees *text. */
TMX_NODISCARD enum tmx_status tmx_point_text(const struct tmx_run *run, char **text, struct tmx_err *err);

/* Id of a point: hash of its configuration, of what makes it one of its suite, or of its parameters when it
 * has no valid configuration (text NULL). */
TMX_NODISCARD enum tmx_status tmx_point_hash(const struct tmx_study *s, size_t point, const char *text,
                                             char hex[TMX_HASH_HEX], struct tmx_err *err);

/* Fill s->id [n_point], many points in options->n_worker processes. TMX_ECONFIG with the first error when no
 * point has a valid configuration, or a point of a suite has not. */
TMX_NODISCARD enum tmx_status tmx_points_identify(struct tmx_study *s, struct tmx_err *err);

#endif
