/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLAN_LEDGER_H
#define TMX_PLAN_LEDGER_H

/* The bound and the losses (plan/judge.h) of many runs, for their tables. */

#include "study/study.h"

/* Runs of one GPU that works all the time; others have no bound. */
extern const struct tmx_watch tmx_ledger;

#endif
