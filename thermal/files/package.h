/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_PACKAGE_H
#define TMX_THERMAL_FILES_PACKAGE_H

/* Convection resistance of a sink: fins under a fan or in still air, a liquid-cooled plate, and the table of
 * a card's fan speeds. Equations and sources: package.c, docs/models.md. */

#include <stdbool.h>

#include "core/topology/topology.h"

/* A liquid-cooled plate in place of fins and air: parallel channels of one size along a square base. */

struct tmx_cold_plate {
    double side_m, k_w_per_mk;                        /* of the base and its walls */
    double channel_width_m, channel_height_m, wall_m; /* wall: between two channels */
    double coolant_k_w_per_mk, coolant_p_j_per_m3k, coolant_nu_m2_per_s;
};

/* NULL when the geometry makes sense, else what is wrong with it, for a message. */
const char *tmx_cold_plate_fault(const struct tmx_cold_plate *p);

/* Base to coolant [K/W] at a flow > 0: the film alone, and with the mean rise of the coolant over its inlet.
 */
double tmx_cold_plate_film_k_per_w(const struct tmx_cold_plate *p, double flow_m3_per_s);
double tmx_cold_plate_k_per_w(const struct tmx_cold_plate *p, double flow_m3_per_s);

/* A finned sink under a fan, or in still air; air constants as in HotSpot's package model. */
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

/* Fan speed -> convection of a card's sinks, tabulated: one thermal model serves all speeds. */

/* r_convec [K/W] of a sink of the card at a mean fan speed: the card's fit a + b rpm^-0.8 (flow ~ rpm,
 * Nu ~ Re^0.8) or the package model of `sink`, or its cold plate at flow_m3_per_s, never above that of still
 * air; rpm 0: still air. */
double tmx_fan_convection_k_per_w(const struct tmx_card *card, const struct tmx_fan_sink *sink, double rpm,
                                  double flow_m3_per_s);

/* Fill rpm[], r_convec_k_per_w[] and flow_m3_per_s[] of a GPU (room for TMX_MAX_FAN_LEVELS) and return how
 * many: 0 rpm and, in equal ratios, from the slowest to full speed. speed (of max_rpm) >= 0 says that the
 * fans know only that one: a single level. fan: the card's first. */
size_t tmx_fan_levels(const struct tmx_card *card, const struct tmx_fan *fan, const struct tmx_fan_sink *sink,
                      double speed, double *rpm, double *r_convec_k_per_w, double *flow_m3_per_s);

#endif
