/* SPDX-License-Identifier: GPL-3.0-or-later */
/* N channels of width w, height h and length S, walls of thickness t between them, hydraulic diameter
 * d = 2 w h / (w + h), flow V', speed v = V' / (N w h), Re = v d / nu, Pr = nu p / k:
 *   Re <= 2300   Nu = 8.235 (1 - 2.0421 a + 3.0853 a^2 - 2.4765 a^3 + 1.0578 a^4 - 0.1861 a^5), a = w/h or
 * h/w <= 1: developed flow, constant heat flux (Shah and London, "Laminar flow forced convection in ducts",
 *                1978); entrance effects, which cool better, are left out
 *   Re >= 4000   Nu = (f/8) (Re - 1000) Pr / (1 + 12.7 sqrt(f/8) (Pr^(2/3) - 1)), f = (0.79 ln Re - 1.64)^-2
 *                (Gnielinski 1976); between the two along the line that joins them
 *   walls are fins: eta = tanh(m h) / (m h), m = sqrt(2 H / (k_plate t)), H = Nu k / d
 *   film 1 / (H N S (w + 2 eta h)); the coolant leaves P / (p V') warmer, so its mean is half of that above
 * its inlet. */
#include "thermal/files/cold_plate.h"

#include <math.h>
#include <stddef.h>

static const double LAMINAR = 2300, TURBULENT = 4000;

static double channels(const struct tmx_cold_plate *p)
{
    return floor((p->side_m - p->wall_m) / (p->channel_width_m + p->wall_m) + 1e-9);
}

const char *tmx_cold_plate_fault(const struct tmx_cold_plate *p)
{
    return channels(p) < 1 ? "no channel of that width fits on the sink's side" : NULL;
}

static double laminar(double a)
{
    return 8.235 * (1 + a * (-2.0421 + a * (3.0853 + a * (-2.4765 + a * (1.0578 - a * 0.1861)))));
}

static double turbulent(double Re, double Pr)
{
    const double f = pow(0.79 * log(Re) - 1.64, -2);
    return f / 8 * (Re - 1000) * Pr / (1 + 12.7 * sqrt(f / 8) * (pow(Pr, 2.0 / 3) - 1));
}

double tmx_cold_plate_film_k_per_w(const struct tmx_cold_plate *p, double flow_m3_per_s)
{
    const double w = p->channel_width_m, h = p->channel_height_m, N = channels(p), d = 2 * w * h / (w + h);
    const double Re = flow_m3_per_s / (N * w * h) * d / p->coolant_nu_m2_per_s;
    const double Pr = p->coolant_nu_m2_per_s * p->coolant_p_j_per_m3k / p->coolant_k_w_per_mk;
    const double slow = laminar(fmin(w, h) / fmax(w, h)), part = (Re - LAMINAR) / (TURBULENT - LAMINAR);
    const double Nu = Re <= LAMINAR     ? slow
                      : Re >= TURBULENT ? turbulent(Re, Pr)
                                        : slow + part * (turbulent(TURBULENT, Pr) - slow);
    const double H = Nu * p->coolant_k_w_per_mk / d, mh = sqrt(2 * H / (p->k_w_per_mk * p->wall_m)) * h;
    return 1 / (H * N * p->side_m * (w + 2 * h * tanh(mh) / mh));
}

double tmx_cold_plate_k_per_w(const struct tmx_cold_plate *p, double flow_m3_per_s)
{
    return tmx_cold_plate_film_k_per_w(p, flow_m3_per_s) + 1 / (2 * p->coolant_p_j_per_m3k * flow_m3_per_s);
}
