/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_LLM_FIT_H
#define TMX_MEASURE_LLM_FIT_H

/* Phases of a language model (core/serve/llm.h) from measured iterations. */

#include "base/table.h"
#include "core/serve/llm.h"

/* Rows of a CSV with the columns prompt_size, batch_size, token_size, prompt_time, token_time [ms],
 * tensor_parallel, optionally hardware and, as shares of the board's power limit, peak_power and
 * average_power. like has what rows do not say: weights, heads, idle watts. *m gets a phase for each chip and
 * degree; `errors` (the caller's) a row for each and each of prompt and token: cells (medians of repeats),
 * the mean and the largest error of the fit, and those of each cell left out of the fit. TMX_EIO, TMX_EPARSE,
 * TMX_ECONFIG with the line. */
TMX_NODISCARD enum tmx_status tmx_llm_fit(const char *rows, const struct tmx_llm *like, struct tmx_llm *m,
                                          struct tmx_table **errors, struct tmx_err *err);

/* A model's file; path NULL: only check that a run would read it. */
TMX_NODISCARD enum tmx_status tmx_llm_write(const struct tmx_llm *m, const char *path, struct tmx_err *err);

#endif
