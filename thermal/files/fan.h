/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_FAN_H
#define TMX_THERMAL_FILES_FAN_H

/* Fan speed -> convection of a card's sinks, tabulated: one thermal model serves all speeds. */

#include "core/topology/topology.h"
#include "thermal/files/package.h"

/* r_convec [K/W] of a sink of the card at a mean fan speed: the card's fit a + b rpm^-0.8 (flow ~ rpm,
 * Nu ~ Re^0.8) or the package model of `sink`, or its cold plate at flow_m3_per_s, never above that of still
 * air; rpm 0: still air. */
double tmx_fan_convection_k_per_w(const struct tmx_card *card, const struct tmx_fan_sink *sink, double rpm,
                                  double flow_m3_per_s);

/* Fill rpm[] and r_convec_k_per_w[] (room for TMX_MAX_FAN_LEVELS) and return how many: 0 rpm and, in
 * equal ratios, from the slowest to full speed. speed (of max_rpm) >= 0 says that the fans know only
 * that one: a single level. fan: the card's first. */
size_t tmx_fan_levels(const struct tmx_card *card, const struct tmx_fan *fan, const struct tmx_fan_sink *sink,
                      double speed, double *rpm, double *r_convec_k_per_w);

#endif
