/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_UNITS_H
#define TMX_CORE_BASE_UNITS_H

/* Inside everything is SI; these convert at the edges (files, screens, options in degrees). */

#include <thermix/policy.h> /* TMX_ZERO_C */

#endif
