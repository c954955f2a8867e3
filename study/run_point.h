/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_RUN_POINT_H
#define TMX_STUDY_RUN_POINT_H

#include "study/study.h"

/* A point of a study is one run of the simulator. */
extern const struct tmx_runner tmx_run_point;

#endif
