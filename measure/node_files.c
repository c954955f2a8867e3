/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A calibrated node as files of `thermix run`: a chip of one unit a GPU, its package, the topology.
 *
 * The grid model's layers become the ladder: the interface carries R_j (and R_die), the die's heat capacity
 * C_die = tau_die / R_die, c_convec the sink's. HotSpot counts lumped capacities times 0.333, so they are
 * divided by it here. Metal is made so thin that it adds nothing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"
#include "measure/calibrated.h"

static const double SIDE_M = 0.028, LUMPING = 0.333; /* die's side: any, the lumped die has no inside */
static const double MOST_TIM_W_PER_MK = 600;         /* of real interfaces: core/base/plausible.c */

static enum tmx_status open_file(struct tmx_output *o, const char *dir, const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE + 64];
    const enum tmx_status st = tmx_path_join(path, dir, name, err);
    return st ? st : tmx_output_open(o, path, err);
}

static enum tmx_status close_file(struct tmx_output *o, enum tmx_status st, struct tmx_err *err)
{
    st = st ? st : tmx_output_commit(o, err);
    tmx_output_discard(o);
    return st;
}

static enum tmx_status write_package(const struct tmx_rc *m, size_t g, const char *dir, struct tmx_err *err)
{
    const struct tmx_rc_gpu *gpu = &m->gpu[g];
    struct tmx_output o = {0};
    const enum tmx_status st = open_file(&o, dir, "package.config", err);
    if (st) {
        return st;
    }
    const double area = SIDE_M * SIDE_M, r = gpu->junction_k_per_w + gpu->die_k_per_w, t_chip = 1e-4;
    /* an interface as thin and as good as real ones: what is left out is at most 0.02 K at 1000 W */
    const double t_tim = 1e-4 / (r * area) < MOST_TIM_W_PER_MK ? 1e-4 : 1e-5,
                 k_tim = fmin(t_tim / (r * area), MOST_TIM_W_PER_MK);
    const double c_die = gpu->die_k_per_w > 0 ? m->die_s / gpu->die_k_per_w : 0.1;
    fprintf(
        o.file,
        "# GPU %s, calibrated to a log by thermix calibrate: not a drawing of the package.\n"
        "# interface: R_j%s = %.6g K/W over the die; die: %.4g J/K; sink: %.6g J/K (c_convec x 0.333)\n"
        "\t\t-t_chip\t\t\t%g\n\t\t-k_chip\t\t\t4000\n\t\t-p_chip\t\t\t%.6g\n"
        "\t\t-t_interface\t\t%g\n\t\t-k_interface\t\t%.8g\n\t\t-p_interface\t\t1\n"
        "\t\t-s_spreader\t\t%.6g\n\t\t-t_spreader\t\t1e-4\n\t\t-k_spreader\t\t4000\n\t\t-p_spreader\t\t1e4\n"
        "\t\t-s_sink\t\t\t%.6g\n\t\t-t_sink\t\t\t1e-4\n\t\t-k_sink\t\t\t4000\n\t\t-p_sink\t\t\t1e4\n"
        "\t\t-r_convec\t\t%.8g\n\t\t-c_convec\t\t%.8g\n"
        "\t\t-ambient\t\t298.15\n\t\t-init_temp\t\t298.15\n"
        "\t\t-model_type\t\tgrid\n\t\t-grid_rows\t\t4\n\t\t-grid_cols\t\t4\n",
        gpu->name, gpu->die_k_per_w > 0 ? " + R_die" : "", r, c_die, gpu->sink_j_per_k, t_chip,
        fmax(c_die / (LUMPING * t_chip * area), 1), t_tim, k_tim, SIDE_M * 1.002, SIDE_M * 1.004,
        tmx_rc_sink(m, g, m->rpm_ref), gpu->sink_j_per_k / LUMPING);
    return close_file(&o, TMX_OK, err);
}

static enum tmx_status write_chip(const struct tmx_rc *m, size_t g, double peak_w,
                                  const struct tmx_chip *levels, const char *dir, struct tmx_err *err)
{
    struct tmx_output o = {0};
    enum tmx_status st = open_file(&o, dir, "die.flp", err);
    if (!st) {
        fprintf(o.file,
                "# one unit: a log of one temperature does not show the inside of the "
                "die\nSM0\t%g\t%g\t0\t0\n",
                SIDE_M, SIDE_M);
        st = close_file(&o, TMX_OK, err);
    }
    st = st ? st : open_file(&o, dir, "chip.cfg", err);
    if (st) {
        return st;
    }
    fprintf(
        o.file,
        "name = \"%s\";\n"
        "doc = \"GPU %s as calibrated: one unit\";\n"
        "source = \"thermix calibrate; limits and clock assumed\";\n"
        "floorplan_file = \"die.flp\";\n"
        "package_file = \"package.config\";\n"
        "sm_prefix = \"SM\";\n"
        "sms_per_cluster = 1;\n"
        "sm_power_reference_sms = 1.0;\n"
        "kernel_power_scale = 1.0;\n"
        "kernel_time_scale = 1.0;\n"
        "limits = { threads = 2048; blocks = 32; registers = 65536; shared_bytes = 233472; };  # assumed\n"
        "power = {\n"
        "    baseline_w = 0.0;      # the log's watts are all here: give them to the kernels\n"
        "    leakage_w = 0.0;\n"
        "    leakage_form = \"none\";\n"
        "};\n"
        "# Peak in the log: %.1f W. It has no voltage: %s%s.\n"
        "levels = (",
        m->gpu[g].name, m->gpu[g].name, peak_w,
        levels ? "the levels are those of " : "the one level is assumed", levels ? levels->name : "");
    for (size_t l = 0; levels && l < levels->n_level; l++) {
        fprintf(o.file, "%s\n    { volt_v = %.6g; freq_hz = %.9g; }", l ? "," : "", levels->level[l].volt_v,
                levels->level[l].freq_hz);
    }
    fprintf(o.file, levels ? "\n);\nnominal_hz = %.9g;\n" : " { volt_v = 1.0; freq_hz = %.1e; } );\n",
            levels ? levels->level[levels->nominal].freq_hz : 1e9);
    if (m->leak_per_k > 0) {
        fprintf(
            o.file,
            "# At equal work power rises by %.3g %%/K (fit.csv). With an exponential of 0.0127/K (CACTI) "
            "%.0f %% of it is leakage.\n# To let that part follow the temperature, take it from the kernels "
            "and write it as leakage_w.\n",
            100 * m->leak_per_k, 100 * fmin(m->leak_per_k / 0.0127, 1));
    }
    return close_file(&o, TMX_OK, err);
}

/* Air of a lane such that phi of it, passed on, warms the next by preheat K per W: phi / (rho c V) = preheat.
 */
static double lane_m3_per_s(double preheat_k_per_w)
{
    static const double RHO_C = 1.059 * 1007; /* as core/topology/topology */
    return preheat_k_per_w > 0 ? fmin(1 / (RHO_C * preheat_k_per_w), 9) : 0.05;
}

static double peak_power_w(const struct tmx_measured *log, const char *name)
{
    double w = 0;
    for (size_t i = 0; log && i < log->n_series; i++) {
        for (size_t k = 0; strcmp(log->gpu[log->series[i].gpu], name) == 0 && k < log->series[i].n; k++) {
            w = fmax(w, log->series[i].q[TMX_Q_POWER][k]);
        }
    }
    return w;
}

struct fan_range {
    double low, high;
};

static struct fan_range fan_range(const struct tmx_rc *m, const struct tmx_measured *log)
{
    struct fan_range r = {INFINITY, m->rpm_ref > 0 ? m->rpm_ref : 1000};
    for (size_t i = 0; log && i < log->n_series; i++) {
        const double *rpm = log->series[i].q[TMX_Q_RPM];
        for (size_t k = 0; rpm && k < log->series[i].n; k++) {
            if (rpm[k] > 0) {
                r.low = fmin(r.low, rpm[k]);
                r.high = fmax(r.high, rpm[k]);
            }
        }
    }
    r.low = fmin(r.low, r.high);
    return r;
}

/* Do all GPUs have one sink? Then they stand on one card behind one fan. */
static bool one_card(const struct tmx_rc *m)
{
    bool same = true;
    for (size_t g = 1; g < m->n_gpu; g++) {
        same = same && m->gpu[g].sink_k_per_w == m->gpu[0].sink_k_per_w;
    }
    return same;
}

/* What the fan of this GPU follows in a row: the GPU, or on one card the hottest of the run. */
static double followed_c(const struct tmx_measured *log, const struct tmx_series *s, size_t row, bool shared)
{
    double t = s->q[TMX_Q_TEMP][row];
    for (size_t i = 0; shared && i < log->n_series; i++) {
        const struct tmx_series *u = &log->series[i];
        if (u->run == s->run && row < u->n && u->q[TMX_Q_TEMP]) {
            t = fmax(t, u->q[TMX_Q_TEMP][row]);
        }
    }
    return t;
}

/* A fan that hardly changes its speed in a run is held by hand and follows no curve. */
static bool held(const struct tmx_series *s)
{
    double low = INFINITY, high = 0;
    for (size_t k = 0; k < s->n; k++) {
        if (!isnan(s->q[TMX_Q_RPM][k])) {
            low = fmin(low, s->q[TMX_Q_RPM][k]);
            high = fmax(high, s->q[TMX_Q_RPM][k]);
        }
    }
    return high - low < 0.03 * high;
}

/* The fan's curve from the log: what it turned at, on the mean, when what it follows was this warm. */
static size_t fan_curve(const struct tmx_measured *log, double max_rpm, bool shared, double *temp_c,
                        double *speed)
{
    enum { BINS = 8 };
    double low = INFINITY, high = -INFINITY, sum[BINS] = {0}, n[BINS] = {0};
    size_t count = 0;
    for (int pass = 0; log && pass < 2; pass++) {
        for (size_t i = 0; i < log->n_series; i++) {
            const struct tmx_series *s = &log->series[i];
            for (size_t k = 0; s->q[TMX_Q_RPM] && !held(s) && k < s->n; k++) {
                const double t = followed_c(log, s, k, shared), rpm = s->q[TMX_Q_RPM][k];
                if (isnan(t) || isnan(rpm)) {
                    continue;
                }
                low = pass ? low : fmin(low, t);
                high = pass ? high : fmax(high, t);
                if (pass && high - low >= 4) {
                    const size_t b = (size_t)fmin(BINS - 1, (t - low) / (high - low) * BINS);
                    sum[b] += rpm / max_rpm;
                    n[b] += 1;
                }
            }
        }
    }
    for (size_t b = 0; b < BINS; b++) {
        if (n[b] >= 3) {
            temp_c[count] = low + ((double)b + 0.5) * (high - low) / BINS;
            speed[count] = fmin(1, sum[b] / n[b]);
            speed[count] = count > 0 ? fmax(speed[count], speed[count - 1]) : speed[count];
            count++;
        }
    }
    return count;
}

struct node {
    const struct tmx_rc *m;
    struct fan_range rpm;
    double flow_m3_per_s; /* of one GPU's lane at full speed */
    double temp_c[8], speed[8];
    size_t n_curve;
    bool shared;
};

static void print_cards(const struct node *n, FILE *out)
{
    const struct tmx_rc *m = n->m;
    const bool fan = m->rpm_ref > 0;
    const size_t cards = n->shared ? 1 : m->n_gpu, lanes = n->shared ? m->n_gpu : 1;
    fprintf(out, "cards = (\n");
    for (size_t g = 0; g < cards; g++) {
        const double at_ref = m->gpu[g].sink_k_per_w;
        fprintf(out,
                "    { name = \"card%zu\"; fit_a_k_per_w = %.8g; fit_b_k_per_w = %.8g; fit_exponent = %.6g;\n"
                "      still_k_per_w = %.6g; still_flow_m3_per_s = %.6g; }%s\n",
                g, fan ? m->sink_base_k_per_w : tmx_rc_sink(m, g, 0),
                fan ? at_ref * pow(m->rpm_ref, m->fan_exponent) : 0.0, m->fan_exponent,
                fmin(20 * tmx_rc_sink(m, g, 0), 100), fmax((double)lanes * n->flow_m3_per_s / 100, 1e-6),
                g + 1 < cards ? "," : "");
    }
    fprintf(out, ");\nfans = (\n");
    for (size_t g = 0; g < cards; g++) {
        fprintf(out,
                "    { name = \"fan%zu\"; card = \"card%zu\"; min_rpm = %.6g; max_rpm = %.6g; power_w = 0.0; "
                "flow_m3_per_s = %.6g;\n      noise_dba = 0.0; stand_in = %s; curve = (",
                g, g, n->rpm.low, n->rpm.high, fmin((double)lanes * n->flow_m3_per_s, 10),
                fan ? "false" : "true");
        for (size_t i = 0; i < n->n_curve; i++) {
            fprintf(out, "%s { temp_c = %.6g; speed = %.6g; }", i ? "," : "", n->temp_c[i], n->speed[i]);
        }
        fprintf(out, "%s ); }%s\n", n->n_curve ? "" : " { temp_c = 25.0; speed = 1.0; }",
                g + 1 < cards ? "," : "");
    }
    fprintf(out, ");\n");
}

static void print_gpus(const struct node *n, double preheat, FILE *out)
{
    const struct tmx_rc *m = n->m;
    size_t n_air = 0;
    fprintf(out, "gpus = (\n");
    for (size_t g = 0; g < m->n_gpu; g++) {
        fprintf(out, "    { name = \"gpu%zu\"; chip = \"chips/gpu%zu\"; card = \"card%zu\"; }%s\n", g, g,
                n->shared ? 0 : g, g + 1 < m->n_gpu ? "," : "");
    }
    fprintf(out, ");\n");
    for (size_t g = 0; g < m->n_gpu; g++) {
        if (m->gpu[g].upstream >= 0 && m->gpu[g].preheat_k_per_w > 0) {
            fprintf(out, "%s    { from = \"gpu%d\"; to = \"gpu%zu\"; fraction = %.6g; }",
                    n_air++ ? ",\n" : "air = (\n", m->gpu[g].upstream, g,
                    m->gpu[g].preheat_k_per_w / preheat);
        }
    }
    fprintf(out, "%s", n_air ? "\n);\n" : "");
}

static enum tmx_status write_topology(const struct tmx_rc *m, const struct tmx_measured *log, double inlet_c,
                                      const char *inlet_from, const char *dir, struct tmx_err *err)
{
    struct tmx_output o = {0};
    struct node n = {.m = m, .rpm = fan_range(m, log), .shared = one_card(m)};
    const enum tmx_status st = open_file(&o, dir, "node.cfg", err);
    if (st) {
        return st;
    }
    double preheat = 0;
    n.n_curve = m->rpm_ref > 0 ? fan_curve(log, n.rpm.high, n.shared, n.temp_c, n.speed) : 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        preheat = fmax(preheat, m->gpu[g].preheat_k_per_w);
    }
    n.flow_m3_per_s = lane_m3_per_s(preheat) * (m->rpm_ref > 0 ? n.rpm.high / m->rpm_ref : 1);
    fprintf(
        o.file,
        "# Calibrated by thermix calibrate (how.txt). The log has no power of fans and no noise: both are 0. "
        "The fans' curve\n# is read off the log%s. Not in this file, but in fit.csv: chassis_k = %.3g K, "
        "case_k_per_w = %.3g K/W,\n# air_rise_k = %.3g K, offsets of the sensors, power_lag_s.%s\n"
        "name = \"calibrated\";\ndoc = \"calibrated from a log\";\nsource = \"thermix calibrate\";\n"
        "inlet_c = %.1f;  # %s\n",
        n.n_curve ? "" : ", which has no speeds: the fans turn at full speed", m->chassis_k, m->case_k_per_w,
        m->air_rise_k,
        m->rpm_ref > 0 ? "" : " The log has no\n# fan speeds: the fans are stand-ins of unknown speed.",
        inlet_c, inlet_from);
    print_cards(&n, o.file);
    print_gpus(&n, preheat, o.file);
    return close_file(&o, TMX_OK, err);
}

enum tmx_status tmx_calibrated_node(const struct tmx_rc *m, const struct tmx_measured *log, double inlet_c,
                                    const char *inlet_from, const struct tmx_chip *levels, const char *dir,
                                    struct tmx_err *err)
{
    char chips[TMX_PATH_SIZE], folder[TMX_PATH_SIZE + 32];
    if (strlen(dir) > 200) {
        return tmx_fail_at(err, TMX_EIO, dir, 0, "the name is too long for a chip's folder");
    }
    snprintf(chips, sizeof chips, "%s/chips", dir);
    enum tmx_status st = TMX_OK;
    for (size_t g = 0; !st && g < m->n_gpu; g++) {
        snprintf(folder, sizeof folder, "%s/gpu%zu", chips, g);
        st = tmx_os_mkdirs(folder, err);
        st = st ? st : write_package(m, g, folder, err);
        st = st ? st : write_chip(m, g, peak_power_w(log, m->gpu[g].name), levels, folder, err);
    }
    return st ? st : write_topology(m, log, inlet_c, inlet_from, dir, err);
}
