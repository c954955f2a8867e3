/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_PACKAGE_H
#define TMX_THERMAL_FILES_PACKAGE_H

/* Convection resistance of a finned sink under a fan, or in still air. Equations and air
 * constants as HotSpot's package model, see package.c and docs/models.md. */

#include <stdbool.h>

#include "thermal/files/cold_plate.h"

struct tmx_fan_sink {
    bool natural;    /* still air and radiation, else a fan */
    bool impinging;  /* air blows onto the base, else along it */
    bool pins;       /* pin fins, else plate fins */
    double s_sink_m; /* side of the base */
    double k_sink;   /* W/(m K) */
    double fin_height_m, fin_width_m, channel_width_m;
    double pin_height_m, pin_diam_m, pin_dist_m;
    double fan_radius_m, motor_radius_m;
    double rpm;
    bool liquid; /* a cold plate in place of all that: */
    struct tmx_cold_plate plate;
};

/* NULL when the geometry makes sense, else what is wrong with it, for a message. */
const char *tmx_fan_sink_fault(const struct tmx_fan_sink *fs);

/* r_convec [K/W] of the fan; natural must be false. */
double tmx_fan_forced_k_per_w(const struct tmx_fan_sink *fs);

/* r_convec [K/W] in still air for a mean sink temperature sink_k above ambient_k [K]. */
double tmx_fan_natural_k_per_w(const struct tmx_fan_sink *fs, double sink_k, double ambient_k);

#endif
