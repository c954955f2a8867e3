/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_EXPORT_H
#define TMX_PLOTS_EXPORT_H

/* A run or a chip as one file for other programs.
 *
 * A run's folder as a file of other viewers: X.json, a trace of events that Perfetto and Chrome
 * (chrome://tracing) open; X.vtk, the units at one moment, for ParaView. */

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/table.h"
#include "core/floorplan/chip.h"
#include "core/floorplan/floorplan.h"

struct tmx_export {
    const char *run, *out;
    double at_s; /* VTK: the recorded moment next to this; NAN: when the hottest unit was hottest */
    long gpu;    /* -1: all */
};

/* TMX_ECONFIG for another ending, a GPU that the run has not, or a run without what the file needs. */
TMX_NODISCARD enum tmx_status tmx_export(const struct tmx_export *e, struct tmx_err *err);

/* ---- a film ---- */

struct tmx_animation {
    const char *run, *out; /* folder of a run with temps.ttrace; name of the film, .mp4 or .gif */
    size_t n_frame, per_s; /* at most so many pictures; a second */
    bool keep;             /* the pictures */
};

/* Draws the pictures into <out>.frames, several at a time, joins them and removes them; says on `said` what
 * was made. Needs gnuplot and ffmpeg: TMX_EUNSUPPORTED without them. */
TMX_NODISCARD enum tmx_status tmx_animation(const struct tmx_animation *a, FILE *said, struct tmx_err *err);

/* ---- drawings of a chip ---- */

/* A drawing of the units with their names, a colour a kind and a millimetre scale: X.svg, or by gnuplot X.png
 * or X.pdf. */
TMX_NODISCARD enum tmx_status tmx_floorplan_draw(const struct tmx_floorplan *fp, const char *path,
                                                 struct tmx_err *err);

/* The maps of a table of `thermix budget --map`: a small die for each row with the SMs that work, over their
 * number and what each may draw (column `watts`). */
TMX_NODISCARD enum tmx_status tmx_budget_save_svg(const struct tmx_chip *c, const struct tmx_table *t,
                                                  const char *watts, const char *path, struct tmx_err *err);

#endif
