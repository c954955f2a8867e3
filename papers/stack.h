/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_STACK_H
#define TMX_PAPERS_STACK_H

#include "core/base/table.h"

/* The rows of the paper.csv of each folder under one another, after a column that names the folder; what one
 * has and another lacks is empty there. The caller destroys *t. Errors: of reading them. */
TMX_NODISCARD enum tmx_status tmx_paper_stack(const char *const *dir, size_t n_dir, struct tmx_table **t,
                                              struct tmx_err *err);

#endif
