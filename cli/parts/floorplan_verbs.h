/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_FLOORPLAN_VERBS_H
#define TMX_CLI_FLOORPLAN_VERBS_H

#include "cli/line/args.h"

struct tmx_floorplan_args {
    struct tmx_texts words; /* the verb, then its files */
    const char *verb, *file, *out, *suite, *policy, *by, *unit, *with, *die;
    int to; /* of convert: enum tmx_floorplan_to */
    double sm_area_mm2, margin_mm;
    long turns, sms, per_tpc, jobs;
    int place, format;
    bool gaps;
};

enum tmx_floorplan_to { TMX_TO_HOTSPOT, TMX_TO_ICE };

extern const char *const tmx_floorplan_verbs[]; /* NULL-terminated */

/* words.text[0] is one of tmx_floorplan_verbs. */
TMX_NODISCARD enum tmx_status tmx_floorplan_do(struct tmx_floorplan_args *a, struct tmx_err *err);

#endif
