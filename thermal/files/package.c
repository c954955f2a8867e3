/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sink and fan, after HotSpot's package model (docs/models.md gives the equations in full).
 *
 * Air at room temperature: density rho, conductivity ka, dynamic viscosity mu, kinematic
 * viscosity nu, Prandtl number Pr. A sink side S, N fins or pins, total wetted area A:
 *   fan           V' = A_fan sqrt(0.25 pi rbar^3 omega / A_fan)
 *   forced        Nu(Re, Pr) by flow and fins, hc = Nu ka / length, R = 1 / (hc A_effective)
 *   still air     Nu(Ra), in parallel with radiation of emissivity 0.95
 * The constants, 3.1416 for pi among them, are HotSpot's so that results agree digit for digit. */
#include "thermal/files/package.h"

#include <math.h>
#include <stddef.h>

static const double RHO = 1.059, KA = 0.028, MU = 2.0e-5, NU_AIR = 1.9e-5, PR = 0.73, PI = 3.1416;
static const double LAMINAR_RE = 3500;

static double fins(const struct tmx_fan_sink *fs)
{
    return ceil((fs->s_sink_m - fs->fin_width_m) / (fs->fin_width_m + fs->channel_width_m) - 0.5);
}

static double pins(const struct tmx_fan_sink *fs)
{
    const double row = (fs->s_sink_m - fs->pin_diam_m) / (fs->pin_diam_m + fs->pin_dist_m);
    return ceil(row * row - 0.5);
}

static double wetted_area_m2(const struct tmx_fan_sink *fs)
{
    const double S = fs->s_sink_m;
    return fs->pins ? S * S + PI * fs->pin_diam_m * fs->pin_height_m * pins(fs)
                    : S * (S + 2 * fins(fs) * fs->fin_height_m);
}

const char *tmx_fan_sink_fault(const struct tmx_fan_sink *fs)
{
    if (!fs->pins && fs->fin_width_m >= fs->s_sink_m) {
        return "fin_width is not below the sink's side";
    }
    if (fs->pins && fs->pin_diam_m >= fs->s_sink_m) {
        return "pin_diam is not below the sink's side";
    }
    if (fs->pins ? pins(fs) < 4 : fins(fs) < 2) {
        return fs->pins ? "fewer than four pins fit on the sink" : "fewer than two fins fit on the sink";
    }
    if (fs->natural) {
        return NULL;
    }
    if (fs->motor_radius_m >= fs->fan_radius_m) {
        return "motor_radius is not below fan_radius";
    }
    if (fs->impinging && pins(fs) * PI * fs->pin_diam_m * fs->pin_diam_m / 4 >= fs->s_sink_m * fs->s_sink_m) {
        return "the pins leave no room for impinging air";
    }
    return NULL;
}

static double flow_m3_per_s(const struct tmx_fan_sink *fs)
{
    const double r_f = fs->fan_radius_m, r_m = fs->motor_radius_m;
    const double delta = sqrt(r_f * r_f - r_m * r_m), rbar = r_m + delta;
    const double area = PI * delta * delta, omega = 0.105 * fs->rpm;
    return area * sqrt(0.25 * PI * pow(rbar, 3) * omega / area);
}

double tmx_fan_forced_k_per_w(const struct tmx_fan_sink *fs)
{
    const double S = fs->s_sink_m, w_c = fs->channel_width_m, flow = flow_m3_per_s(fs);
    if (fs->impinging) { /* HotSpot counts pins here also for plate fins */
        const double v = flow / (S * S - pins(fs) * PI * fs->pin_diam_m * fs->pin_diam_m / 4);
        const double dh = 2 * S / sqrt(PI), Re = RHO * v * dh / MU, A = wetted_area_m2(fs);
        const double Nu = 1.92 * pow(Re, 0.716) * pow(PR, 0.4) * pow(A / (S * S), -0.698);
        return 1 / (Nu * KA / dh * A);
    }
    const double dh = 2 * w_c * S / (w_c + S); /* the channel's also for pins */
    if (fs->pins) {
        const double v = flow / ((sqrt(pins(fs)) - 1) * fs->pin_dist_m * fs->pin_height_m);
        const double Re = RHO * v * dh / MU, q = sqrt(pins(fs)) - 1;
        const double c2 = 0.8 + 0.8333 * sqrt(q) / pow(1 + 0.03 * q * q, 0.25);
        const double Nu = 0.4 + 0.9 * (1.25 * 0.6 * c2 * sqrt(Re) + 0.001 * Re) * pow(PR, 0.33);
        return 1 / (Nu * KA / fs->pin_diam_m * wetted_area_m2(fs));
    }
    const double v = flow / ((fins(fs) - 1) * w_c * fs->fin_height_m);
    const double Re = RHO * v * dh / MU, r = RHO * v * w_c * w_c / (MU * S); /* plates, air along them */
    double hc;
    if (Re <= LAMINAR_RE) {
        const double developed = r * PR / 2;
        const double developing = 0.664 * sqrt(r) * pow(PR, 0.33) * sqrt(1 + 3.65 / sqrt(r));
        hc = pow(pow(developed, -3) + pow(developing, -3), -0.33) * KA / w_c;
    } else {
        const double f = pow(0.79 * log(Re) - 1.64, -2);
        hc = f * Re * pow(PR, 0.33) / 8 * KA / dh;
    }
    /* HotSpot takes the side S where the fin's height is meant; the height acts through v alone. */
    const double m = sqrt(2 * hc / (fs->k_sink * fs->fin_width_m)), eta = tanh(m * S) / (m * S);
    return 1 / (hc * (w_c + 2 * eta * S) * fins(fs) * S);
}

double tmx_fan_natural_k_per_w(const struct tmx_fan_sink *fs, double sink_k, double ambient_k)
{
    static const double GRAVITY = 9.8, EXPANSION = 3.0e-3, EMISSIVITY = 0.95, STEFAN_BOLTZMANN = 5.67e-8;
    const double rise = sink_k - ambient_k, A = wetted_area_m2(fs);
    const double w = fs->pins ? fs->pin_dist_m : fs->channel_width_m;
    const double Ra = GRAVITY * EXPANSION * rise * pow(w, 3) * PR / (NU_AIR * NU_AIR);
    const double X = Ra * w / fs->s_sink_m;
    const double Nu = pow(576 / (X * X) + 2.873 / sqrt(X), -0.5);
    const double convection = 1 / (Nu * KA / w * A);
    const double radiation =
        rise / (EMISSIVITY * STEFAN_BOLTZMANN * (pow(sink_k, 4) - pow(ambient_k, 4)) * A);
    return convection * radiation / (convection + radiation);
}

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

static const double LAMINAR = 2300, TURBULENT = 4000;

static double channels(const struct tmx_cold_plate *p)
{
    return floor((p->side_m - p->wall_m) / (p->channel_width_m + p->wall_m) + 1e-9);
}

const char *tmx_cold_plate_fault(const struct tmx_cold_plate *p)
{
    return channels(p) < 1 ? "no channel of that width fits on the sink's side" : NULL;
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
    const double a = fmin(w, h) / fmax(w, h), part = (Re - LAMINAR) / (TURBULENT - LAMINAR);
    const double slow =
        8.235 * (1 + a * (-2.0421 + a * (3.0853 + a * (-2.4765 + a * (1.0578 - a * 0.1861)))));
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
                      double speed, double *rpm, double *r_convec_k_per_w, double *flow_m3_per_s)
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
        flow_m3_per_s[l] = card->still_flow_m3_per_s / (double)card->n_gpu + full_flow * rpm[l] / fastest;
        r_convec_k_per_w[l] = tmx_fan_convection_k_per_w(card, sink, rpm[l], flow_m3_per_s[l]);
    }
    return n;
}
