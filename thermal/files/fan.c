/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/files/fan.h"

#include <math.h>

double tmx_fan_convection_k_per_w(const struct tmx_card *card, const struct tmx_fan_sink *sink, double rpm,
                                  double flow_m3_per_s)
{
    if (rpm <= 0) {
        return card->still_k_per_w;
    }
    double r = card->fit_a_k_per_w + card->fit_b_k_per_w * pow(rpm, -card->fit_exponent);
    if (card->convection == TMX_CONVECTION_PACKAGE) {
        struct tmx_fan_sink turning = *sink;
        turning.natural = false;
        turning.rpm = rpm;
        r = tmx_fan_forced_k_per_w(&turning);
    }
    if (card->convection == TMX_CONVECTION_PLATE) {
        r = tmx_cold_plate_k_per_w(&sink->plate, flow_m3_per_s);
    }
    return fmin(r, card->still_k_per_w);
}

size_t tmx_fan_levels(const struct tmx_card *card, const struct tmx_fan *fan, const struct tmx_fan_sink *sink,
                      double speed, double *rpm, double *r_convec_k_per_w)
{
    double slowest = fan->min_rpm, fastest = 0, full_flow = 0;
    size_t n = 1;
    rpm[0] = 0;
    for (size_t f = 0; f < card->n_fan; f++) {
        slowest = fmin(slowest, fan[f].min_rpm);
        fastest += fan[f].max_rpm / (double)card->n_fan;
        full_flow += fan[f].flow_m3_per_s / (double)card->n_gpu;
        const double turning = fmin(fmax(speed * fan[f].max_rpm, fan[f].min_rpm), fan[f].max_rpm);
        rpm[0] += speed > 0 ? turning / (double)card->n_fan : 0;
    }
    if (speed < 0) { /* one fan of several may turn alone */
        n = (size_t)card->levels;
        slowest = fmax(slowest / (double)card->n_fan, fastest / 100);
        for (size_t l = 1; l < n; l++) {
            rpm[l] = fastest * pow(slowest / fastest, (double)(n - 1 - l) / fmax(1, (double)(n - 2)));
        }
    }
    for (size_t l = 0; l < n; l++) {
        r_convec_k_per_w[l] = tmx_fan_convection_k_per_w(card, sink, rpm[l],
                                                         card->still_flow_m3_per_s / (double)card->n_gpu +
                                                             full_flow * rpm[l] / fastest);
    }
    return n;
}
