/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PLOTS_EXPORT_H
#define TMX_PLOTS_EXPORT_H

/* A run's folder as a file of other viewers: X.json, a trace of events that Perfetto and Chrome
 * (chrome://tracing) open; X.vtk, the units at one moment, for ParaView. */

#include "core/base/err.h"

struct tmx_export {
    const char *run, *out;
    double at_s; /* VTK: the recorded moment next to this; NAN: when the hottest unit was hottest */
    long gpu;    /* -1: all */
};

/* TMX_ECONFIG for another ending, a GPU that the run has not, or a run without what the file needs. */
TMX_NODISCARD enum tmx_status tmx_export(const struct tmx_export *e, struct tmx_err *err);

#endif
