/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/plausible.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/os.h"
#include "base/text.h"

enum { MAX_OTHER = 5, MAX_LINE = 1024 };

struct other {
    const char *unit;
    double factor, offset; /* SI = factor * value + offset */
};

/* clang-format off */
#define LENGTHS       {{"cm", 1e-2, 0}, {"mm", 1e-3, 0}, {"um", 1e-6, 0}}
#define THIN          {{"mm", 1e-3, 0}, {"um", 1e-6, 0}, {"cm", 1e-2, 0}}
#define CONDUCTIVITY  {{"W/(cm K)", 1e2, 0}, {"W/(mm K)", 1e3, 0}, {"mW/(m K)", 1e-3, 0}}
#define CAPACITY      {{"kJ/(m3 K)", 1e3, 0}, {"J/(cm3 K)", 1e6, 0}}
#define KELVIN        {{"degC", 1, TMX_ZERO_C}, {"degF", 1 / 1.8, TMX_ZERO_C - 32 / 1.8}}
#define CELSIUS       {{"degF", 1 / 1.8, -32 / 1.8}, {"K", 1, -TMX_ZERO_C}}
#define RESISTANCE    {{"mK/W", 1e-3, 0}}
#define SECONDS       {{"ms", 1e-3, 0}, {"us", 1e-6, 0}, {"ns", 1e-9, 0}}
#define LONG_TIMES    {{"ms", 1e-3, 0}, {"min", 60, 0}, {"h", 3600, 0}, {"days", 86400, 0}}
#define WATTS         {{"mW", 1e-3, 0}, {"kW", 1e3, 0}}
#define HERTZ         {{"MHz", 1e6, 0}, {"GHz", 1e9, 0}, {"kHz", 1e3, 0}}
#define AIR           {{"m3/h", 1 / 3600.0, 0}, {"l/s", 1e-3, 0}, {"CFM", 4.719474e-4, 0}}
#define COOLANT       {{"l/min", 1 / 6e4, 0}, {"ml/s", 1e-6, 0}, {"l/s", 1e-3, 0}, {"l/h", 1 / 3.6e6, 0}}
#define LOG_TIMES     {{"days", 86400, 0}, {"ms", 1e-3, 0}, {"us", 1e-6, 0}}
#define FROM_TIMES    {{"J/K from times in ms:", 1e-3, 0}, {"J/K from times in min:", 60, 0}, {"J/K from times in h:", 3600, 0}, \
                       {"J/K from times in days:", 86400, 0}, {"J/K from times in us:", 1e-6, 0}}
#define FROM_WATTS    {{"K/W from amperes of 12 V:", 1 / 12.0, 0}, {"K/W from kW:", 1e-3, 0}, {"K/W from mW:", 1e3, 0}}
/* clang-format on */

/* keys: words, "group.key" for a key of that group alone (it stands before the plain key). The least that an
 * option takes (0: none) is never warned of, nor is the highest of a limit in degC (one that never acts) or
 * of a resistance (insulated): readers pass those bounds by. */
static const struct row {
    const char *keys, *unit;
    double low, high, hard_low, hard_high;
    struct other other[MAX_OTHER];
} rows[] = {
    /* bodies */
    {"s_sink s_spreader", "m", 1e-4, 0.4, 1e-5, 3, LENGTHS}, /* those of a converted stack are its die's */
    {"s_sub s_solder s_pcb", "m", 0.002, 0.6, 5e-4, 3, LENGTHS},
    {"t_chip", "m", 1e-6, 3e-3, 1e-8, 0.03, THIN},
    {"t_interface", "m", 1e-7, 2e-3, 1e-9, 0.015, THIN},
    {"t_metal t_c4", "m", 1e-8, 2e-3, 1e-9, 0.03, THIN},
    {"t_spreader t_sink", "m", 1e-9, 0.06, 0, 0.3, THIN},
    {"t_sub t_solder t_pcb", "m", 1e-6, 0.02, 1e-8, 0.1, THIN},
    {"fin_height pin_height", "m", 5e-4, 0.3, 1e-5, 1, LENGTHS},
    {"fin_width channel_width pin_diam pin_dist", "m", 2e-5, 0.03, 1e-6, 0.3, THIN},
    {"fan_radius motor_radius", "m", 1e-3, 0.5, 1e-4, 1, LENGTHS},
    {"plate_channel_width plate_channel_height plate_wall", "m", 1e-5, 0.02, 1e-6, 0.1, THIN},
    {"thickness", "m", 1e-8, 0.06, 1e-10, 0.3, THIN},
    /* materials */
    {"k_chip k_spreader k_sink", "W/(m K)", 5, 5000, 0.05, 5000, CONDUCTIVITY},
    {"k_interface", "W/(m K)", 0.1, 600, 0.001, 5000, CONDUCTIVITY},
    {"k_filler conductivity", "W/(m K)", 0.015, 4000, 1e-4, 2e4, CONDUCTIVITY},
    {"plate_coolant_k", "W/(m K)", 0.01, 100, 1e-3, 1000, CONDUCTIVITY},
    {"p_chip", "J/(m3 K)", 3e5, 6e6, 1e4, 1e8, CAPACITY},
    {"p_spreader p_sink", "J/(m3 K)", 1e4, 6e6, 1e3, 1e8, CAPACITY},
    {"coolant_capac plate_coolant_p coolant_j_per_m3k",
     "J/(m3 K)",
     500,
     6e6,
     0,
     INFINITY,
     {{"J/(cm3 K)", 1e6, 0}, {"kJ/(m3 K)", 1e3, 0}}},
    {"coolant_visc", "Pa s", 1e-5, 0.3, 0, INFINITY, {{"mPa s", 1e-3, 0}}},
    {"plate_coolant_nu", "m2/s", 5e-8, 5e-4, 0, INFINITY, {{"mm2/s", 1e-6, 0}}},
    {"p_interface p_filler capacity wall_capac", "J/(m3 K)", 500, 6e6, 50, 1e9, CAPACITY},
    /* of a 3D-ICE stack; by sheets and films of thermix' own, which are next to nothing */
    {"conductivity", "W/(um K)", 1.5e-8, 4e-3, 1e-10, 0.02, {{"W/(m K)", 1e-6, 0}, {"W/(cm K)", 1e-4, 0}}},
    {"capacity", "J/(um3 K)", 5e-16, 2e-11, 5e-17, 1e-9, {{"J/(m3 K)", 1e-18, 0}, {"J/(cm3 K)", 1e-12, 0}}},
    {"coefficient", "W/(um2 K)", 1e-15, 1e-5, 0, 0.01, {{"W/(m2 K)", 1e-12, 0}, {"W/(cm2 K)", 1e-8, 0}}},
    {"height", "um", 5e-3, 6e4, 1e-3, 3e5, {{"m", 1e6, 0}, {"mm", 1e3, 0}, {"nm", 1e-3, 0}}},
    {"temperature", "K", 233, 473, 100, 1000, KELVIN},
    {"rate", "ml/min", 1e-3, 1e5, 1e-5, 1e7, {{"l/min", 1e3, 0}, {"m3/s", 6e7, 0}}},
    {"velocity", "um/s", 100, 1e8, 1, 1e10, {{"m/s", 1e6, 0}, {"mm/s", 1e3, 0}}},
    /* cooling */
    {"r_convec r_convec_sec r_below", "K/W", 1e-3, 60, 1e-5, 250, RESISTANCE}, /* on HotSpot's sink */
    {"still_k_per_w fit_a_k_per_w r_k_per_w k_per_w memory_k_per_w", "K/W", 1e-3, 30, 1e-5, 250, RESISTANCE},
    {"c_convec c_convec_sec", "J/K", 1, 2e4, 1e-3, 1e5, {{"mJ/K", 1e-3, 0}, {"kJ/K", 1e3, 0}}},
    {"rpm", "1/min", 100, 6e4, 5, 4e5, {{"1/s", 60, 0}}},
    {"min_rpm max_rpm rpm", "rpm", 100, 6e4, 0, INFINITY, {{"1/s", 60, 0}}},
    {"htc", "W/(m2 K)", 20, 1e6, 0, INFINITY, {{"W/(cm2 K)", 1e4, 0}, {"kW/(m2 K)", 1e3, 0}}},
    {"pumping_pressure", "Pa", 100, 1e7, 0, INFINITY, {{"kPa", 1e3, 0}, {"bar", 1e5, 0}}},
    {"coolant_flow", "m3/s", 1e-10, 0.02, 0, INFINITY, COOLANT},
    {"plate_flow", "m3/s", 1e-7, 0.02, 1e-9, 0.5, COOLANT},
    {"still_flow_m3_per_s", "m3/s", 1e-5, 3, 1e-7, 100, AIR},
    {"flow_m3_per_s", "m3/s", 1e-7, 3, 1e-9, 100, AIR}, /* or of a pump */
    /* temperatures */
    {"ambient", "K", 233, 373, 100, 600, KELVIN},
    {"coolant_inlet inlet_temperature", "K", 233, 373, 0, INFINITY, KELVIN},
    {"coolant_limit", "K", 233, 600, 0, INFINITY, KELVIN},
    {"init_temp thermal_threshold", "K", 233, 473, 100, 1000, KELVIN},
    {"ambient inlet_c ambient_c", "degC", -40, 70, -100, 150, CELSIUS},
    {"trip_c release_c limit_c target_c slowdown_c shutdown_c memory_c", "degC", 20, 150, -50, 275, CELSIUS},
    {"emergency_c", "degC", 20, 200, -50, 275, CELSIUS}, /* of a policy; 200: the trip point acts alone */
    {"temp_c", "degC", -40, 150, -100, 275, CELSIUS},
    {"leakage_ref_c reference_c", "degC", -40, 150, -100, 275, CELSIUS},
    /* power of a trace, on the area that gives it */
    {"mean power", "W/m2", 500, 3e6, 0, 1e12, {{"kW/m2", 1e3, 0}, {"mW/m2", 1e-3, 0}}},
    /* chips */
    {"volt_v", "V", 0.35, 1.4, 0.3, 3, {{"mV", 1e-3, 0}}},
    {"freq_hz nominal_hz core_hz clock_hz max_hz min_hz", "Hz", 2e7, 6e9, 1e6, 1e11, HERTZ},
    {"leakage_w chip_w", "W", 0.1, 600, 0, 1e4, WATTS},
    {"baseline_w", "W", 0.1, 800, 0, 1e4, WATTS},
    {"core_static_w core_clock_w", "W", 5e-3, 30, 0, 1e3, WATTS},
    {"uncore_static_w memory_clock_w", "W", 0.02, 500, 0, 1e4, WATTS},
    {"max_int_w max_fp_w max_sfu_w max_alu_w max_fds_w max_reg_w max_cache_w max_shm_w", "W", 1e-3, 20, 0,
     1e3, WATTS},
    {"power_min_w power_cap_w min_w max_w", "W", 5, 5000, 0, 1e5, WATTS},
    {"budget_w", "W", 300, 1e9, 0, INFINITY, {{"kW", 1e3, 0}, {"MW", 1e6, 0}}},
    {"node_w", "W", 10, 2e5, 0, 1e6, WATTS},
    {"sm_power_w", "W", 0.1, 1000, 0, 1e4, WATTS},
    {"transition_s", "s", 1e-9, 0.02, 0, 1, SECONDS},
    /* times of a run */
    {"quantum_s", "s", 5e-4, 2, 1e-5, 20, SECONDS},
    {"sensor.period_s", "s", 1e-5, 1, 0, 60, SECONDS},
    {"sensor.delay_s", "s", 1e-6, 2, 0, 60, SECONDS},
    {"fan_period_s", "s", 5e-3, 60, 1e-4, 1000, SECONDS},
    {"sampling_intvl interval_s", "s", 1e-9, 5, 1e-13, 1e6, SECONDS},
    {"ttft_s", "s", 1e-3, 300, 0, INFINITY, SECONDS}, /* limits of a served model's requests */
    {"tbt_s", "s", 1e-4, 10, 0, INFINITY, SECONDS},
    {"e2e_s", "s", 1e-3, 3600, 0, INFINITY, SECONDS},
    {"telemetry_s", "s", 0.02, 120, 0, INFINITY, SECONDS},
    /* links */
    {"latency_us", "us", 0.02, 1e4, 0, INFINITY, {{"s", 1e6, 0}, {"ms", 1e3, 0}, {"ns", 1e-3, 0}}},
    {"latency_s", "s", 1e-8, 1, 0, INFINITY, SECONDS},
    {"bandwidth_gb_per_s gb_per_s", "GB/s", 0.05, 2e4, 0, INFINITY, {{"MB/s", 1e-3, 0}}},
    {"copy_bytes_per_s", "B/s", 1e7, 1e13, 0, INFINITY, {{"GB/s", 1e9, 0}, {"MB/s", 1e6, 0}}},
    {"tau_s", "s", 0.1, 1e4, 1e-3, 1e6, LONG_TIMES},
    /* what a log gives and what is fitted to it: never an error, the log is as it is */
    {"step_s", "s", 2e-3, 120, 0, INFINITY, LOG_TIMES},
    /* rows of a language model: an iteration of tokens reads the weights, a prompt computes with them */
    {"token_time", "ms", 1, 1000, 0.2, 1e4, {{"s", 1e3, 0}, {"us", 1e-3, 0}}},
    {"prompt_time", "ms", 2, 3e5, 0.5, 1e7, {{"s", 1e3, 0}, {"us", 1e-3, 0}}},
    {"prompt_size", "tokens", 4, 2e6, 0, INFINITY, {{0}}},
    {"token_size", "tokens", 1, 1e5, 0, INFINITY, {{0}}},
    {"batch_size", "requests", 1, 1024, 0, INFINITY, {{0}}},
    {"peak_power average_power", "of the board's limit", 0.02, 1.2, 0.01, 1.5, {{"%", 1e-2, 0}}},
    {"sink_j_per_k", "J/K", 30, 1e4, 0, INFINITY, FROM_TIMES},
    {"static_k_per_w", "K/W", 5e-3, 1.5, 0, INFINITY, FROM_WATTS},
};
enum { N_ROW = sizeof rows / sizeof rows[0] };

static _Thread_local struct tmx_warn_listener *innermost;

void tmx_warn_begin(struct tmx_warn_listener *d)
{
    d->outer = innermost;
    innermost = d;
}

void tmx_warn_end(struct tmx_warn_listener *d)
{
    tmx_assert(innermost == d);
    innermost = d->outer;
    d->outer = NULL;
}

void tmx_warn(const char *fmt, ...)
{
    char text[MAX_LINE];
    va_list ap;
    if (!innermost) {
        return;
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (const struct tmx_warn_listener *d = innermost; d; d = d->alone ? NULL : d->outer) {
        if (d->line) {
            d->line(d->to, text);
        }
    }
}

static const struct row *find(const char *group, const char *key, const char *unit)
{
    char whole[128];
    const struct row *plain = NULL;
    snprintf(whole, sizeof whole, "%s.%s", group ? group : "", key);
    for (size_t i = 0; i < N_ROW; i++) {
        if (strcmp(rows[i].unit, unit) == 0 && tmx_words_have(rows[i].keys, whole)) {
            return &rows[i];
        }
        if (strcmp(rows[i].unit, unit) == 0 && tmx_words_have(rows[i].keys, key)) {
            plain = &rows[i];
        }
    }
    return plain;
}

static const char *guess(char buf[TMX_GUESS_SIZE], const struct row *r, double v)
{
    buf[0] = '\0';
    for (size_t i = 0; r && i < MAX_OTHER && r->other[i].unit; i++) {
        const double si = r->other[i].factor * v + r->other[i].offset;
        if (si >= r->low && si <= r->high) {
            snprintf(buf, TMX_GUESS_SIZE, "; is it %g %s = %.6g %s?", v, r->other[i].unit, si, r->unit);
            break;
        }
    }
    return buf;
}

const char *tmx_plausible_guess(char buf[TMX_GUESS_SIZE], const char *group, const char *key,
                                const char *unit, double v)
{
    return guess(buf, find(group, key, unit), v);
}

bool tmx_plausible_accepted(void)
{
    const char *text = getenv("THERMIX_ACCEPT");
    return text && strcmp(text, "1") == 0;
}

bool tmx_plausible_warns(const char *group, const char *key, const char *unit, double v)
{
    const struct row *r = find(group, key, unit);
    const bool by_area = r && tmx_words_have(r->keys, "r_convec"); /* its highs: tmx_plausible_film */
    return r && !(v >= r->low && (v <= r->high || by_area));
}

static enum tmx_status judge(const struct row *r, const char *key, const char *unit, double v,
                             const char *file, unsigned line, struct tmx_err *err)
{
    char other[TMX_GUESS_SIZE], text[MAX_LINE];
    struct tmx_err fault = {0};
    if (v >= r->low && v <= r->high) {
        return TMX_OK;
    }
    const bool far = (v < r->hard_low || v > r->hard_high) && !tmx_plausible_accepted();
    const enum tmx_status st =
        tmx_fail_at(far ? err : &fault, TMX_ECONFIG, file, line, "%s = %.6g %s is %soutside %g to %g %s%s%s",
                    key, v, unit, far ? "far " : "", r->low, r->high, unit, guess(other, r, v),
                    far ? " (--accept takes it)" : "");
    if (far) {
        return st;
    }
    tmx_err_format(&fault, text, sizeof text);
    tmx_warn("%s", text);
    return TMX_OK;
}

enum tmx_status tmx_plausible(const char *group, const char *key, const char *unit, double v,
                              const char *file, unsigned line, struct tmx_err *err)
{
    return tmx_plausible_warns(group, key, unit, v)
               ? judge(find(group, key, unit), key, unit, v, file, line, err)
               : TMX_OK;
}

enum tmx_status tmx_plausible_film(const char *key, double k_per_w, double area_m2, const char *file,
                                   unsigned line, struct tmx_err *err)
{
    /* Convection and radiation of a plate in still air: 5 to 12 W/(m2 K); 1.1: no air at all. HotSpot's sink
     * of 60 x 60 mm then has at most 60 and 250 K/W. */
    static const double STILL = 4.6, NONE = 1.1, INSULATED = 1e6;
    struct row r = *find(NULL, key, "K/W");
    r.high = 1 / (STILL * area_m2);
    r.hard_high = 1 / (NONE * area_m2);
    return k_per_w >= INSULATED ? TMX_OK : judge(&r, key, "K/W", k_per_w, file, line, err);
}

void tmx_plausible_result(const char *what, double lowest_k, double highest_k, double ambient_k)
{
    static const double HOTTEST_K = 500 + TMX_ZERO_C, ROUNDING_K = 0.05;
    if (highest_k > HOTTEST_K) {
        tmx_warn("%s reaches %.6g degC, above 500 degC: no chip lives there; are power, thicknesses and "
                 "resistances in W, m and K/W?",
                 what, highest_k - TMX_ZERO_C);
    }
    if (lowest_k < ambient_k - ROUNDING_K) {
        tmx_warn("%s falls to %.6g degC, below its ambient of %.6g degC: no cooling does that", what,
                 lowest_k - TMX_ZERO_C, ambient_k - TMX_ZERO_C);
    }
}
