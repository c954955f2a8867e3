/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_REPRODUCE_H
#define TMX_PAPERS_REPRODUCE_H

#include <stdio.h>

#include "base/err.h"
#include "base/table.h"

/* The report of papers against ours as Markdown: one section a folder that `thermix table SUITE -o` wrote,
 * with the notes of <notes>/<suite>.md where there are any. */
TMX_NODISCARD enum tmx_status tmx_reproduce(const char *const *dir, size_t n_dir, const char *notes,
                                            FILE *out, struct tmx_err *err);

/* The rows of the paper.csv of each folder under one another, after a column that names the folder; what one
 * has and another lacks is empty there. The caller destroys *t. Errors: of reading them. */
TMX_NODISCARD enum tmx_status tmx_paper_stack(const char *const *dir, size_t n_dir, struct tmx_table **t,
                                              struct tmx_err *err);

#endif
