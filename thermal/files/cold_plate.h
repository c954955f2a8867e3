/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_COLD_PLATE_H
#define TMX_THERMAL_FILES_COLD_PLATE_H

/* A liquid-cooled plate in place of fins and air: parallel channels of one size along a square base.
 * Equations and sources: cold_plate.c, docs/models.md. */

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

#endif
