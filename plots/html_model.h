/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_HTML_MODEL_H
#define TMX_PLOTS_HTML_MODEL_H

/* The thermal model of a run's GPU 0 as data of a page, which steps it (report/what_if.js). */

#include <jansson.h>

#include "plots/history.h"

/* Append the model of the run in dir to models, unless one of the same files is there; *which: its index.
 * h: the run's GPU 0, with frames. Shape: docs/formats.md, Report. Errors: those of reading the folder's
 * files and of the reduced model; models is unchanged then, and a page can do without. */
TMX_NODISCARD enum tmx_status tmx_page_model(json_t *models, const char *dir, const struct tmx_history *h,
                                             size_t *which, struct tmx_err *err);

#endif
