/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_ANIMATION_H
#define TMX_PLOTS_ANIMATION_H

#include <stddef.h>
#include <stdio.h>

#include "core/base/err.h"

struct tmx_animation {
    const char *run, *out; /* folder of a run with temps.ttrace; name of the film, .mp4 or .gif */
    size_t n_frame, per_s; /* at most so many pictures; a second */
};

/* Draws the pictures into <out>.frames, several at a time, and joins them; says on `said` what was made.
 * Needs gnuplot and ffmpeg: TMX_EUNSUPPORTED without them. */
TMX_NODISCARD enum tmx_status tmx_animation(const struct tmx_animation *a, FILE *said, struct tmx_err *err);

#endif
