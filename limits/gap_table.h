/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_LIMITS_GAP_TABLE_H
#define TMX_LIMITS_GAP_TABLE_H

/* The bound and the losses (limits/gap.h) of many runs, for their tables. */

#include "study/study.h"

/* Runs of one GPU that works all the time; others have no bound. */
extern const struct tmx_probe tmx_gap_probe;

#endif
